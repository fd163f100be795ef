# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of integers of 8 bits, less zero points, that were extended to 32 bits before.

That is how torch-mlir lowers MatMulInteger and ConvInteger: i32 operands, i64 sums, of which the lower 32 bits are the
result. The sums of 32 bits are those, with wrap-around too; the operands are extended in the body.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import elements
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.contraction import Contraction, match_contraction
from torq_mlir.rewriting.integer_chain import MOVEMENTS, pad_value, rebuild_movement, rebuild_pad
from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.scalar_body import Expression, body_expression
from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_generic,
    element_type,
    empty_like,
    extend,
    integer_type,
    scalar_constant,
    scalar_of,
)
from torq_mlir.rewriting.uses import only_user

from .constant_parameters import collapse_like


@dataclass(frozen=True)
class _Operand:
    """Integers of 8 bits, extended, less a zero point, and moved.

    Attributes:
      source: the integers.
      unsigned: how they are extended.
      zero_point: a number, a scalar or 0-d tensor, or a tensor that is read at `indexing` of the integers.
      steps: movements of the difference, first to last; padding is with 0.
    """

    source: ir.Value
    unsigned: bool
    zero_point: int | ir.Value
    indexing: ir.AffineMap | None
    steps: tuple[ir.Operation, ...]

    def folded(self) -> np.ndarray | None:
        """The difference, where it is constant and nothing moves it; i8 or i16."""
        values = elements.constant_value(self.source)
        zero_point = self.zero_point
        if isinstance(zero_point, ir.Value) and self.indexing is not None:
            zero_point = _stretched(elements.constant_value(zero_point), self.indexing)
        if values is None or self.steps or zero_point is None or isinstance(zero_point, ir.Value):
            return None
        values = (values.view(np.uint8) if self.unsigned else values).astype(np.int32) - zero_point
        return next((values.astype(t) for t in (np.int8, np.int16) if np.array_equal(values.astype(t), values)), None)

    def build(self) -> ir.Value:
        """The moved integers; what pads them is the zero point."""
        value = self.source
        for step in self.steps:
            if step.name == "tensor.pad":
                number = self.zero_point
                if isinstance(number, ir.Value):
                    number = arith.trunci(element_type(value), scalar_of(number))
                elif number > 127:
                    number -= 256  # unsigned in signless storage
                value = rebuild_pad(step, value, number)
            else:
                value = rebuild_movement(step, value)
        return value


def narrow(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for contractions with an i64 result."""
    contraction = match_contraction(operation, integer_type(64))
    if contraction is None:
        return NOT_MINE
    collapse, last = None, only_user(contraction.result)
    if last is not None and last.name == "tensor.collapse_shape":  # of the groups of a convolution
        collapse, last = last, only_user(last.results[0])
    if last is None or not _takes_lower_bits(last):
        return NOT_MINE
    initial = match_initial_value(contraction.init)
    if initial is None or isinstance(initial.bias, ir.Value) or initial.bias != 0:
        return NOT_MINE
    operands = [_match_operand(value) for value in (contraction.input, contraction.weights)]
    if None in operands:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        result = _contract(contraction, operands)
        result = result if collapse is None else collapse_like(collapse, result)
    rewriter.replace_op(last, [result])
    return None


def _takes_lower_bits(operation: ir.Operation) -> bool:
    return operation.name == "linalg.generic" and body_expression(operation) == ("arith.trunci", ("arg", 0))


def _match_operand(value: ir.Value) -> _Operand | None:
    steps: list[ir.Operation] = []
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name not in MOVEMENTS and pad_value(operation) != 0:
            break
        steps.insert(0, operation)
        value = operation.operands[0]
    difference = _match_difference(value)
    if difference is None:
        return None
    value, zero_point, indexing = difference
    generic = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if generic is None or generic.name != "linalg.generic" or (indexing is not None and steps):
        return None
    match body_expression(generic):
        case ("arith.extsi" | "arith.extui" as extension, ("arg", 0)) if _is_elementwise(generic):
            source = generic.operands[0]
            if element_type(source).width == 8:
                return _Operand(source, extension == "arith.extui", zero_point, indexing, tuple(steps))
    return None


def _match_difference(value: ir.Value) -> tuple[ir.Value, int | ir.Value, ir.AffineMap | None] | None:
    """`(integers, zero point, where it is read)` of an elementwise difference; other values less 0."""
    generic = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if generic is None or generic.name != "linalg.generic" or not _is_elementwise(generic):
        return value, 0, None
    match body_expression(generic):
        case ("arith.subi", ("arg", 0), zero_point):
            return _zero_point(generic, zero_point)
    return value, 0, None


def _zero_point(generic: ir.Operation, expression: Expression):
    source = generic.operands[0]
    match expression:
        case ("const", int(number)):
            return source, number, None
        case ("outer", value) | ("tensor.extract", ("outer", value)):
            return source, value, None
        case ("arg", 1):
            indexing = ir.AffineMapAttr(ir.ArrayAttr(generic.attributes["indexing_maps"])[1]).value
            return source, generic.operands[1], indexing
    return None


def _is_elementwise(generic: ir.Operation) -> bool:
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    return maps[0] == maps[-1] == ir.AffineMap.get_identity(maps[0].n_dims) and len(generic.results) == 1


def _stretched(values: np.ndarray | None, indexing: ir.AffineMap) -> np.ndarray | None:
    """Values that are read at `indexing`, which keeps the order of dimensions, in the rank of what reads them."""
    if values is None:
        return None
    shape = [1] * indexing.n_dims
    for size, expression in zip(values.shape, indexing.results, strict=True):
        if isinstance(expression, ir.AffineDimExpr):
            shape[expression.position] = size
    return values.reshape(shape)


def _contract(contraction: Contraction, operands: list[_Operand]) -> ir.Value:
    i32 = integer_type(32)
    folded = [operand.folded() for operand in operands]
    inputs = [
        operand.build() if values is None else arith.constant(None, elements.from_numpy(np.ascontiguousarray(values)))
        for operand, values in zip(operands, folded, strict=True)
    ]
    maps, differences = list(contraction.maps[:2]), []
    for position, (operand, values) in enumerate(zip(operands, folded, strict=True)):
        zero_point = operand.zero_point if values is None else 0
        unsigned = operand.unsigned and values is None
        if isinstance(zero_point, ir.Value) and operand.indexing is not None:
            inputs.append(zero_point)
            maps.append(_composed(operand.indexing, contraction.maps[position]))
            differences.append(_Difference(position, unsigned, len(inputs) - 1))
        elif isinstance(zero_point, ir.Value):
            differences.append(_Difference(position, unsigned, scalar_of(zero_point)))
        else:
            differences.append(
                _Difference(position, unsigned, scalar_constant(i32, zero_point) if zero_point else None)
            )
    parallel = set(contraction.dims(2))
    kinds = [PARALLEL if loop in parallel else REDUCTION for loop in range(contraction.maps[0].n_dims)]
    init = linalg.fill(scalar_constant(i32, 0), outs=[empty_like(contraction.init, i32)])

    def body(*values: ir.Value) -> ir.Value:
        return arith.addi(values[-1], arith.muli(*(each.build(values) for each in differences)))

    return build_generic(inputs, init, [*maps, contraction.maps[2]], kinds, body)


@dataclass(frozen=True)
class _Difference:
    """An element, extended to i32, less its zero point.

    Attributes:
      element: position among the arguments of the body.
      zero_point: a scalar, or the position of an argument; None for 0.
    """

    element: int
    unsigned: bool
    zero_point: int | ir.Value | None

    def build(self, values: Sequence[ir.Value]) -> ir.Value:
        value = extend(values[self.element], integer_type(32), self.unsigned)
        if self.zero_point is None:
            return value
        return arith.subi(value, values[self.zero_point] if isinstance(self.zero_point, int) else self.zero_point)


def _composed(indexing: ir.AffineMap, outer: ir.AffineMap) -> ir.AffineMap:
    """The map of what is read at `indexing` of an operand, over the loops that read this at `outer`."""
    return ir.AffineMap.get(outer.n_dims, 0, [each.compose(outer) for each in indexing.results])
