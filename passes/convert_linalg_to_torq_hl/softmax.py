# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax of a quantized tensor, in integers.

With x the integers of a row, sx and sy the scales of input and output, and `>>` a rescale by a power of two:

    d = x - max(x) + 127                     i8, exact
    e = round(2^14 * exp(sx * (d - 127)))    i16, a table of 256 entries
    s = sum(e)                               i32, from 2^14 to n * 2^14; for long rows with what e is rounded by
    q = 2^(28 - floor(log2(s)))              i16, tables of the leading bits
    r = 2^15 / (s * q / 2^28)                i16, a table with lines between 256 entries
    y = clamp(((e * r >> 14) * q) * 2^-29 / sy + zy)
"""

import math

import numpy as np
from torch_mlir import ir

from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Quantize
from torq_mlir.rewriting.row_region import RowRegion, match_row_region

from .requantize import at_quantize, check_output, check_storage, locations_of, multiplier, result_element
from .rows import (
    check_rows,
    difference,
    from_rows,
    line,
    marked,
    power_of_two,
    product,
    row_reduction,
    step,
    to_rows,
    total,
)

# Scale of the exponentials, and the row length with which their sum stays below 2^29.
_EXP_BITS, _MOST_COLUMNS = 14, (1 << 15) - 1
# Roundings of more columns could add up to half a step of an output that is quantized to 1/256: they are summed too,
# in steps of 2^-8.
_FEW_COLUMNS, _RESIDUE_BITS = 64, 8


@at_quantize
def convert_softmax(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(softmax(dequantize(x)))` of i8."""
    found = match_softmax(clamped.value)
    if found is None:
        return NOT_MINE
    region, scale = found
    check_storage(quantize, [region.dequantize])
    check_output(quantize)
    values = region.dequantize.input
    shape = ir.RankedTensorType(values.type).shape
    columns = math.prod(shape[d] for d in region.reduced)
    if ir.RankedTensorType(values.type).element_type.width != 8:
        raise NoMatch("only the softmax of 8 bits is a table")
    check_rows(region)
    if columns > _MOST_COLUMNS:
        raise NoMatch(f"the sum of {columns} exponentials does not fit in i32")
    factor, shift = multiplier(2.0**-29 / quantize.scale)
    if shift > np.iinfo(np.int8).max:
        raise NoMatch(f"the shift {shift} of the product does not fit in i8")
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *region.operations):
        exponential, reciprocal, power = _exponentials(to_rows(values, region.reduced), scale)
        quotient = product(
            product(exponential, reciprocal, 16, shift=14),
            power,
            result_element(quantize).width,
            multiplier=factor,
            shift=shift,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
        )
        rewriter.replace_op(quantize.operation, [from_rows(marked(quotient, "softmax"), shape, region.reduced)])
    return None


def match_softmax(value: ir.Value) -> tuple[RowRegion, float] | None:
    """The softmax that ends in `value`, and the scale of the integers it is taken of."""
    region = match_row_region(value)
    match region and region.expression:
        case ("div", ("exp", ("sub", logits, ("max", greatest))) as numerator, ("sum", terms)) if (
            greatest == logits and terms == numerator
        ):
            pass
        case _:
            return None
    factor = 1.0
    match logits:
        case ("mul", logits, ("number", factor)):
            pass
    return (region, factor * float(region.dequantize.scale)) if logits == ("x",) and factor > 0 else None


def _exponentials(rows: ir.Value, scale: float) -> tuple[ir.Value, ir.Value, ir.Value]:
    """The exponentials, and for each row the reciprocal of their sum as a mantissa and a power of two."""
    columns = ir.RankedTensorType(rows.type).shape[1]
    distance = difference(rows, row_reduction("reduce_max", rows, 8), 8, bias=127)

    def scaled(d: np.ndarray) -> np.ndarray:
        return np.ldexp(np.exp(scale * (d - 127.0)), _EXP_BITS)

    exponential = step(distance, scaled)
    sums = row_reduction("reduce_sum", exponential, 32)
    if columns > _FEW_COLUMNS:
        residue = step(distance, lambda d: np.ldexp(scaled(d) - np.rint(scaled(d)), _RESIDUE_BITS))
        sums = total(sums, row_reduction("reduce_sum", residue, 32, shift=_RESIDUE_BITS))
    leading = range(_EXP_BITS, _EXP_BITS + int(math.log2(columns)) + 1)
    power = power_of_two(sums, {bit: 28 - bit for bit in leading})
    mantissa = product(sums, power, 16, bias=-(1 << 28), shift=12, output_zp=-(1 << 15))
    return exponential, line(mantissa, lambda m: np.ldexp(1.0, 15) / (1.5 + np.ldexp(m, -16))), power
