# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters from the range of a tensor or of its rows, as reductions and scalar arithmetic.

See `numerics.choose_qparams` for the formulas and the type of each step. Ops are created at the current insertion
point.
"""

import math as python_math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, math, tensor

from torq_mlir.dialects import elements
from torq_mlir.numerics.choose_qparams import LEAST_MAGNITUDE, LEAST_TOKEN_SCALE, TOKEN_RANGE
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.float_steps import compute_type, float_to_integer, round_to
from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_elementwise,
    build_generic,
    convert_float,
    element_type,
    empty_like,
    integer_type,
    scalar_constant,
    scalar_of,
    sizes,
)

_INFINITY = python_math.inf


def choose_qparams(input: ir.Value, quant_min: int, quant_max: int, eps: float) -> tuple[ir.Value, ir.Value]:
    """Scale, tensor<1xf64>, and zero point, tensor<1xi64>, for the range of a tensor of f16, bf16 or f32."""
    low, high = (scalar_of(value) for value in _extremes(input, rows=False))
    low, high = _with_zero(low, high)
    source, f32, i32 = element_type(input), ir.F32Type.get(), integer_type(32)
    scale = _quotient(_subtract(high, low, source), float(quant_max - quant_min), source)
    scale = arith.maximumf(scale, scalar_constant(f32, eps))
    offset = float_to_integer(math.roundeven(arith.divf(low, scale)), i32)
    least, greatest = scalar_constant(i32, quant_min), scalar_constant(i32, quant_max)
    zero_point = arith.minsi(arith.maxsi(arith.subi(least, offset), least), greatest)
    return _one(arith.extf(ir.F64Type.get(), scale)), _one(arith.extsi(integer_type(64), zero_point))


def choose_qparams_symmetric(
    input: ir.Value, quant_min: int, quant_max: int, eps: float, dtype: ir.IntegerType
) -> tuple[ir.Value, ir.Value]:
    """Scale, tensor<1xf64>, and zero point, tensor<1xi64>, for the largest magnitude in such a tensor."""
    magnitude = scalar_of(_largest_magnitude(input, rows=False))
    scale = _quotient(magnitude, (quant_max - quant_min) / 2, element_type(input))
    scale = arith.maximumf(scale, scalar_constant(ir.F32Type.get(), eps))
    zero_point = np.full(1, 128 if dtype.is_unsigned and dtype.width == 8 else 0, np.int64)
    return _one(arith.extf(ir.F64Type.get(), scale)), arith.constant(None, elements.from_numpy(zero_point))


def choose_qparams_per_token(input: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Scales and zero points of shape [.., 1] for the largest magnitudes in the rows of an input [.., n]."""
    magnitudes = _largest_magnitude(input, rows=True)
    element = element_type(input)
    element = ir.F32Type.get() if isinstance(element, ir.F16Type) else element

    def scale(magnitude: ir.Value) -> ir.Value:
        magnitude = arith.maximumf(magnitude, _constant_in(LEAST_MAGNITUDE, element))
        return convert_float(_quotient(magnitude, TOKEN_RANGE[1], element), element)

    scales = build_elementwise([magnitudes], empty_like(magnitudes, element), scale)
    zero = arith.constant(element, 0.0)
    return scales, linalg.fill(zero, outs=[empty_like(scales, element)])


def choose_qparams_per_token_asymmetric(input: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Scales, f64, and zero points, i64, of shape [.., 1] for the ranges of the rows of an input [.., n]."""
    source = element_type(input)
    extremes = _extremes(input, rows=True)

    def scale_in_source(low: ir.Value, high: ir.Value) -> ir.Value:
        scale = _quotient(_subtract(high, low, source), float(TOKEN_RANGE[1] - TOKEN_RANGE[0]), source)
        return arith.maximumf(scale, _constant_in(LEAST_TOKEN_SCALE, source))

    def scale(low: ir.Value, high: ir.Value) -> ir.Value:
        return convert_float(scale_in_source(*_with_zero(low, high)), ir.F64Type.get())

    def zero_point(low: ir.Value, high: ir.Value) -> ir.Value:
        low, high = _with_zero(low, high)
        scale = scale_in_source(low, high)
        first, last = (round_to(arith.divf(end, scale), source) for end in (low, high))
        least, most = (_constant_in(bound, source) for bound in TOKEN_RANGE)
        errors = [round_to(arith.addf(*pair), source) for pair in ((least, first), (most, last))]
        error = round_to(arith.addf(*errors), source)
        from_first = arith.cmpf(arith.CmpFPredicate.OGT, error, scalar_constant(error.type, 0))
        chosen = arith.select(from_first, _subtract(least, first, source), _subtract(most, last, source))
        chosen = arith.minimumf(arith.maximumf(chosen, least), most)
        return float_to_integer(math.roundeven(chosen), integer_type(64))

    low = extremes[0]
    scales = build_elementwise(extremes, empty_like(low, ir.F64Type.get()), scale)
    return scales, build_elementwise(extremes, empty_like(low, integer_type(64)), zero_point)


def _extremes(input: ir.Value, rows: bool) -> tuple[ir.Value, ir.Value]:
    """Least and greatest value, in the compute type; NaN propagates."""
    return _reduce(input, arith.minimumf, _INFINITY, rows), _reduce(input, arith.maximumf, -_INFINITY, rows)


def _largest_magnitude(input: ir.Value, rows: bool) -> ir.Value:
    return _reduce(input, lambda value, largest: arith.maximumf(math.absf(value), largest), 0, rows)


def _reduce(input: ir.Value, combine: Callable[..., ir.Value], neutral: float, rows: bool) -> ir.Value:
    """Reduces to a 0-d tensor, or each row of [.., n] to one element of [.., 1], in the compute type."""
    compute, rank = compute_type(element_type(input)), ir.RankedTensorType(input.type).rank
    dimensions = [ir.AffineExpr.get_dim(d) for d in range(rank)]
    shape: list[int | ir.Value] = [*sizes(input)[:-1], 1] if rows else []
    kept = [*dimensions[:-1], ir.AffineExpr.get_constant(0)] if rows else []
    init = linalg.fill(scalar_constant(compute, neutral), outs=[tensor.empty(shape, compute)])
    return build_generic(
        [input],
        init,
        [ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, kept)],
        [PARALLEL if rows and d < rank - 1 else REDUCTION for d in range(rank)],
        lambda value, reduced: combine(convert_float(value, compute), reduced),
    )


def _with_zero(low: ir.Value, high: ir.Value) -> tuple[ir.Value, ir.Value]:
    zero = scalar_constant(low.type, 0)
    return arith.minimumf(low, zero), arith.maximumf(high, zero)


def _subtract(left: ir.Value, right: ir.Value, type_: ir.Type) -> ir.Value:
    return round_to(arith.subf(left, right), type_)


def _quotient(value: ir.Value, divisor: float, type_: ir.Type) -> ir.Value:
    """Divides by a number, which is not rounded to half precision before."""
    return round_to(arith.divf(value, scalar_constant(value.type, divisor)), type_)


def _constant_in(value: float, type_: ir.Type) -> ir.Value:
    """A number as it is in `type_`, in its compute type."""
    rounded = convert_element_type(np.float64(value), elements.numpy_dtype(type_))
    return scalar_constant(compute_type(type_), float(rounded))


def _one(scalar: ir.Value) -> ir.Value:
    return tensor.from_elements(ir.RankedTensorType.get([1], scalar.type), [scalar])
