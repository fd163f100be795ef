// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torq-lsp-server: MLIR's language server with the dialects of torq-mlir.

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.h"
#include "torq_mlir/Dialect/TorqHL/TorqHL.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<torq_mlir::quantized_decomposed::QuantizedDecomposedDialect, torq_mlir::torq_hl::TorqHLDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
