# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single operations as compiled functions."""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from torq_mlir.backends import jit
from torq_mlir.errors import CompileError

# Constants of more elements are passed to the compiled function instead of being part of it.
_INLINED = 1024


class CompiledOperations:
    """Compiles operations one by one; those that print the same are compiled once."""

    def __init__(self) -> None:
        self._executables: dict[str, jit.Executable] = {}

    def __len__(self) -> int:
        return len(self._executables)

    def compile(
        self, operation: ir.Operation
    ) -> tuple[Callable[[Sequence[np.ndarray]], list[np.ndarray]], list[ir.Value]]:
        """Compiles one operation.

        Returns:
          The function that computes its results, and the values that it takes.

        Raises:
          CompileError: the operation calls a function, or has no lowering.
        """
        if operation.name == "func.call":
            raise CompileError("calls of functions are not interpreted; inline them before")
        module, captured = outline(operation)
        text = str(module)
        if text not in self._executables:
            self._executables[text] = jit.compile(module)
        return self._executables[text], captured


def outline(operation: ir.Operation) -> tuple[ir.Module, list[ir.Value]]:
    """A module whose function `main` consists of a copy of `operation`.

    Small constants and tensor.empty that the operation uses are copied too, so that the function is compiled as it
    would be where it comes from.

    Returns:
      The module, and the values that correspond to the arguments of `main`.
    """
    used = _used_values(operation)
    copied = [value for value in used if _is_copied(value)]
    captured = [value for value in used if not _is_copied(value)]
    with operation.location:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            signature = [value.type for value in captured], [result.type for result in operation.results]
            function = func.FuncOp("main", signature)
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            replacements = list(zip(captured, block.arguments, strict=True))
            replacements += [(value, value.owner.operation.clone().results[0]) for value in copied]
            copy = operation.clone().operation
            func.ReturnOp(list(copy.results))
    for old, new in replacements:
        _replace_uses(copy, old, new)
    return module, captured


def _used_values(operation: ir.Operation) -> list[ir.Value]:
    """Values from outside that the operation and its regions use, each once."""
    used: dict[ir.Value, None] = {}
    defined: set[ir.Value] = set()

    def visit(nested: ir.Operation) -> ir.WalkResult:
        defined.update(nested.operation.results)
        for region in nested.operation.regions:
            for block in region.blocks:
                defined.update(block.arguments)
        used.update(dict.fromkeys(nested.operation.operands))
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return [value for value in used if value not in defined]


def _is_copied(value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block):
        return False
    owner = value.owner.operation
    if owner.name == "arith.constant":
        type_ = value.type
        return not isinstance(type_, ir.RankedTensorType) or np.prod(type_.shape, dtype=np.int64) <= _INLINED
    return owner.name == "tensor.empty" and not len(owner.operands)


def _replace_uses(operation: ir.Operation, old: ir.Value, new: ir.Value) -> None:
    def visit(nested: ir.Operation) -> ir.WalkResult:
        nested.operation.replace_uses_of_with(old, new)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
