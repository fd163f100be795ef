# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a module on tensors to machine code."""

import contextlib
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from torq_mlir.errors import CompileError
from torq_mlir.passes import PassFailure, convert_quantized_decomposed_to_linalg, convert_torq_hl_to_linalg

from . import kernels, loop_order, signature
from .executable import Executable

# The entry function must exist before: everything else is inlined into it.
_INLINE = "builtin.module(inline,symbol-dce,canonicalize,cse)"

_GENERALIZE = (
    "builtin.module(convert-tensor-to-linalg,"
    "func.func(convert-elementwise-to-linalg,linalg-generalize-named-ops,canonicalize,cse))"
)

_BUFFERIZE = (
    "builtin.module("
    "func.func(canonicalize,cse),"
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map},"
    "canonicalize,cse,"
    "func.func(ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification,"
    "bufferization-lower-deallocations,canonicalize,optimize-allocation-liveness))"
)

# bfloat16 has no arithmetic on most processors, and its conversions would call into a compiler runtime that may not be
# there: arithmetic is in f32, conversions are integer operations.
_LOWER = (
    "builtin.module("
    "duplicate-function-elimination,"
    "func.func("
    "convert-linalg-to-loops,"
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},"
    "math-extend-to-supported-types{target-type=f32},"
    "math-expand-ops{ops=ceilf,floorf,fpowi,round},"
    "arith-expand{include-bf16=true},"
    "convert-scf-to-cf,memref-expand,expand-strided-metadata,lower-affine,canonicalize,cse,convert-math-to-llvm),"
    "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)


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
        lowered = _clone(module)
        entry = signature.entry_function(lowered)
        signature.keep_only_public(lowered, entry)
        with _diagnostics_as_error(module.context):
            convert_torq_hl_to_linalg.run(lowered.operation)
            convert_quantized_decomposed_to_linalg.run(lowered.operation)
        _run(lowered, _INLINE)
        _run(lowered, _GENERALIZE)
        loop_order.move_parallel_loops_inside(lowered)
        interface = signature.lower(entry)
        _run(lowered, _BUFFERIZE)
        kernels.outline(lowered, entry)
        _run(lowered, _LOWER)
        engine = _engine(lowered, opt_level)
    return Executable(engine, interface)


@contextlib.contextmanager
def _diagnostics_as_error(context: ir.Context) -> Iterator[None]:
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


def _engine(module: ir.Module, opt_level: int) -> ExecutionEngine:
    try:
        return ExecutionEngine(module, opt_level=opt_level)
    except RuntimeError as error:
        raise CompileError(str(error)) from error


def _clone(module: ir.Module) -> ir.Module:
    clone = ir.Module.create(loc=module.operation.location)
    with ir.InsertionPoint(clone.body):
        for operation in module.body.operations:
            operation.operation.clone()
    return clone


def _run(module: ir.Module, pipeline: str) -> None:
    try:
        PassManager.parse(pipeline).run(module.operation)
    except ir.MLIRError as error:
        raise CompileError(str(error)) from error
