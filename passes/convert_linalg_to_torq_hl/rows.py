# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer operations on the rows of a matrix, from which softmax and normalization are made.

A matrix is `[rows, columns]`, a number for each row `[rows, 1]`. Products of two i16 fit in the 32 bits of an
accumulator, so that a value of a wide range is a mantissa of 15 bits times a power of two.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.numerics.lookup import line_table, power_of_two_table, step_table
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.row_region import RowRegion
from torq_mlir.rewriting.structured import reshape

from .requantize import constant

_MINIMUM, _ADD = 4, 14
_I8_INDEX, _I16_INDEX = np.array([-128, 128], np.int32), np.array([-32768, 1], np.int32)


def to_rows(value: ir.Value, reduced: Sequence[int]) -> ir.Value:
    """The tensor as a matrix whose columns are the `reduced` dimensions."""
    shape = ir.RankedTensorType(value.type).shape
    permutation = _rows_first(len(shape), reduced)
    if permutation != sorted(permutation):
        value = torq_hl.transpose(value, perm=permutation)
    columns = math.prod(shape[d] for d in reduced)
    return reshape(value, [math.prod(shape) // columns, columns])


def check_rows(region: RowRegion) -> None:
    """Refuses rows without elements, and a scale that is no positive number."""
    if not math.prod(ir.RankedTensorType(region.dequantize.input.type).shape):
        raise NoMatch("there are no elements")
    scale = float(region.dequantize.scale)
    if not scale > 0 or not math.isfinite(scale):
        raise NoMatch(f"the scale {scale} is not positive")


def from_rows(value: ir.Value, shape: Sequence[int], reduced: Sequence[int]) -> ir.Value:
    """The inverse of `to_rows`, to a tensor of `shape`."""
    permutation = _rows_first(len(shape), reduced)
    value = reshape(value, [shape[d] for d in permutation])
    if permutation != sorted(permutation):
        value = torq_hl.transpose(value, perm=np.argsort(permutation).tolist())
    return value


def _rows_first(rank: int, reduced: Sequence[int]) -> list[int]:
    return [*(d for d in range(rank) if d not in reduced), *reduced]


def marked(value: ir.Value, approximation: str) -> ir.Value:
    """The value; the operation that defines it says what it gives nearly, for who compares."""
    value.owner.attributes["torq_hl.approximation"] = ir.StringAttr.get(approximation)
    return value


def integer(width: int) -> ir.IntegerType:
    return ir.IntegerType.get_signless(width)


def bounds(width: int) -> dict[str, int]:
    """output_min and output_max of a signed integer."""
    return {"output_min": -(1 << (width - 1)), "output_max": (1 << (width - 1)) - 1}


def row_reduction(name: str, matrix: ir.Value, width: int, *, bias: int = 0, shift: int = 0) -> ir.Value:
    """Sum or maximum of each row plus a number, rescaled, as integers of `width` bits."""
    rows = ir.RankedTensorType(matrix.type).shape[0]
    reduced = torq_hl.reduce(
        constant(np.ones(1, np.int8)),
        constant(np.array([bias, 1], np.int32)),
        matrix,
        name=name,
        axis=1,
        output_zp=0,
        shift_factor=shift,
        element_type=integer(width),
        **bounds(width),
    )
    return reshape(reduced, [rows, 1])


def product(
    x1: ir.Value, x2: ir.Value, width: int, *, shift: int = 0, multiplier: int = 1, bias: int = 0, **output: int
) -> ir.Value:
    """`clamp(rescale(x1 * x2 + bias, multiplier, shift) + output_zp)`; zero point and bounds are those of `width`."""
    return torq_hl.mul(
        constant(np.array([bias, multiplier], np.int32)),
        x1,
        x2,
        shift=shift,
        element_type=integer(width),
        **{"output_zp": 0, **bounds(width), **output},
    )


def total(x1: ir.Value, x2: ir.Value) -> ir.Value:
    """The sum of two integers of one type, which holds it."""
    return torq_hl.elementwisebinary(x1, x2, op_type=_ADD)


def difference(x1: ir.Value, x2: ir.Value, width: int, *, weight: int = 1, bias: int = 0) -> ir.Value:
    """`clamp(weight * x1 - x2 + bias)`."""
    return torq_hl.add(
        constant(np.array([weight, -1], np.int16)),
        constant(np.array([bias, 1], np.int32)),
        x1,
        x2,
        name="sub",
        output_zp=0,
        shift_factor=0,
        element_type=integer(width),
        **bounds(width),
    )


def step(value: ir.Value, function: Callable[[np.ndarray], np.ndarray]) -> ir.Value:
    """A function of i8 as i16."""
    return _table(value, _I8_INDEX, step_table(function(np.arange(-128, 128))))


def line(value: ir.Value, function: Callable[[np.ndarray], np.ndarray]) -> ir.Value:
    """A function of i16 as i16, by lines between its values at multiples of 256."""
    return _table(value, _I16_INDEX, line_table(function(np.arange(-(1 << 15), (1 << 15) + 1, 256))))


def power_of_two(value: ir.Value, exponents: dict[int, int]) -> ir.Value:
    """`2^exponents[k]` as i16 of positive i32 whose leading bit is at position k; exponents do not increase with k."""
    powers = []
    for low in range(min(exponents), max(exponents) + 1, 8):
        byte = torq_hl.fma(
            constant(np.ones(1, np.int8)),
            constant(np.array([-(1 << low >> 1), 1], np.int32)),  # rounds down
            value,
            output_zp=-128,
            shift_factor=low,
            element_type=integer(8),
            **bounds(8),
        )
        powers.append(_table(byte, _I8_INDEX, power_of_two_table(low, exponents)))
    least = powers[0]
    for power in powers[1:]:
        least = torq_hl.elementwisebinary(least, power, op_type=_MINIMUM)
    return least


def _table(value: ir.Value, index: np.ndarray, words: np.ndarray) -> ir.Value:
    return torq_hl.table(constant(index), value, static_table=words.tolist(), element_type=integer(16))
