// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operations of both dialects have in common.

#ifndef TORQ_MLIR_DIALECT_TORQOP_H
#define TORQ_MLIR_DIALECT_TORQOP_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace torq_mlir {

/// Prints `"dialect.op"(%operand) {attribute = value} : (type) -> type`, the form without `<{..}>`. Every tool reads
/// it, also one that registers the dialects at run time and thus without properties.
void printWithAttributeDictionary(mlir::Operation *op, mlir::OpAsmPrinter &printer, llvm::StringRef defaultDialect);

namespace OpTrait {
namespace impl {
llvm::LogicalResult verifyKnownAttributes(mlir::Operation *op);
} // namespace impl

/// An attribute is declared, or has the prefix of a dialect, or is `torq-executor`.
template <typename ConcreteType>
class KnownAttributes : public mlir::OpTrait::TraitBase<ConcreteType, KnownAttributes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return impl::verifyKnownAttributes(op); }
};
} // namespace OpTrait

} // namespace torq_mlir

#endif // TORQ_MLIR_DIALECT_TORQOP_H
