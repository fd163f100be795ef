// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "torq_mlir/Dialect/TorqOp.h"

using namespace mlir;

void torq_mlir::printWithAttributeDictionary(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) {
  printer << '"' << op->getName().getStringRef() << "\"(";
  printer.printOperands(op->getOperands());
  printer << ')';
  printer.printOptionalAttrDict(op->getAttrDictionary().getValue());
  printer << " : ";
  printer.printFunctionalType(op);
}

LogicalResult torq_mlir::OpTrait::impl::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name != "torq-executor" && !name.contains('.'))
      return op->emitOpError() << "has no attribute '" << name
                               << "'; a discardable attribute has the prefix of a dialect";
  }
  return success();
}
