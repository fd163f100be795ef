# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers that follow from constants: corrections of weights that have become constant after they were made."""

import math

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, func

from torq_mlir.dialects import elements
from torq_mlir.execution import compile_linalg
from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.structured import element_type

from .requantize import constant

# What a correction has at most: a pair for each channel. Weights themselves are folded by what takes them in.
_MOST_ELEMENTS = 1 << 16


def fold_constant_integers(operation: ir.Operation, rewriter) -> object:
    """A computation of a few integers from constants, computed at compile time by that very operation."""
    if len(operation.results) != 1 or not _is_small_integers(operation.results[0]):
        return NOT_MINE
    *inputs, init = operation.operands
    if not inputs or not _starts_from_constant(init) or _captures(operation):
        return NOT_MINE
    if any(elements.constant_value(value) is None or not _is_integer(value) for value in inputs):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [constant(_evaluate(operation))])
    return None


def fold_constant_gather(generic: ir.Operation, rewriter) -> object:
    """Constant integers at other places, such as the flipped weights of a transposed convolution; they get no more."""
    if len(generic.operands) != 1 or len(generic.results) != 1 or not _is_static_integers(generic.results[0]):
        return NOT_MINE
    if element_type(generic.results[0]).width % 8:  # narrower ones stay as they are stored
        return NOT_MINE
    inner = [each.operation for each in generic.regions[0].blocks[0].operations]
    sources = [elements.constant_value(each.operands[0]) for each in inner if each.name == "tensor.extract"]
    if not sources or any(source is None for source in sources):
        return NOT_MINE
    if not _starts_from_constant(generic.operands[0]) or _captures(generic):
        return NOT_MINE
    count = math.prod(ir.RankedTensorType(generic.results[0].type).shape)
    if not 0 < count <= max(source.size for source in sources):
        return NOT_MINE
    with ir.InsertionPoint(generic), generic.location:
        rewriter.replace_op(generic, [constant(_evaluate(generic))])
    return None


def fold_constant_concat(operation: ir.Operation, rewriter) -> object:
    """A concatenation of a few constant integers."""
    values = [elements.constant_value(value) for value in operation.operands]
    if not _is_small_integers(operation.results[0]) or any(value is None for value in values):
        return NOT_MINE
    axis = ir.IntegerAttr(operation.attributes["dim"]).value
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [constant(np.concatenate(values, axis))])
    return None


def fold_constant_number(conversion: ir.Operation, rewriter) -> object:
    """An integer from a constant by way of a tensor of rank 0: what torch-mlir's own fusion pads with."""
    extract = _owner(conversion.operands[0], "tensor.extract")
    generic = None if extract is None else _owner(extract.operands[0], "linalg.generic")
    if generic is None or len(extract.operands) != 1 or len(generic.results) != 1 or _captures(generic):
        return NOT_MINE
    *inputs, init = generic.operands
    if not inputs or not _starts_from_constant(init) or any(elements.constant_value(x) is None for x in inputs):
        return NOT_MINE
    with ir.InsertionPoint(conversion), conversion.location:
        integer = arith.constant(conversion.results[0].type, int(_evaluate(generic)))
        rewriter.replace_op(conversion, [integer])
    return None


def _owner(value: ir.Value, name: str) -> ir.Operation | None:
    """The operation of that name that defines `value`."""
    operation = None if isinstance(value.owner, ir.Block) else value.owner.operation
    return operation if operation is not None and operation.name == name else None


def _starts_from_constant(init: ir.Value) -> bool:
    """Whether an initial value is filled with a number, or not read."""
    owner = None if isinstance(init.owner, ir.Block) else init.owner.operation
    if owner is None or owner.name == "tensor.empty":
        return owner is not None
    return owner.name == "linalg.fill" and elements.constant_value(owner.operands[0]) is not None


def _captures(generic: ir.Operation) -> bool:
    """Whether the body uses a value from outside that is not constant, or may, in a region of its own."""
    block = generic.regions[0].blocks[0]
    if any(len(inner.operation.regions) for inner in block.operations):
        return True
    used = [operand for inner in block.operations for operand in inner.operation.operands]
    outside = [v for v in used if (v.owner if isinstance(v.owner, ir.Block) else v.owner.operation.block) != block]
    return any(elements.constant_value(value) is None for value in outside)


def _is_integer(value: ir.Value) -> bool:
    element = value.type.element_type if isinstance(value.type, ir.RankedTensorType) else value.type
    return isinstance(element, ir.IntegerType)


def _is_static_integers(value: ir.Value) -> bool:
    return ir.RankedTensorType(value.type).has_static_shape and _is_integer(value)


def _is_small_integers(value: ir.Value) -> bool:
    return _is_static_integers(value) and math.prod(ir.RankedTensorType(value.type).shape) <= _MOST_ELEMENTS


def _evaluate(operation: ir.Operation) -> np.ndarray:
    """The value of an operation whose operands are constant."""
    with ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):

            @func.FuncOp.from_py_func(name="main")
            def main():
                return _clone(operation, {}).results[0]

        (values,) = compile_linalg(module)([])
    return values


def _clone(operation: ir.Operation, clones: dict[ir.Operation, ir.Operation]) -> ir.Operation:
    """A copy at the current insertion point, of what it is computed from too."""
    if operation in clones:
        return clones[operation]
    values = []
    for operand in operation.operands:
        source = _clone(operand.owner.operation, clones)
        values.append(source.results[ir.OpResult(operand).result_number])
    clones[operation] = clone = operation.clone().operation
    for index, value in enumerate(values):
        clone.operands[index] = value
    for region in clone.regions:
        _replace_captured(region.blocks[0], clones)
    return clone


def _replace_captured(block: ir.Block, clones: dict[ir.Operation, ir.Operation]) -> None:
    """Constants from outside of a body become copies ahead of it."""
    for inner in block.operations:
        for index, operand in enumerate(inner.operation.operands):
            if not isinstance(operand.owner, ir.Block) and operand.owner.operation.block != block:
                with ir.InsertionPoint(block.owner):
                    copy = _clone(operand.owner.operation, clones)
                inner.operation.operands[index] = copy.results[0]
