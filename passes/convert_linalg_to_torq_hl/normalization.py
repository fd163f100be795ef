# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LayerNorm and RMSNorm of a quantized tensor, in integers.

With x the integers of a row of n, sx and sy the scales of input and output, eps as in the source, and `>>` a rescale
by a power of two:

    d = 2^7 * (x - mean(x))                  i16; 2^7 * (x - zx) for RMSNorm
    a = sum(d * d >> g) + E                  i32, E = eps * n / sx^2 * 2^(14 - g), at least 2, and g so that a fits
    q = 2^floor((30 - floor(log2(a))) / 2)   i16, tables of the leading bits: a * q^2 is from 2^29 to 2^31
    r = 2^15 / sqrt(a * q^2 / 2^29)          i16, a table with lines between 256 entries
    t = d * q >> k                           i16, k = ceil((31 + g) / 2) - 15
    z = t * r >> 15                          i16, (x - mean) / sqrt(var + eps) in units of u
    y = clamp(rescale(z * w + b) + zy)       w and b for each column, of weight and bias
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Quantize
from torq_mlir.rewriting.row_region import RowRegion, match_row_region

from .requantize import at_quantize, check_storage, constant, locations_of, multiplier, result_element
from .rows import (
    bounds,
    check_rows,
    difference,
    from_rows,
    integer,
    line,
    marked,
    power_of_two,
    product,
    row_reduction,
    to_rows,
)

# Fraction bits of the centered values.
_FRACTION = 7
_INT32_MAX = (1 << 31) - 1


@dataclass(frozen=True)
class Normalization:
    """`(x - mean) / sqrt(factor * sum((x - mean)^2) + epsilon) * weight + bias` along the rows of a region.

    Attributes:
      centered: the mean is subtracted; otherwise it counts as zero.
      factor: 1 / n, or 1 / (n - 1) for the unbiased variance.
      weight, bias: float64, a number or one for each column.
    """

    region: RowRegion
    centered: bool
    factor: float
    epsilon: float
    weight: np.ndarray
    bias: np.ndarray

    @property
    def columns(self) -> int:
        shape = ir.RankedTensorType(self.region.dequantize.input.type).shape
        return math.prod(shape[d] for d in self.region.reduced)


@at_quantize
def convert_normalization(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(normalize(dequantize(x)))` of i8."""
    found = match_normalization(clamped.value)
    if found is None:
        return NOT_MINE
    region = found.region
    check_storage(quantize, [region.dequantize])
    check_rows(region)
    values = region.dequantize.input
    if ir.RankedTensorType(values.type).element_type.width != 8:
        raise NoMatch("only the squares of 8 bits are summed in i32")
    shape = ir.RankedTensorType(values.type).shape
    squares = _Squares.of(found)
    affine = _Affine.of(found, squares, quantize)
    attributes = dict(zip(("output_min", "output_max"), clamped.integer_bounds(quantize), strict=True))
    attributes["output_zp"] = int(quantize.zero_point)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *region.operations):
        normalized = _normalize(to_rows(values, region.reduced), found, squares)
        result = torq_hl.fma(
            constant(affine.weights),
            constant(affine.pairs),
            normalized,
            shift_factor=affine.shift,
            element_type=result_element(quantize),
            **attributes,
        )
        rewriter.replace_op(quantize.operation, [from_rows(marked(result, "normalization"), shape, region.reduced)])
    return None


def match_normalization(value: ir.Value) -> Normalization | None:
    """The normalization that ends in `value`, in any order of its products."""
    region = match_row_region(value)
    if region is None:
        return None
    core, weight, bias = _strip_affine(region)
    match core:
        case ("mul", deviation, ("rsqrt", variance)) | ("mul", ("rsqrt", variance), deviation):
            pass
        case _:
            return None
    epsilon = 0.0
    match variance:
        case ("add", variance, ("number", epsilon)):
            pass
    match variance:
        case ("mul", ("sum", ("square", squared)), ("number", factor)) if squared == deviation:
            pass
        case _:
            return None
    if factor <= 0 or epsilon < 0 or not np.isfinite([factor, epsilon]).all():
        return None
    found = Normalization(region, deviation != ("x",), factor, epsilon, weight, bias)
    if found.centered and not _is_deviation(deviation, found.columns):
        return None
    return found


def _is_deviation(expression, columns: int) -> bool:
    match expression:
        case ("sub", ("x",), ("mul", ("sum", ("x",)), ("number", share))):
            return math.isclose(share * columns, 1.0, rel_tol=1e-5)
    return False


def _strip_affine(region: RowRegion) -> tuple[tuple, np.ndarray, np.ndarray]:
    """`core, weight, bias` of an expression `core * weight + bias`."""
    expression, weight, bias = region.expression, np.float64(1.0), np.float64(0.0)
    while True:
        match expression:
            case (("add" | "sub" | "mul") as name, inner, ("number" | "vector", _) as operand) | (
                ("add" | "mul") as name,
                ("vector", _) as operand,
                inner,
            ):
                value = region.vectors[operand[1]].reshape(-1) if operand[0] == "vector" else np.float64(operand[1])
                if name == "mul":
                    weight = weight * value
                else:
                    bias = bias + weight * (value if name == "add" else -value)
                expression = inner
            case _:
                return expression, weight, bias


@dataclass(frozen=True)
class _Squares:
    """How the squares are summed.

    Attributes:
      shift: g, the least with which the sum fits in i32.
      epsilon: E.
      greatest: the sum is at most that.
    """

    shift: int
    epsilon: int
    greatest: int

    @classmethod
    def of(cls, found: Normalization) -> "_Squares":
        zero_point = int(found.region.dequantize.zero_point)
        magnitude = 127.5 if found.centered else max(128 + zero_point, 127 - zero_point)
        epsilon = found.epsilon / (found.factor * float(found.region.dequantize.scale) ** 2)
        for shift in range(2 * _FRACTION + 1):
            unit = 2.0 ** (2 * _FRACTION - shift)
            least = max(2, round(min(epsilon * unit, 2.0**40)))
            greatest = int(found.columns * (magnitude**2 * unit + 1)) + least
            if greatest <= _INT32_MAX:
                return cls(shift, least, greatest)
        raise NoMatch(f"the sum of {found.columns} squares and epsilon {found.epsilon} does not fit in i32")

    @property
    def deviation_shift(self) -> int:
        """The shift k: `|d| <= sqrt(2^g * a)`, so that `|d * q| <= 2^((31 + g) / 2)`."""
        return (31 + self.shift + 1) // 2 - 15


def _normalize(rows: ir.Value, found: Normalization, squares: _Squares) -> ir.Value:
    """The values z."""
    deviation = _deviation(rows, found)
    square = product(deviation, deviation, 32, shift=squares.shift)
    sums = row_reduction("reduce_sum", square, 32, bias=squares.epsilon)
    leading = range(squares.epsilon.bit_length() - 1, squares.greatest.bit_length())
    power = power_of_two(sums, {bit: min(14, (30 - bit) // 2) for bit in leading})
    mantissa = product(product(sums, power, 32), power, 16, bias=-(1 << 14), shift=15, output_zp=-(1 << 15))
    root = line(mantissa, lambda m: np.ldexp(1.0, 15) / np.sqrt(np.maximum(2 + np.ldexp(m, -14), 1)))
    scaled = product(deviation, power, 16, shift=squares.deviation_shift)
    return product(scaled, root, 16, shift=15)


def _deviation(rows: ir.Value, found: Normalization) -> ir.Value:
    """The values d."""
    if not found.centered:
        pair = np.array([-int(found.region.dequantize.zero_point), 1 << _FRACTION], np.int32)
        return torq_hl.fma(
            constant(np.ones(1, np.int8)),
            constant(pair),
            rows,
            output_zp=0,
            shift_factor=0,
            element_type=integer(16),
            **bounds(16),
        )
    factor, shift = multiplier(np.ldexp(1.0, _FRACTION) / found.columns)
    mean = torq_hl.reduce_mean(
        constant(np.ones(1, np.int8)),
        constant(np.array([0, factor], np.int32)),
        rows,
        input_zp=0,
        output_zp=0,
        shift_factor=shift,
        element_type=integer(16),
        **bounds(16),
    )
    return difference(rows, mean, 16, weight=1 << _FRACTION)


@dataclass(frozen=True)
class _Affine:
    """`rescale(z * weights + bias, multiplier, shift)`, with the pairs for each column."""

    weights: np.ndarray
    pairs: np.ndarray
    shift: int

    @classmethod
    def of(cls, found: Normalization, squares: _Squares, quantize: Quantize) -> "_Affine":
        """Weights of 16 bits and biases of 30, so that the sum fits in 32, with one multiplier."""
        unit = 2.0 ** (squares.deviation_shift - squares.shift / 2 - 14.5) / math.sqrt(found.factor)
        weight, bias = np.broadcast_arrays(found.weight, found.bias)
        weight, bias = weight.reshape(-1), bias.reshape(-1)
        if not np.isfinite([weight, bias]).all():
            raise NoMatch("a weight or bias of the normalization is not finite")
        step = max(np.abs(weight).max() / ((1 << 15) - 1), np.abs(bias).max() / unit / ((1 << 30) - 1))
        step = step or 1.0
        factor, shift = multiplier(unit * step / quantize.scale)
        pairs = np.empty((weight.size, 2), np.int32)
        pairs[:, 0], pairs[:, 1] = np.rint(bias / (unit * step)), factor
        return cls(np.rint(weight / step).astype(np.int16), pairs.reshape(-1), shift)
