# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a module to what IREE's compiler reads."""

import json
import warnings
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.passmanager import PassManager

from torq_mlir.backends.jit.compilation import lower_to_linalg
from torq_mlir.dialects import locations
from torq_mlir.dialects.modules import copy_module
from torq_mlir.errors import CompileError
from torq_mlir.execution import signature
from torq_mlir.passes import (
    torq_cancel_transposes,
    torq_convolutions_to_matmuls,
    torq_keep_float_bits,
    torq_outline_executor_regions,
)
from torq_mlir.rewriting.assignment import EXECUTOR_ATTRIBUTE, EXECUTORS, assigned_executor

_HOST = EXECUTORS[-1]
# Executors whose regions are functions for a plugin.
OUTLINED = tuple(each for each in EXECUTORS if each != _HOST)

_DESCRIPTION = "torq_hl."
# Of a function, in the runtime's `reflection`, as JSON.
_REFLECTED = {"torq_hl.inputs": "arg", "torq_hl.outputs": "res"}
# Of the dialects that IREE has under the names that the wheel knows them by.
_KNOWN_DIALECTS = frozenset(("affine", "arith", "builtin", "cf", "complex", "func", "linalg", "math", "scf", "tensor"))
# IREE has approximations of its own for these; the last bits of a float differ.
_APPROXIMATED = frozenset(
    f"math.{name}"
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "exp", "exp2"),
        *("expm1", "log", "log10", "log1p", "log2", "powf", "sin", "sinh", "tan", "tanh"),
    )
)


class InexactWarning(UserWarning):
    """The last bits of a float can differ from those of the other backends."""


def iree_input(module: ir.Module, *, outline: Sequence[str] = ()) -> ir.Module:
    """A copy of a module as IREE reads it: linalg, with the same results.

    Convolutions are in the form that it compiles best, unless a part of them is for a plugin.

    Args:
      module: torq_hl, quantized_decomposed, linalg, tensor, arith, math and scf on builtin tensors.
      outline: executors whose regions are functions of their own, for a plugin to take over. The attribute
        `torq-executor` is then on these functions, on the calls of them, and on each operation that computes
        something.

    Raises:
      CompileError: an operation has no lowering, or IREE does not know it.
    """
    with module.context, ir.Location.unknown():
        lowered = copy_module(module.operation)
        entry = signature.entry_function(lowered)
        signature.keep_only_public(lowered, entry)
        signature.scalars_to_tensors(entry)
        if _has_named_float_operation(lowered.operation):
            _run(lowered, "builtin.module(func.func(linalg-generalize-named-ops))")
        if outline:  # convolutions as they are, for those who have something for them
            torq_outline_executor_regions.run(lowered.operation, outline)
        else:
            torq_convolutions_to_matmuls.run(lowered.operation)
            torq_cancel_transposes.run(lowered.operation)
    lower_to_linalg(lowered)
    with module.context, ir.Location.unknown():
        torq_keep_float_bits.run(lowered.operation)
        _run(lowered, "builtin.module(canonicalize,cse)")
        _move_descriptions(lowered)
        if outline:
            _mark(lowered)
        _check(lowered.operation)
    return lowered


def _run(module: ir.Module, pipeline: str) -> None:
    try:
        PassManager.parse(pipeline).run(module.operation)
    except ir.MLIRError as error:
        raise CompileError(str(error)) from error


def _has_named_float_operation(operation: ir.Operation) -> bool:
    """Whether there is a product of floats that only the name of an operation says."""
    found = False

    def visit(nested: ir.Operation) -> ir.WalkResult:
        nonlocal found
        name = nested.operation.parent.name if nested.operation.parent is not None else ""
        found = nested.name == "arith.mulf" and name.startswith("linalg.") and name != "linalg.generic"
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    operation.walk(visit)
    return found


def _move_descriptions(module: ir.Module) -> None:
    """What attributes of torq_hl say of inputs and outputs, to where IREE's runtime can read it; no others are left."""
    for function in module.body.operations:
        described = {key: _described(function, f"{side}_attrs") for key, side in _REFLECTED.items()}
        reflection = {key: ir.StringAttr.get(json.dumps(value)) for key, value in described.items() if any(value)}
        if reflection:
            function.attributes["iree.reflection"] = ir.DictAttr.get(reflection)
        for name in ("arg_attrs", "res_attrs"):
            if name in function.attributes:
                del function.attributes[name]

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for name in [each for each in nested.attributes if each.startswith(("torq_hl.", "torq-report"))]:
            del nested.attributes[name]
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def _described(function: func.FuncOp, side: str) -> list[dict[str, object]]:
    """Name, dtype, scale and zero point of each argument or result, as far as they are known."""
    if side not in function.attributes:
        return []
    return [
        {
            each.name.removeprefix(_DESCRIPTION): each.attr.value
            for each in ir.DictAttr(attributes)
            if each.name.startswith(_DESCRIPTION)
            and isinstance(each.attr, ir.StringAttr | ir.FloatAttr | ir.IntegerAttr)
        }
        for attributes in ir.ArrayAttr(function.attributes[side])
    ]


def _mark(module: ir.Module) -> None:
    """The executor of a function, or else the host, on each operation that computes something."""
    for function in module.body.operations:
        executor = assigned_executor(function.operation) or _HOST
        for block in function.regions[0].blocks:
            for operation in (each.operation for each in block.operations):
                if operation.results and operation.name not in ("arith.constant", "tensor.empty"):
                    own = assigned_executor(operation) or executor
                    operation.attributes[EXECUTOR_ATTRIBUTE] = ir.StringAttr.get(own)


def _check(operation: ir.Operation) -> None:
    """Refuses what IREE does not know; warns of what it computes otherwise."""
    unknown: list[ir.Operation] = []
    approximated: set[str] = set()

    def visit(nested: ir.Operation) -> ir.WalkResult:
        if nested.name.split(".")[0] not in _KNOWN_DIALECTS:
            unknown.append(nested.operation)
        if nested.name in _APPROXIMATED:
            approximated.add(nested.name)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    if unknown:
        where = ", ".join(locations.source_names(unknown[0].location)) or str(unknown[0].location)
        raise CompileError(f"{where}: IREE does not know '{unknown[0].name}'")
    if approximated:
        names = ", ".join(sorted(approximated))
        message = f"IREE computes {names} in its own way: the last bits can differ from those of other backends"
        warnings.warn(message, InexactWarning, stacklevel=4)
