// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The quantized_decomposed dialect.

#ifndef TORQ_MLIR_DIALECT_QUANTIZEDDECOMPOSED_QUANTIZEDDECOMPOSED_H
#define TORQ_MLIR_DIALECT_QUANTIZEDDECOMPOSED_QUANTIZEDDECOMPOSED_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "torq_mlir/Dialect/TorqOp.h"

namespace torq_mlir::quantized_decomposed {

/// Whether a type is `!torch.<mnemonic>`, with or without parameters. The torch dialect need not be linked: its types
/// may be those of an unregistered dialect.
bool isTorchType(mlir::Type type, llvm::StringRef mnemonic);

/// Whether a type states how quantized values are stored: a signed or unsigned integer of 4, 8, 16 or 32 bits.
bool isStorageType(mlir::Type type);

/// Whether numbers in a torch tensor can have a type: f16, bf16, f32, f64, i1, si8 to si64, ui8 or ui16.
bool isElementType(mlir::Type type);

} // namespace torq_mlir::quantized_decomposed

#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposedDialect.h.inc"

#define GET_OP_CLASSES
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposedOps.h.inc"

#endif // TORQ_MLIR_DIALECT_QUANTIZEDDECOMPOSED_QUANTIZEDDECOMPOSED_H
