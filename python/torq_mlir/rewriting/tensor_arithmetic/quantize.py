# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per tensor and per channel, with the intermediate types of `numerics.quantize`."""

from torch_mlir import ir

from torq_mlir.rewriting.float_steps import compute_type
from torq_mlir.rewriting.structured import element_type, integer_type

from .arithmetic import TensorArithmetic
from .parameters import (
    Placement,
    constant_integers,
    float_parameter,
    reciprocal,
    zero_point_in_float,
    zero_point_in_integer,
)
from .storage import Storage, round_and_store, store


def quantize(
    a: TensorArithmetic,
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value | None,
    *,
    axis: int | None,
    bounds: tuple[int, int] | tuple[ir.Value, ir.Value],
    unsigned: bool,
    divide: bool,
    storage_type: ir.IntegerType,
) -> ir.Value:
    """`clamp(round_half_even(input / scale) + zero_point)`; see `numerics.quantize.quantize`.

    Args:
      input: tensor of f16, bf16, f32 or f64.
      scale: scalar or tensor of one element for `axis` None, 1-d tensor otherwise.
      zero_point: as `scale`, of any integer type; None for 0.
      axis: dimension that the parameters belong to, or None.
      bounds: of the result; scalars or tensors of one integer when known at run time only.
      unsigned: the storage type is unsigned.
      divide: divide by the scale instead of multiplying by its reciprocal.
      storage_type: signless integer type of the result.
    """
    promotes = axis is not None and not divide
    compute = compute_type(element_type(input), *([element_type(scale)] if promotes else []))
    placement = _placement(input, axis, scale)
    value = a.convert_float(input, compute)
    if divide:
        scaled = a.divide(value, float_parameter(a, scale, placement, compute))
    else:
        precision = ir.F64Type.get() if axis is None else element_type(scale)
        scaled = a.multiply(value, reciprocal(a, scale, placement, precision, compute))
    if isinstance(bounds[0], ir.Value):
        whole = Placement.per_tensor(input)
        bounds = tuple(zero_point_in_float(a, each, whole, storage_type, unsigned, compute) for each in bounds)
    storage = Storage(storage_type, unsigned, *bounds, nan_is_low=divide)
    constant = None if zero_point is None else constant_integers(zero_point, storage_type, unsigned)
    if zero_point is None or constant is not None:
        stored = round_and_store(a, scaled, storage, None if constant is None else placement.shaped(constant))
        if stored is not None:
            return stored
    rounded = a.round_half_even(scaled)
    if zero_point is not None:
        placement = _placement(input, axis, zero_point)
        rounded = a.add(rounded, zero_point_in_float(a, zero_point, placement, storage_type, unsigned, compute))
    return store(a, rounded, storage)


def dequantize(
    a: TensorArithmetic,
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value | None,
    *,
    axis: int | None,
    unsigned: bool,
    result_element_type: ir.Type,
) -> ir.Value:
    """`(input - zero_point) * scale`; see `numerics.quantize.dequantize`.

    Args:
      input: tensor of stored values, i4 to i32.
      scale, zero_point, axis: as in `quantize`.
      unsigned: the stored values are unsigned.
      result_element_type: f16, bf16, f32 or f64.
    """
    storage = element_type(input)
    product_type = result_element_type if axis is None else element_type(scale)
    compute = compute_type(product_type)
    # Up to i16 the order of subtraction and conversion makes no difference in f32. Otherwise PyTorch converts first for
    # one zero point, in the type of the result, and subtracts integers for many.
    wide = storage.width > 16
    as_float = axis is None and (wide or (storage.width == 16 and product_type != compute))
    value = input
    if zero_point is not None and not as_float:
        integer = integer_type(64 if wide else 32)
        placement = _placement(input, axis, zero_point)
        value = a.extend(value, integer, unsigned)
        value = a.subtract(value, zero_point_in_integer(a, zero_point, placement, storage, unsigned, integer.width))
        unsigned = False
    value = a.integer_to_float(value, compute, unsigned)
    if storage.width > 8:
        value = a.round_to(value, product_type)
    if zero_point is not None and as_float:
        placement = _placement(input, axis, zero_point)
        addend = zero_point_in_float(a, zero_point, placement, storage, unsigned, product_type)
        value = a.round_to(a.subtract(value, addend), product_type)
    product = a.multiply(value, float_parameter(a, scale, _placement(input, axis, scale), compute))
    return a.convert_float(a.convert_float(product, product_type), result_element_type)


def fake_quantize(
    a: TensorArithmetic,
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value,
    *,
    axis: int,
    bounds: tuple[int, int],
) -> ir.Value:
    """`(clamp(round_half_even(input / scales) + zero_points) - zero_points) * scales`, all in f32.

    See `numerics.fake_quantize`. Scales and zero points are 1-d tensors along `axis`.
    """
    f32, i32 = ir.F32Type.get(), integer_type(32)
    axis %= ir.RankedTensorType(input.type).rank
    channels = Placement.per_channel(input, axis, scales)
    scale = float_parameter(a, scales, channels, f32)
    channels_of_zero_points = Placement.per_channel(input, axis, zero_points)
    zero_point = zero_point_in_integer(a, zero_points, channels_of_zero_points, i32, unsigned=False, width=32)
    zero_point = a.integer_to_float(zero_point, f32)
    rounded = a.round_half_even(a.multiply(input, reciprocal(a, scales, channels, f32, f32)))
    clamped = a.clamp(a.add(rounded, zero_point), *bounds)
    return a.multiply(a.subtract(clamped, zero_point), scale)


def _placement(input: ir.Value, axis: int | None, parameter: ir.Value) -> Placement:
    if axis is None:
        return Placement.per_tensor(input)
    return Placement.per_channel(input, axis % ir.RankedTensorType(input.type).rank, parameter)
