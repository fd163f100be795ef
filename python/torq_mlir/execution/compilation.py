# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From linalg on tensors to machine code."""

from torch_mlir import ir
from torch_mlir.dialects import tensor
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from torq_mlir.errors import CompileError

from . import float_functions, kernels, loop_order, signature
from .executable import Executable

# The entry function must exist before: everything else is inlined into it.
_INLINE = "builtin.module(inline,symbol-dce,canonicalize,cse)"

# Operations on tensors become operations on their elements.
_ELEMENTWISE = "builtin.module(func.func(convert-elementwise-to-linalg))"

_GENERALIZE = "builtin.module(convert-tensor-to-linalg,func.func(linalg-generalize-named-ops,canonicalize,cse))"

# Scans, sorts and scatters of torch-mlir, which one-shot-bufferize does not know.
_BUFFERIZE_SCANS = "builtin.module(func.func(tm-tensor-bufferize))"

_BUFFERIZE = (
    "builtin.module("
    "func.func(canonicalize,cse),"
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map},"
    "canonicalize,cse,"
    "func.func(ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification,"
    "bufferization-lower-deallocations,canonicalize,optimize-allocation-liveness,tm-tensor-to-loops))"
)

# bfloat16 has no arithmetic on most processors, and its conversions would call into a compiler runtime that may not be
# there: arithmetic is in f32, conversions are integer operations.
_EMULATE = (
    "builtin.module("
    "duplicate-function-elimination,"
    "func.func("
    "convert-linalg-to-loops,"
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},"
    "math-extend-to-supported-types{target-type=f32}))"
)

_LOWER = (
    "builtin.module("
    "func.func("
    "math-expand-ops{ops=ceilf,floorf,fpowi},"
    "arith-expand{include-bf16=true},"
    "convert-scf-to-cf,memref-expand,expand-strided-metadata,lower-affine,canonicalize,cse,convert-math-to-llvm),"
    "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)


def compile_linalg(module: ir.Module, *, opt_level: int = 2) -> Executable:
    """Compiles the function `main` of `module`, or its only public function, for this machine.

    Args:
      module: linalg, tensor, tm_tensor, arith, math and scf on builtin tensors. It is lowered in place.
      opt_level: of LLVM, 0 to 3.

    Returns:
      A callable on numpy arrays. It keeps what it needs of the module's context alive.

    Raises:
      CompileError: there is no such function, its signature has other types than ranked tensors, or an operation has
        no lowering; the message has MLIR's diagnostics.
    """
    interface = lower_linalg(module)
    with module.context:
        engine = _engine(module, opt_level)
    return Executable(engine, interface)


def lower_linalg(module: ir.Module) -> signature.Signature:
    """Lowers a module to the LLVM dialect in place, as `compile_linalg` does before it makes machine code.

    Returns:
      What the function `main` takes: pointers or descriptors of inputs, constants and results.

    Raises:
      CompileError: as `compile_linalg`.
    """
    with module.context, ir.Location.unknown():
        entry = signature.entry_function(module)
        signature.keep_only_public(module, entry)
        _drop_empty(module)
        _run(module, _ELEMENTWISE)
        float_functions.expand(module)
        _run(module, _INLINE)
        _run(module, _GENERALIZE)
        loop_order.move_parallel_loops_inside(module)
        interface = signature.lower(entry)
        _bufferize_scans(module)
        _run(module, _BUFFERIZE)
        kernels.outline(module, entry)
        _run(module, _EMULATE)
        _keep_roundings(module)
        _run(module, _LOWER)
    return interface


def _drop_empty(module: ir.Module) -> None:
    """Tensors without elements are not computed: slices of them would begin where they end, which memref refuses."""

    def drop(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith(("linalg.", "tensor.")) and operation.name != "tensor.empty":
            for result in operation.results:
                type_ = result.type
                if isinstance(type_, ir.RankedTensorType) and type_.has_static_shape and 0 in type_.shape:
                    with ir.InsertionPoint(operation), operation.location:
                        empty = tensor.empty(type_.shape, type_.element_type)
                    result.replace_all_uses_with(empty)
        return ir.WalkResult.ADVANCE

    module.operation.walk(drop)


def _keep_roundings(module: ir.Module) -> None:
    """Each operation in bfloat16 is rounded: emulation allows that a conversion and the next one back are left out."""

    def keep(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in ("arith.extf", "arith.truncf") and "fastmath" in operation.attributes:
            del operation.attributes["fastmath"]
        return ir.WalkResult.ADVANCE

    module.operation.walk(keep)


def _bufferize_scans(module: ir.Module) -> None:
    """Gives the operations of tm_tensor buffers of their own, which nothing else reads or writes."""
    _run(module, _BUFFERIZE_SCANS)

    def restrict(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "bufferization.to_tensor" and _is_allocated(operation.operands[0]):
            operation.attributes["restrict"] = ir.UnitAttr.get()
        return ir.WalkResult.ADVANCE

    module.operation.walk(restrict)


def _is_allocated(buffer: ir.Value) -> bool:
    return not isinstance(buffer.owner, ir.Block) and buffer.owner.operation.name == "memref.alloc"


def _engine(module: ir.Module, opt_level: int) -> ExecutionEngine:
    try:
        return ExecutionEngine(module, opt_level=opt_level)
    except RuntimeError as error:
        raise CompileError(str(error)) from error


def _run(module: ir.Module, pipeline: str) -> None:
    try:
        PassManager.parse(pipeline).run(module.operation)
    except ir.MLIRError as error:
        raise CompileError(str(error)) from error
