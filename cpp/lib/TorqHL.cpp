// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "torq_mlir/Dialect/TorqHL/TorqHL.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace torq_mlir::torq_hl;

#include "torq_mlir/Dialect/TorqHL/TorqHLDialect.cpp.inc"

#include "torq_mlir/Dialect/TorqHL/TorqHLEnums.cpp.inc"

void TorqHLDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "torq_mlir/Dialect/TorqHL/TorqHLOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "torq_mlir/Dialect/TorqHL/TorqHLOps.cpp.inc"
