# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons of quantized values, logic on their results, and selection by them."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.numerics.comparison import dequantized, ranks, thresholds
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.elementwise_region import match_elementwise_region
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import element_type, integer_type

from .operands import Operand, check_broadcasts, match_operand
from .requantize import (
    at_quantize,
    check_requantizable,
    check_storage,
    constant,
    locations_of,
    quantized_constant,
    requantize,
    result_element,
)

_GREATER, _GREATER_EQUAL, _EQUAL = 6, 7, 8
_BITWISE_XOR = 2
_LOGIC = {"arith.andi": 9, "arith.ori": 10, "arith.xori": 11}
_BITWISE = {"arith.andi": 0, "arith.ori": 1, "arith.xori": _BITWISE_XOR}
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_OPERATIONS = {"gt": _GREATER, "ge": _GREATER_EQUAL, "eq": _EQUAL}


def convert_comparison(operation: ir.Operation, rewriter) -> object:
    """A comparison of dequantized values, or of one and constants, as one of integers with the same results."""
    if len(operation.results) != 1 or element_type(operation.results[0]) != integer_type(1):
        return NOT_MINE
    match body_expression(operation):
        case ("arith.cmpf", predicate, lhs, rhs) if predicate[-2:] in _SWAPPED:
            relation = predicate[-2:]
        case _:
            return NOT_MINE
    sides = [match_operand(operation, expression) for expression in (lhs, rhs)]
    if None in sides or all(side.constants is not None for side in sides):
        return NOT_MINE
    for side in sides:
        _check_side(side)
    if sides[0].constants is not None:
        sides.reverse()
        relation = _SWAPPED[relation]
    with ir.InsertionPoint(operation), operation.location:
        if sides[1].constants is not None:
            build = _against_constants(*sides, relation)
        else:
            build = _against_values(*sides, relation)
        rewriter.replace_op(operation, [build()])
    return None


def _check_side(side: Operand) -> None:
    """Refuses values whose order is not that of their integers."""
    if side.constants is not None:
        if np.isnan(side.constants).any():
            raise NoMatch("a constant that is compared is not a number")
        return
    if not side.dequantize.per_tensor or side.dequantize.unsigned:
        raise NoMatch("what is compared is not signed with one scale")
    if side.width not in (8, 16):
        raise NoMatch(f"i{side.width} values have no comparison")
    values = dequantized(float(side.dequantize.scale), int(side.dequantize.zero_point), side.width)
    if not np.isfinite(values).all() or not (np.diff(values) > 0).all():
        raise NoMatch(f"the scale {float(side.dequantize.scale)} makes different integers equal")


def _against_values(lhs: Operand, rhs: Operand, relation: str):
    first, second = lhs.dequantize, rhs.dequantize
    if lhs.width == rhs.width and first.scale == second.scale and first.zero_point == second.zero_point:
        return lambda: _compare(first.input, second.input, relation)
    if (lhs.width, rhs.width) != (8, 8):
        raise NoMatch("values of 16 bits are compared in one scale alone")
    tables = ranks(*(dequantized(float(x.scale), int(x.zero_point), 8) for x in (first, second)))
    return lambda: _compare(*(_looked_up(x, t) for x, t in zip((first, second), tables, strict=True)), relation)


def _looked_up(dequantize: Dequantize, entries: np.ndarray) -> ir.Value:
    """The entry for each i8 value, in i16."""
    return torq_hl.table(
        constant(np.array([-128, 128], np.int32)),
        dequantize.input,
        static_table=(entries & 0xFFFF).tolist(),
        element_type=integer_type(16),
    )


def _compare(lhs: ir.Value, rhs: ir.Value, relation: str) -> ir.Value:
    if relation in ("lt", "le"):
        return _compare(rhs, lhs, _SWAPPED[relation])
    if relation == "ne":
        return _inverted(_compare(lhs, rhs, "eq"))
    return torq_hl.elementwisebinary(lhs, rhs, op_type=_OPERATIONS[relation])


def _inverted(value: ir.Value) -> ir.Value:
    mask = constant(np.full([1] * ir.RankedTensorType(value.type).rank, True))
    return torq_hl.elementwisebinary(value, mask, op_type=_BITWISE_XOR, element_type=integer_type(1))


def _against_constants(lhs: Operand, rhs: Operand, relation: str):
    """The integers that constants lie between take their place."""
    integers, bits, constants = lhs.dequantize.input, lhs.width, rhs.constants
    values = dequantized(float(lhs.dequantize.scale), int(lhs.dequantize.zero_point), bits)
    least, greatest = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    above = thresholds(values, constants, bits, inclusive=False)
    from_ = thresholds(values, constants, bits, inclusive=True)
    if relation in ("eq", "ne"):
        equal = above > from_
        if equal.all():
            return lambda: _compare(integers, _integers(from_, bits), relation)
        if equal.any():
            raise NoMatch("some of the constants are equal to no value")
        never = np.full(constants.shape, greatest)
        return lambda: _compare(integers, _integers(never, bits), "gt" if relation == "eq" else "le")
    # Either `x >= bound`, or not.
    bound = above if relation in ("gt", "le") else from_
    if bound.max(initial=least) <= greatest:
        return lambda: _compare(integers, _integers(bound, bits), "ge" if relation in ("gt", "ge") else "lt")
    if bound.min(initial=greatest) > least:
        return lambda: _compare(integers, _integers(bound - 1, bits), "gt" if relation in ("gt", "ge") else "le")
    raise NoMatch("constants lie on both sides of all values")


def _integers(values: np.ndarray, bits: int) -> ir.Value:
    return constant(np.asarray(values).astype(f"int{bits}"))


def convert_logic(operation: ir.Operation, rewriter) -> object:
    """And, or and exclusive or of two tensors: logical of i1, bitwise of integers."""
    if len(operation.results) != 1 or not isinstance(element_type(operation.results[0]), ir.IntegerType):
        return NOT_MINE
    match body_expression(operation):
        case (name, ("arg", first), ("arg", second)) if name in _LOGIC and first != second:
            pass
        case _:
            return NOT_MINE
    operands = [operation.operands[index] for index in (first, second)]
    element = element_type(operation.results[0])
    if any(element_type(operand) != element for operand in operands) or element.width > 32:
        return NOT_MINE
    for index in (first, second):
        check_broadcasts(operation, index)
    kinds = _LOGIC if element.width == 1 else _BITWISE
    with ir.InsertionPoint(operation), operation.location:
        value = torq_hl.elementwisebinary(*operands, op_type=kinds[name], element_type=element)
        rewriter.replace_op(operation, [value])
    return None


@at_quantize
def convert_select(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(condition ? dequantize(x1) : dequantize(x2))`: each in the parameters of the output; either may be
    constant."""
    if isinstance(clamped.value.owner, ir.Block) or clamped.value.owner.operation.name != "linalg.generic":
        return NOT_MINE
    generic = clamped.value.owner.operation
    match body_expression(generic):
        case ("arith.select", ("arg", condition), *branches) if element_type(
            generic.operands[condition]
        ) == integer_type(1):
            pass
        case _:
            return NOT_MINE
    if match_elementwise_region(quantize.input) is not None:
        return NOT_MINE  # a table is one operation
    check_broadcasts(generic, condition)
    sides = [match_operand(generic, expression) for expression in branches]
    if None in sides:
        raise NoMatch("what is selected is neither dequantized with constant parameters nor constant")
    if any(side.constants is not None and np.isnan(side.constants).any() for side in sides):
        raise NoMatch("a constant that is selected is not a number")
    inputs = [side.dequantize for side in sides if side.constants is None]
    check_storage(quantize, inputs)
    check_requantizable(quantize, inputs)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        values = [
            quantized_constant(side.constants, quantize, clamped)
            if side.constants is not None
            else requantize(side.dequantize, quantize, clamped)
            for side in sides
        ]
        value = torq_hl.select(generic.operands[condition], *values, element_type=result_element(quantize))
        rewriter.replace_op(quantize.operation, [value])
    return None
