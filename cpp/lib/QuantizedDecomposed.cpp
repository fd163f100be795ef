// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.h"
#include "TensorInfo.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace torq_mlir::quantized_decomposed;

#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposedDialect.cpp.inc"

void QuantizedDecomposedDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposedOps.cpp.inc"
      >();
}

bool torq_mlir::quantized_decomposed::isTorchType(Type type, StringRef mnemonic) {
  return torchTypeBody(type, mnemonic).has_value();
}

bool torq_mlir::quantized_decomposed::isStorageType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSignless())
    return false;
  unsigned width = integer.getWidth();
  return width == 4 || width == 8 || width == 16 || (width == 32 && integer.isSigned());
}

bool torq_mlir::quantized_decomposed::isElementType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  unsigned width = integer.getWidth();
  if (integer.isSignless())
    return width == 1;
  return width == 8 || width == 16 || (integer.isSigned() && (width == 32 || width == 64));
}

#define GET_OP_CLASSES
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposedOps.cpp.inc"
