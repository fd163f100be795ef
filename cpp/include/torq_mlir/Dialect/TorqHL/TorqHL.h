// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torq_hl dialect.

#ifndef TORQ_MLIR_DIALECT_TORQHL_TORQHL_H
#define TORQ_MLIR_DIALECT_TORQHL_TORQHL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "torq_mlir/Dialect/TorqOp.h"

#include "torq_mlir/Dialect/TorqHL/TorqHLDialect.h.inc"

#include "torq_mlir/Dialect/TorqHL/TorqHLEnums.h.inc"

#define GET_OP_CLASSES
#include "torq_mlir/Dialect/TorqHL/TorqHLOps.h.inc"

#endif // TORQ_MLIR_DIALECT_TORQHL_TORQHL_H
