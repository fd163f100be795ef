# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per token and per channel group, with the intermediate types of `numerics.groups`.

The axis of the groups is split in two, so that parameters stretch over a group; nothing of the size of the tensor is
made of them.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.float_steps import compute_type, promote_floats
from torq_mlir.rewriting.storage_clamp import storage_bounds
from torq_mlir.rewriting.structured import element_type, integer_type

from .arithmetic import DYNAMIC, Extent, Inexpressible, TensorArithmetic, extents_of, shape_of
from .parameters import (
    Placement,
    constant_integers,
    float_parameter,
    reciprocal,
    zero_point_in_float,
    zero_point_in_integer,
)
from .storage import Storage, round_and_store, store


@dataclass(frozen=True)
class Groups:
    """A tensor whose axis of groups is split, and what its parameters look like next to it.

    Attributes:
      value: the tensor; the dimension after `axis` is within a group. As it was where a group takes all of the axis.
      extents: of the tensor before.
      parameters: placement of scales and zero points.
    """

    value: ir.Value
    extents: list[int | Extent]
    parameters: Placement

    @classmethod
    def split(
        cls, a: TensorArithmetic, value: ir.Value, parameters: ir.Value, axis: int, group_size: int | None
    ) -> "Groups":
        """Splits by groups, or for no group size takes all of the axis as one."""
        extents, counts = extents_of(value), extents_of(parameters)
        axis %= len(extents)
        if group_size is not None and shape_of(value)[axis] == DYNAMIC:
            raise Inexpressible("groups along a dynamic dimension")
        if group_size is None or extents[axis] <= group_size:
            counts[axis] = 1
            return cls(value, extents, Placement(tuple(counts)))
        count = extents[axis] // group_size
        split = a.reshape(value, [*extents[:axis], count, group_size, *extents[axis + 1 :]])
        return cls(split, extents, Placement((*counts[:axis], count, 1, *counts[axis + 1 :])))

    def merge(self, a: TensorArithmetic, value: ir.Value) -> ir.Value:
        """A result in the shape that the tensor had."""
        return a.reshape(value, self.extents)


def quantize_groups(
    a: TensorArithmetic,
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None,
    *,
    axis: int,
    group_size: int | None,
    bounds: tuple[int, int],
    unsigned: bool,
    divide: bool,
    round_first: bool,
    storage_type: ir.IntegerType,
) -> ir.Value:
    """`clamp(round_half_even(input / scales + zero_points))`; see `numerics.groups.quantize_per_channel_group`.

    Args:
      input: tensor of f16, bf16, f32 or f64.
      scales: tensor of floats in the shape of the input, but with one element for each group along `axis`.
      zero_points: integers or floats, in the shape of the scales; None for 0.
      axis: dimension of the groups (negative counts from the end).
      group_size: elements of a group; None when all elements along `axis` are one.
      bounds: of the result.
      unsigned: the storage type is unsigned.
      divide: divide by the scales instead of multiplying by their reciprocals.
      round_first: round before the zero points are added.
      storage_type: signless integer type of the result.
    """
    groups = Groups.split(a, input, scales, axis, group_size)
    product_type = element_type(input)
    product_type = compute_type(product_type) if divide else promote_floats(product_type, element_type(scales))
    of_floats = zero_points is not None and isinstance(element_type(zero_points), ir.FloatType)
    sum_type = promote_floats(product_type, element_type(zero_points)) if of_floats else product_type
    compute, sum_compute = compute_type(product_type), compute_type(sum_type)
    value = a.convert_float(groups.value, compute)
    if divide:
        scaled = a.divide(value, float_parameter(a, scales, groups.parameters, compute))
    else:
        factor = reciprocal(a, scales, groups.parameters, element_type(scales), compute)
        scaled = a.multiply(value, factor)
    scaled = a.convert_float(a.round_to(scaled, product_type), sum_compute)
    bounds = tuple(_rounded(bound, sum_type, storage_bounds(storage_type, unsigned)) for bound in bounds)
    storage = Storage(storage_type, unsigned, *bounds, nan_is_low=divide)
    addend = None
    if zero_points is not None:
        constant = None if of_floats else constant_integers(zero_points, storage_type, unsigned)
        if round_first and constant is not None and sum_type == sum_compute:
            stored = round_and_store(a, scaled, storage, groups.parameters.shaped(constant))
            if stored is not None:
                return groups.merge(a, stored)
        if of_floats:
            addend = float_parameter(a, zero_points, groups.parameters, sum_compute)
        else:
            addend = zero_point_in_float(a, zero_points, groups.parameters, storage_type, unsigned, sum_type)
    if addend is not None:
        scaled = a.round_half_even(scaled) if round_first else scaled
        scaled = a.round_to(a.add(scaled, addend), sum_type)
    stored = round_and_store(a, scaled, storage)
    if stored is None:
        stored = store(a, a.round_half_even(scaled), storage)
    return groups.merge(a, stored)


def dequantize_groups(
    a: TensorArithmetic,
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None,
    *,
    axis: int,
    group_size: int | None,
    unsigned: bool,
    result_element_type: ir.Type,
) -> ir.Value:
    """`(input - zero_points) * scales`; see `numerics.groups.dequantize_per_channel_group`.

    Args:
      input: tensor of stored values, i4 to i32.
      scales, zero_points, axis, group_size, unsigned: as in `quantize_groups`.
      result_element_type: f16, bf16, f32 or f64.
    """
    groups = Groups.split(a, input, scales, axis, group_size)
    storage, scale_type = element_type(input), element_type(scales)
    difference_type = scale_type
    if zero_points is not None and isinstance(element_type(zero_points), ir.FloatType):
        difference_type = element_type(zero_points)
    product_type = promote_floats(difference_type, scale_type)
    compute = compute_type(product_type)
    difference = _difference(a, groups, storage, zero_points, difference_type, unsigned)
    scale = float_parameter(a, scales, groups.parameters, compute)
    product = a.multiply(a.convert_float(difference, compute), scale)
    result = a.convert_float(a.convert_float(product, product_type), result_element_type)
    return groups.merge(a, result)


def _difference(
    a: TensorArithmetic,
    groups: Groups,
    storage: ir.IntegerType,
    zero_points: ir.Value | None,
    difference_type: ir.Type,
    unsigned: bool,
) -> ir.Value:
    """`input - zero_points`, rounded to a type, in its compute type."""
    compute = compute_type(difference_type)

    def in_float(value: ir.Value, unsigned: bool) -> ir.Value:
        return a.round_to(a.integer_to_float(value, compute, unsigned), difference_type)

    if zero_points is None:
        return in_float(groups.value, unsigned)
    if isinstance(element_type(zero_points), ir.FloatType):
        zero_point = float_parameter(a, zero_points, groups.parameters, compute)
        return a.round_to(a.subtract(in_float(groups.value, unsigned), zero_point), difference_type)
    width = _difference_width(zero_points, storage, unsigned)
    value = a.extend(groups.value, integer_type(width), unsigned)
    value = a.subtract(value, zero_point_in_integer(a, zero_points, groups.parameters, storage, unsigned, width))
    return in_float(value, False)


def _difference_width(zero_points: ir.Value, storage: ir.IntegerType, unsigned: bool) -> int:
    """32 bits, or 64 where PyTorch has these or it would not be exact."""
    constant = constant_integers(zero_points, storage, unsigned)
    narrow = storage.width <= 16 and (
        element_type(zero_points).width <= 32 if constant is None else np.all(np.abs(constant.astype(float)) < 2.0**30)
    )
    return 32 if narrow else 64


def _rounded(bound: int, element: ir.Type, limits: tuple[int, int]) -> int:
    """A bound as it is in a floating-point type, but within the storage type."""
    rounded = float(convert_element_type(np.asarray(bound), elements.numpy_dtype(element)))
    return int(min(max(rounded, limits[0]), limits[1]))
