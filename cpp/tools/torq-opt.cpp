// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torq-opt: mlir-opt with the dialects of torq-mlir. The passes of torq-mlir are Python and not in it.

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.h"
#include "torq_mlir/Dialect/TorqHL/TorqHL.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<torq_mlir::quantized_decomposed::QuantizedDecomposedDialect, torq_mlir::torq_hl::TorqHLDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "torq-mlir optimizer driver\n", registry));
}
