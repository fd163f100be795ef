# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize with parameters for each token or channel group, as linalg.generic on the elements.

Scales and zero points are indexed by what the axis is divided by, so that nothing of the size of the tensor is made of
them; what depends on a parameter alone is computed ahead of the loop. Every step rounds to the type to which its
operands promote, as PyTorch's does. Ops are created at the current insertion point.
"""

import contextlib
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math

from torq_mlir.dialects import elements
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.float_steps import compute_type, integer_in, promote_floats, round_to
from torq_mlir.rewriting.storage_clamp import StorageClamp, storage_bounds
from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    convert_float,
    element_type,
    empty_like,
    extend,
    integer_type,
    scalar_constant,
)


def dequantize_groups_generic(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None,
    *,
    axis: int,
    group_size: int | None,
    unsigned: bool,
    result_element_type: ir.Type,
    loc: ir.Location | None = None,
) -> ir.Value:
    """`(input - zero_points) * scales`; see `numerics.groups.dequantize_per_channel_group`.

    Args:
      input: tensor of stored values, i4 to i32.
      scales: tensor of floats in the shape of the input, but with one element for each group along `axis`.
      zero_points: integers or floats, in the shape of the scales; None for zero, then nothing is subtracted. Those no
        wider than an unsigned storage type are unsigned too.
      axis: dimension of the groups (negative counts from the end).
      group_size: elements of a group; None when all elements along `axis` are one.
      unsigned: the stored values are unsigned.
      result_element_type: f16, bf16, f32 or f64.
    """
    with loc or contextlib.nullcontext():
        parameters, body = group_dequantization(
            element_type(input), scales, zero_points, unsigned=unsigned, result_element_type=result_element_type
        )
        return _over_groups(input, parameters, axis, group_size, result_element_type, body)


def group_dequantization(
    storage: ir.IntegerType,
    scales: ir.Value,
    zero_points: ir.Value | None,
    *,
    unsigned: bool,
    result_element_type: ir.Type,
) -> tuple[list[ir.Value], Callable[..., ir.Value]]:
    """The arithmetic of `dequantize_groups_generic` on one element, and the parameters that it takes.

    Returns:
      Tensors in the shape of the scales, and a function that builds the dequantized value of a stored value (of the
      storage type or wider) and an element of each of them.
    """
    scale_type = difference_type = element_type(scales)
    zero_point = None
    if zero_points is not None and isinstance(element_type(zero_points), ir.FloatType):
        difference_type = element_type(zero_points)
        zero_point = _float_parameter(zero_points, compute_type(difference_type))
    elif zero_points is not None:
        zero_point = _integer_parameter(zero_points, storage, unsigned)
    product_type = promote_floats(difference_type, scale_type)
    compute = compute_type(product_type)

    def difference(value: ir.Value, zero_point: ir.Value | None) -> ir.Value:
        if zero_point is not None and isinstance(zero_point.type, ir.FloatType):
            value = integer_in(value, difference_type, unsigned)
            return round_to(arith.subf(value, zero_point), difference_type)
        value = extend(value, integer_type(32) if zero_point is None else zero_point.type, unsigned)
        value = value if zero_point is None else arith.subi(value, zero_point)
        # Only when nothing was subtracted can a 32-bit value still be unsigned, and there is no such storage type.
        return integer_in(value, difference_type, unsigned=False)

    def body(value: ir.Value, scale: ir.Value, zero_point: ir.Value | None = None) -> ir.Value:
        product = arith.mulf(convert_float(difference(value, zero_point), compute), scale)
        return convert_float(convert_float(product, product_type), result_element_type)

    return [_float_parameter(scales, compute), *([] if zero_point is None else [zero_point])], body


def quantize_groups_generic(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None,
    *,
    axis: int,
    group_size: int | None,
    quant_min: int,
    quant_max: int,
    unsigned: bool,
    divide: bool,
    round_first: bool,
    storage_type: ir.Type,
    loc: ir.Location | None = None,
) -> ir.Value:
    """`clamp(round_half_even(input * (1 / scales) + zero_points), quant_min, quant_max)`.

    See `numerics.groups.quantize_per_channel_group` for the types of the steps, NaN, `divide` and `round_first`.

    Args:
      input: tensor of f16, bf16, f32 or f64.
      scales, zero_points, axis, group_size: as in `dequantize_groups_generic`.
      quant_min, quant_max: bounds of the result.
      unsigned: the storage type is unsigned.
      storage_type: signless integer type of the result, i4 to i32.
    """
    with loc or contextlib.nullcontext():
        product_type = element_type(input)
        product_type = compute_type(product_type) if divide else promote_floats(product_type, element_type(scales))
        sum_type = product_type
        if zero_points is not None and isinstance(element_type(zero_points), ir.FloatType):
            sum_type = promote_floats(product_type, element_type(zero_points))
        compute, sum_compute = compute_type(product_type), compute_type(sum_type)
        parameters = [_float_parameter(scales, compute) if divide else _reciprocals(scales, compute)]
        if zero_points is not None:
            parameters.append(_addend(zero_points, sum_type, storage_type, unsigned))
        bounds = _rounded_bounds((quant_min, quant_max), sum_type, storage_bounds(storage_type, unsigned))
        clamp = StorageClamp(*bounds, storage_type, unsigned, sum_compute)
        not_a_number = clamp.low if divide else scalar_constant(sum_compute, 0)

        def body(value: ir.Value, factor: ir.Value, zero_point: ir.Value | None = None) -> ir.Value:
            value = convert_float(value, compute)
            value = arith.divf(value, factor) if divide else arith.mulf(value, factor)
            value = convert_float(round_to(value, product_type), sum_compute)
            if round_first:
                value = math.roundeven(value)
            if zero_point is not None:
                value = round_to(arith.addf(value, zero_point), sum_type)
            return clamp.to_storage(math.roundeven(value), not_a_number)

        return _over_groups(input, parameters, axis, group_size, storage_type, body)


def _over_groups(
    input: ir.Value,
    parameters: Sequence[ir.Value],
    axis: int,
    group_size: int | None,
    result_element_type: ir.Type,
    body: Callable[..., ir.Value],
) -> ir.Value:
    """linalg.generic over `input` and the parameters of the group that each element is in."""
    rank = ir.RankedTensorType(input.type).rank
    identity = ir.AffineMap.get_identity(rank)
    maps = [_group_map(ir.RankedTensorType(each.type).shape, axis % rank, group_size) for each in parameters]
    return build_generic(
        [input, *parameters],
        empty_like(input, result_element_type),
        [identity, *maps, identity],
        [PARALLEL] * rank,
        lambda *values: body(*values[:-1]),
    )


def _group_map(shape: Sequence[int], axis: int, group_size: int | None) -> ir.AffineMap:
    expressions: list[ir.AffineExpr] = [ir.AffineExpr.get_dim(d) for d in range(len(shape))]
    if group_size is None or shape[axis] == 1:
        expressions[axis] = ir.AffineExpr.get_constant(0)
    else:
        expressions[axis] = ir.AffineExpr.get_floor_div(expressions[axis], group_size)
    return ir.AffineMap.get(len(shape), 0, expressions)


def _float_parameter(values: ir.Value, compute: ir.Type) -> ir.Value:
    return _parameter(values, compute, lambda scalar: convert_float(scalar, compute))


def _reciprocals(scales: ir.Value, compute: ir.Type) -> ir.Value:
    """1 / scales, rounded to the type of the scales."""
    element = element_type(scales)
    constant = elements.constant_value(scales)
    if constant is not None:
        with np.errstate(divide="ignore", over="ignore"):
            return _constant(np.ones((), constant.dtype) / constant, compute)
    wide = compute_type(element)
    one = scalar_constant(wide, 1)

    def convert(scale: ir.Value) -> ir.Value:
        return convert_float(round_to(arith.divf(one, convert_float(scale, wide)), element), compute)

    return build_elementwise([scales], empty_like(scales, compute), convert)


def _addend(zero_points: ir.Value, sum_type: ir.Type, storage: ir.IntegerType, unsigned: bool) -> ir.Value:
    """Zero points in the type of a sum, as values of its compute type."""
    source, compute = element_type(zero_points), compute_type(sum_type)
    if isinstance(source, ir.FloatType):
        return _float_parameter(zero_points, compute)
    unsigned = unsigned and source.width <= storage.width
    constant = _constant_integers(zero_points, unsigned)
    if constant is not None:
        return _constant(convert_element_type(constant, elements.numpy_dtype(sum_type)), compute)
    return _parameter(zero_points, compute, lambda scalar: integer_in(scalar, sum_type, unsigned))


def _integer_parameter(zero_points: ir.Value, storage: ir.IntegerType, unsigned: bool) -> ir.Value:
    """Zero points in the type of a difference: 32 bits, or 64 where PyTorch has these or it would not be exact."""
    source = element_type(zero_points)
    unsigned = unsigned and source.width <= storage.width
    constant = _constant_integers(zero_points, unsigned)
    narrow = storage.width <= 16 and (
        source.width <= 32 if constant is None else np.all(np.abs(constant.astype(np.float64)) < 2.0**30)
    )
    target = integer_type(32 if narrow else 64)
    if constant is not None:
        return _constant(constant, target)
    return _parameter(zero_points, target, lambda scalar: extend(scalar, target, unsigned))


def _constant_integers(values: ir.Value, unsigned: bool) -> np.ndarray | None:
    constant = elements.constant_value(values)
    if constant is None or not unsigned:
        return constant
    return constant.astype(np.int64) & ((1 << element_type(values).width) - 1)


def _parameter(values: ir.Value, target: ir.Type, convert: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """A parameter converted ahead of the loop."""
    if element_type(values) == target:
        return values
    constant = elements.constant_value(values)
    if constant is not None:
        return _constant(constant, target)
    return build_elementwise([values], empty_like(values, target), convert)


def _constant(values: np.ndarray, target: ir.Type) -> ir.Value:
    values = convert_element_type(values, elements.numpy_dtype(target))
    return arith.constant(None, elements.from_numpy(values, target))


def _rounded_bounds(bounds: Sequence[int], type_: ir.Type, limits: tuple[int, int]) -> list[int]:
    """Bounds as they are in a floating-point type, but within the storage type."""
    dtype = elements.numpy_dtype(type_)
    rounded = [float(convert_element_type(np.asarray(bound), dtype)) for bound in bounds]
    return [int(min(max(bound, limits[0]), limits[1])) for bound in rounded]
