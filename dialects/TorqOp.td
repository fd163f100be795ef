//===- TorqOp.td - base class of operations -------------------------------===//
//
// Part of the torq-mlir project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TORQ_OP_TD
#define TORQ_OP_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An attribute is declared, or has the prefix of a dialect, or is
// "torq-executor".
def Torq_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::torq_mlir::OpTrait";
}

class Torq_Op<Dialect dialect, string mnemonic, list<Trait> traits = []>
    : Op<dialect, mnemonic, !listconcat([Pure, Torq_KnownAttributes], traits)> {
  let hasVerifier = 1;
  // Found before the one of mlir::Op, which prints properties as <{..}>: that
  // is not read where the dialects are registered at run time.
  let extraClassDeclaration = [{
    static constexpr auto getPrintAssemblyFn() {
      return &::torq_mlir::printWithAttributeDictionary;
    }
  }];
}

#endif // TORQ_OP_TD
