# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of quantized_decomposed on builtin tensors become StableHLO, computed in floats."""

from torch_mlir import ir

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.tensor_arithmetic import Inexpressible, StablehloArithmetic
from torq_mlir.rewriting.tensor_arithmetic.operations import convert_operations


def run(op: ir.Operation) -> None:
    try:
        convert_operations(op, StablehloArithmetic())
    except Inexpressible as error:
        error.location.emit_error(str(error))
        raise PassFailure from None
