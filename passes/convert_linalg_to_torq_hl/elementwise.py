# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations between dequantizations and a quantization."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.numerics.addition import add_bias, add_weights
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.constant_folding import fold_number
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.scalar_body import body_expression, named_extremum

from .requantize import (
    at_quantize,
    center,
    check_requantizable,
    check_storage,
    constant,
    locations_of,
    multiplier,
    requantize,
    result_element,
)

_BITWISE_XOR = 2
_EXTREMA = {"min": 4, "max": 5}


@at_quantize
def convert_add(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) +- dequantize(x2)))` with a scale for each of the three."""
    binary = match_binary(clamped.value, "arith.addf", "arith.subf")
    if binary is None:
        return NOT_MINE
    kind, generic, inputs = binary
    check_storage(quantize, inputs)
    signs = (1, 1) if kind == "arith.addf" else (1, -1)
    scales = [float(x.scale) * sign for x, sign in zip(inputs, signs, strict=False)]
    try:
        weights, shift = add_weights(*scales, float(quantize.scale))
    except ValueError as error:
        raise NoMatch(str(error)) from error
    bias = add_bias(weights, *(int(x.zero_point) for x in inputs))
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.add(
            constant(weights),
            constant(np.array([bias, 1], np.int32)),
            *(x.input for x in inputs),
            name="add" if kind == "arith.addf" else "sub",
            input_zp=0,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [value])
    return None


@at_quantize
def convert_mul(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) * dequantize(x2)))`: zero points are removed by an fma that widens to i16."""
    binary = match_binary(clamped.value, "arith.mulf")
    if binary is None:
        return NOT_MINE
    _, generic, inputs = binary
    check_storage(quantize, inputs)
    factor, shift = multiplier(inputs[0].scale * inputs[1].scale / quantize.scale)
    if shift > np.iinfo(np.int8).max:
        raise NoMatch(f"the shift {shift} of the product does not fit in i8")
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.mul(
            constant(np.array([0, factor], np.int32)),
            *(center(x.input, int(x.zero_point)) for x in inputs),
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [value])
    return None


@at_quantize
def convert_extremum(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(max or min(dequantize(x1), dequantize(x2))))`: both in the output's parameters, then compared."""
    binary = match_binary(clamped.value, "max", "min")
    if binary is None:
        return NOT_MINE
    kind, generic, inputs = binary
    check_storage(quantize, inputs)
    check_requantizable(quantize, inputs)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        operands = [requantize(x, quantize, clamped) for x in inputs]
        value = torq_hl.elementwisebinary(*operands, op_type=_EXTREMA[kind], element_type=result_element(quantize))
        rewriter.replace_op(quantize.operation, [value])
    return None


def match_binary(value: ir.Value, *names: str) -> tuple[str, ir.Operation, list[Dequantize]] | None:
    """A generic that applies one of `names` to two dequantized values, broadcast as numpy does."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    if len(generic.operands) == 2:
        return _match_square(generic, names)
    match named_extremum(body_expression(generic)):
        case (name, ("arg", 0 | 1 as first), ("arg", 0 | 1 as second)) if name in names:
            pass
        case _:
            return None
    inputs = [match_dequantize(generic.operands[i]) for i in (first, second)]
    if any(dequantize is None for dequantize in inputs):
        raise NoMatch("an operand is not dequantized with constant parameters")
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    for index in (first, second):
        if not _broadcasts(maps[index], ir.RankedTensorType(generic.operands[index].type).shape):
            raise NoMatch("the operands do not broadcast over trailing dimensions")
        if fold_number(generic.operands[index]) is not None and _is_table(generic.operands[1 - index], maps[1 - index]):
            raise NoMatch("an operand is a number: a table computes it exactly")
    return name, generic, inputs


def _match_square(generic: ir.Operation, names) -> tuple[str, ir.Operation, list[Dequantize]] | None:
    match body_expression(generic):
        case (name, ("arg", 0), ("arg", 0)) if name in names:
            dequantize = match_dequantize(generic.operands[0])
            return dequantize and (name, generic, [dequantize, dequantize])
    return None


def _is_table(value: ir.Value, affine_map: ir.AffineMap) -> bool:
    """Whether an operand is dequantized from i8 and not repeated, so that a function of it alone is a table."""
    width = ir.RankedTensorType(match_dequantize(value).input.type).element_type.width
    return width == 8 and affine_map == ir.AffineMap.get_identity(affine_map.n_dims)


def _broadcasts(affine_map: ir.AffineMap, shape: list[int]) -> bool:
    """Whether operand dimensions line up with the last loops, a dimension of size 1 standing still."""
    offset = affine_map.n_dims - len(shape)
    for i, (expression, size) in enumerate(zip(affine_map.results, shape, strict=False)):
        if isinstance(expression, ir.AffineDimExpr):
            if expression.position != i + offset:
                return False
        elif size != 1:
            return False
    return True


def convert_bit_flip(operation: ir.Operation, rewriter) -> object:
    """Exclusive or with a constant, as it stays at the borders of a function with unsigned values."""
    if len(operation.operands) != 2 or not isinstance(operation.results[0].type.element_type, ir.IntegerType):
        return NOT_MINE
    match body_expression(operation):
        case ("arith.xori", ("arg", 0), ("const", bits)):
            pass
        case _:
            return NOT_MINE
    element = operation.results[0].type.element_type
    with ir.InsertionPoint(operation), operation.location:
        shape = (1,) if ir.RankedTensorType(operation.results[0].type).rank else ()
        mask = constant(np.full(shape, bits, elements.numpy_dtype(element)))
        value = torq_hl.elementwisebinary(operation.operands[0], mask, op_type=_BITWISE_XOR, element_type=element)
        rewriter.replace_op(operation, [value])
    return None
