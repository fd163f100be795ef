# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module with torq_hl and quantized_decomposed, lowered to linalg and compiled."""

import contextlib
from collections.abc import Iterator

from torch_mlir import ir

from torq_mlir.dialects.modules import copy_module
from torq_mlir.errors import CompileError
from torq_mlir.execution import Executable, compile_linalg
from torq_mlir.passes import PassFailure, convert_quantized_decomposed_to_linalg, convert_torq_hl_to_linalg


def compile(module: ir.Module, *, opt_level: int = 2) -> Executable:
    """Compiles the function `main` of `module`, or its only public function, for this machine.

    Args:
      module: torq_hl, quantized_decomposed, linalg, tensor, arith, math and scf on builtin tensors. It is not modified.
      opt_level: of LLVM, 0 to 3.

    Returns:
      A callable on numpy arrays. It keeps what it needs of the module's context alive.

    Raises:
      CompileError: there is no such function, its signature has other types than ranked tensors, or an operation has
        no lowering; the message has MLIR's diagnostics.
    """
    with module.context, ir.Location.unknown():
        lowered = copy_module(module.operation)
    lower_to_linalg(lowered)
    return compile_linalg(lowered, opt_level=opt_level)


def lower_to_linalg(module: ir.Module) -> None:
    """Replaces torq_hl and quantized_decomposed, in place.

    Raises:
      CompileError: an operation has no lowering; the message has MLIR's diagnostics.
    """
    with module.context, ir.Location.unknown(), diagnostics_as_error(module.context):
        convert_torq_hl_to_linalg.run(module.operation)
        convert_quantized_decomposed_to_linalg.run(module.operation)


@contextlib.contextmanager
def diagnostics_as_error(context: ir.Context) -> Iterator[None]:
    """What a pass reports before it fails becomes the message of a CompileError."""
    messages = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{diagnostic.location}: {diagnostic.message}")
        return True

    handler = context.attach_diagnostic_handler(collect)
    try:
        yield
    except PassFailure as failure:
        raise CompileError("\n".join(messages)) from failure
    finally:
        handler.detach()
