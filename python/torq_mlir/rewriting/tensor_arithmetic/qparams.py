# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters from the range of a tensor or of its rows; see `numerics.choose_qparams`."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.numerics.choose_qparams import LEAST_MAGNITUDE, LEAST_TOKEN_SCALE, TOKEN_RANGE
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.float_steps import compute_type
from torq_mlir.rewriting.structured import element_type, integer_type

from .arithmetic import DYNAMIC, TensorArithmetic, shape_of
from .element_types import integer_of_float

Parameters = tuple[ir.Value, ir.Value]


def choose_qparams(a: TensorArithmetic, input: ir.Value, quant_min: int, quant_max: int, eps: float) -> Parameters:
    """Scale, tensor<1xf64>, and zero point, tensor<1xi64>, for the range of a tensor of f16, bf16 or f32."""
    low, high = _range(a, _in_one_dimension(a, input), _axes(input))
    source, i32 = element_type(input), integer_type(32)
    scale = _quotient(a, a.round_to(a.subtract(high, low), source), float(quant_max - quant_min), source)
    scale = a.maximum(scale, eps)
    offset, fits = integer_of_float(a, a.round_half_even(a.divide(low, scale)), i32)
    # PyTorch takes the least i32 for what is none, and the difference wraps around.
    wrapped = (quant_min + 2**31 + 2**31) % 2**32 - 2**31
    zero_point = a.clamp(a.subtract(quant_min, offset), quant_min, quant_max)
    zero_point = a.select(fits, zero_point, min(max(wrapped, quant_min), quant_max))
    return _widened(a, scale), a.extend(a.reshape(zero_point, [1]), integer_type(64))


def choose_qparams_symmetric(
    a: TensorArithmetic, input: ir.Value, quant_min: int, quant_max: int, eps: float, dtype: ir.IntegerType
) -> Parameters:
    """Scale, tensor<1xf64>, and zero point, tensor<1xi64>, for the largest magnitude in such a tensor."""
    magnitude = _largest_magnitude(a, _in_one_dimension(a, input), _axes(input))
    scale = a.maximum(_quotient(a, magnitude, (quant_max - quant_min) / 2, element_type(input)), eps)
    zero_point = np.full(1, 128 if dtype.is_unsigned and dtype.width == 8 else 0)
    return _widened(a, scale), a.constant(zero_point, integer_type(64))


def choose_qparams_per_token(a: TensorArithmetic, input: ir.Value) -> Parameters:
    """Scales and zero points of shape [.., 1] for the largest magnitudes in the rows of an input [.., n]."""
    element = element_type(input)
    element = ir.F32Type.get() if isinstance(element, ir.F16Type) else element
    magnitude = a.maximum(_largest_magnitude(a, input, [-1]), _number_in(LEAST_MAGNITUDE, element))
    scales = a.convert_float(_quotient(a, magnitude, TOKEN_RANGE[1], element), element)
    return scales, _zeros(a, scales)


def choose_qparams_per_token_asymmetric(a: TensorArithmetic, input: ir.Value) -> Parameters:
    """Scales, f64, and zero points, i64, of shape [.., 1] for the ranges of the rows of an input [.., n]."""
    source, i32, i64 = element_type(input), integer_type(32), integer_type(64)
    low, high = _range(a, input, [-1])
    scale = _quotient(a, a.round_to(a.subtract(high, low), source), float(TOKEN_RANGE[1] - TOKEN_RANGE[0]), source)
    scale = a.maximum(scale, _number_in(LEAST_TOKEN_SCALE, source))
    first, last = (a.round_to(a.divide(end, scale), source) for end in (low, high))
    least, most = (_number_in(bound, source) for bound in TOKEN_RANGE)
    errors = [a.round_to(a.add(end, bound), source) for end, bound in ((first, least), (last, most))]
    from_first = a.greater(a.round_to(a.add(*errors), source), 0.0)
    ends = [a.round_to(a.subtract(bound, end), source) for end, bound in ((first, least), (last, most))]
    chosen = a.clamp(a.select(from_first, *ends), least, most)
    is_number = a.equal(chosen, chosen)
    zero_points = a.extend(a.round_to_integer(a.select(is_number, chosen, 0.0), i32), i64)
    return a.convert_float(scale, ir.F64Type.get()), a.select(is_number, zero_points, -(2**63))


def _in_one_dimension(a: TensorArithmetic, input: ir.Value) -> ir.Value:
    return a.reshape(input, [1]) if ir.RankedTensorType(input.type).rank == 0 else input


def _axes(input: ir.Value) -> list[int]:
    return list(range(max(1, ir.RankedTensorType(input.type).rank)))


def _range(a: TensorArithmetic, input: ir.Value, axes: list[int]) -> tuple[ir.Value, ir.Value]:
    """Least and greatest value, and 0 among them, in the compute type; NaN propagates."""
    value = a.convert_float(input, compute_type(element_type(input)))
    axes = [axis % ir.RankedTensorType(input.type).rank for axis in axes]
    return a.minimum(a.reduce_minimum(value, axes), 0.0), a.maximum(a.reduce_maximum(value, axes), 0.0)


def _largest_magnitude(a: TensorArithmetic, input: ir.Value, axes: list[int]) -> ir.Value:
    value = a.convert_float(input, compute_type(element_type(input)))
    return a.reduce_maximum(a.absolute(value), [axis % ir.RankedTensorType(input.type).rank for axis in axes])


def _quotient(a: TensorArithmetic, value: ir.Value, divisor: float, element: ir.Type) -> ir.Value:
    """Divides by a number, which is not rounded to half precision before."""
    return a.round_to(a.divide(value, divisor), element)


def _number_in(value: float, element: ir.Type) -> float:
    return float(convert_element_type(np.float64(value), elements.numpy_dtype(element)))


def _widened(a: TensorArithmetic, scale: ir.Value) -> ir.Value:
    return a.convert_float(a.reshape(scale, [1]), ir.F64Type.get())


def _zeros(a: TensorArithmetic, value: ir.Value) -> ir.Value:
    """Zeros in the shape and type of a tensor of floats, none of which is greater than itself."""
    shape = shape_of(value)
    if DYNAMIC in shape:
        return a.select(a.greater(value, value), value, 0.0)
    return a.constant(np.zeros(shape), element_type(value))
