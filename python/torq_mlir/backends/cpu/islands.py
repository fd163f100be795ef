# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations without a kernel, as functions that are compiled as the rest of linalg is."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from torq_mlir.backends.jit.compilation import lower_to_linalg
from torq_mlir.execution.compilation import lower_linalg

_COPIED = frozenset({"arith.constant", "tensor.empty"})


@dataclasses.dataclass
class Island:
    """Attributes:
    name: of its function, which takes pointers to the inputs, the constants and the results.
    inputs, results: values of the original function.
    constants: arrays, as they are stored.
    module: the function and what it calls, in the LLVM dialect.
    """

    name: str
    inputs: list[ir.Value]
    results: list[ir.Value]
    constants: list[np.ndarray]
    module: ir.Module

    @classmethod
    def of(cls, operations: Sequence[ir.Operation], name: str) -> "Island":
        """Compiles operations of one block, in order.

        Raises:
          CompileError: an operation has no lowering.
        """
        inputs, copied = _captured(operations)
        inside = set(operations)
        results = [
            result
            for operation in operations
            for result in operation.results
            if any(_within_block(use.owner.operation, operation) not in inside for use in result.uses)
        ]
        module = ir.Module.create(operations[0].location)
        with ir.InsertionPoint(module.body), operations[0].location:
            types = [[value.type for value in values] for values in (inputs, results)]
            function = func.FuncOp("main", tuple(types))
            block = function.add_entry_block()
        mapping = dict(zip(inputs, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for operation in (*copied, *operations):
                _clone(operation, mapping)
            with operations[-1].location:
                func.ReturnOp([mapping[value] for value in results])
        lower_to_linalg(module)
        signature = lower_linalg(module)
        _rename(module, name)
        return cls(name, inputs, results, [array for array, _ in signature.constants], module)


def _captured(operations: Sequence[ir.Operation]) -> tuple[list[ir.Value], list[ir.Operation]]:
    """Values from outside, and operations outside that are copied rather than captured."""
    inside = {result for operation in operations for result in operation.results}
    inputs: dict[ir.Value, None] = {}
    copied: dict[ir.Operation, None] = {}

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for value in nested.operands:
            if value in inside or _is_nested(value, operations):
                continue
            owner = value.owner
            if not isinstance(owner, ir.Block) and owner.operation.name in _COPIED:
                copied[owner.operation] = None
            else:
                inputs[value] = None
        return ir.WalkResult.ADVANCE

    for operation in operations:
        operation.walk(visit)
    return list(inputs), list(copied)


def _is_nested(value: ir.Value, operations: Sequence[ir.Operation]) -> bool:
    """Whether a value is defined inside of a region of one of the operations."""
    owner = value.owner
    parent = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation.parent.operation
    while parent is not None and parent.name != "func.func":
        if parent in operations:
            return True
        parent = parent.parent.operation if parent.parent is not None else None
    return False


def _within_block(operation: ir.Operation, like: ir.Operation) -> ir.Operation:
    """The operation, or the one around it, that is in the block of another."""
    while operation.parent is not None and operation.parent.operation != like.parent.operation:
        operation = operation.parent.operation
    return operation


def _clone(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    clone = operation.clone().operation

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for position, value in enumerate(nested.operands):
            if value in mapping:
                nested.operands[position] = mapping[value]
        return ir.WalkResult.ADVANCE

    clone.walk(visit)
    mapping.update(zip(operation.results, clone.results, strict=True))


def _rename(module: ir.Module, name: str) -> None:
    """The entry function gets that name, and other definitions names that start with it."""
    names = {}
    for operation in module.body.operations:
        symbol = operation.attributes["sym_name"].value if "sym_name" in operation.attributes else None
        defined = operation.operation.name != "llvm.func" or len(operation.regions[0].blocks)
        if symbol is not None and defined:
            names[symbol] = name if symbol == "main" else f"{name}_{symbol}"
            operation.attributes["sym_name"] = ir.StringAttr.get(names[symbol], module.context)

    def visit(operation: ir.Operation) -> ir.WalkResult:
        for attribute in ("callee", "global_name"):
            if attribute in operation.attributes:
                symbol = ir.FlatSymbolRefAttr(operation.attributes[attribute]).value
                if symbol in names:
                    operation.attributes[attribute] = ir.FlatSymbolRefAttr.get(names[symbol], module.context)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
