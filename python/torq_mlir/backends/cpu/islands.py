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
from torq_mlir.dialects import elements
from torq_mlir.execution.compilation import lower_linalg

_COPIED = frozenset({"arith.constant", "tensor.empty"})


def fill_value(operation: ir.Operation) -> np.ndarray | None:
    """The constant that a linalg.fill of an empty tensor repeats, of rank 0; None for others."""
    if operation.name != "linalg.fill" or any(isinstance(each.owner, ir.Block) for each in operation.operands):
        return None
    constant, target = (each.owner.operation for each in operation.operands)
    if constant.name != "arith.constant" or target.name != "tensor.empty" or len(target.operands):
        return None
    attribute, element = constant.attributes["value"], operation.operands[0].type
    value = attribute.value if isinstance(attribute, ir.FloatAttr) else ir.IntegerAttr(attribute).value
    return np.array(value, elements.numpy_dtype(element))


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
        inputs, copied = captured(operations)
        inside = set(operations)
        results = [
            result
            for operation in operations
            for result in operation.results
            if any(_within_block(use.owner.operation, operation) not in inside for use in result.uses)
        ]
        module = ir.Module.create(operations[0].location)
        with ir.InsertionPoint(module.body):
            function_of("main", inputs, [*copied, *operations], results)
        lower_to_linalg(module)
        signature = lower_linalg(module)
        _rename(module, name)
        return cls(name, inputs, results, [array for array, _ in signature.constants], module)


def function_of(
    name: str, inputs: Sequence[ir.Value], operations: Sequence[ir.Operation], results: Sequence[ir.Value]
) -> func.FuncOp:
    """A function of copies of operations, at the current insertion point."""
    with operations[0].location:
        types = [[value.type for value in values] for values in (inputs, results)]
        function = func.FuncOp(name, tuple(types))
        block = function.add_entry_block()
    mapping = dict(zip(inputs, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for operation in operations:
            clone(operation, mapping)
        with operations[-1].location:
            func.ReturnOp([mapping[value] for value in results])
    return function


def captured(operations: Sequence[ir.Operation]) -> tuple[list[ir.Value], list[ir.Operation]]:
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
            elif not isinstance(owner, ir.Block) and fill_value(owner.operation) is not None:
                copied.update((operand.owner.operation, None) for operand in owner.operation.operands)
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


def clone(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    """Copies an operation and adds its results to the mapping of values, which is applied inside too."""
    copy = operation.clone().operation
    replace_operands(copy, mapping)
    mapping.update(zip(operation.results, copy.results, strict=True))


def replace_operands(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    """Of an operation and of those inside of it."""

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for position, value in enumerate(nested.operands):
            if value in mapping:
                nested.operands[position] = mapping[value]
        return ir.WalkResult.ADVANCE

    operation.walk(visit)


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
