# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From floats to stored integers, for every float."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.rewriting.storage_clamp import storage_bounds
from torq_mlir.rewriting.structured import element_type, integer_type

from .arithmetic import Operand, TensorArithmetic

# What is below this is an integer in f32 as well, together with a zero point as small.
_EXACT = 2**22


@dataclass(frozen=True)
class Storage:
    """Where quantized values go.

    Attributes:
      type: signless integer type.
      unsigned: it stores unsigned integers.
      low, high: bounds of the values; integers, or tensors in the compute type when known at run time only.
      nan_is_low: NaN becomes `low`, as in ONNX Runtime, and 0 otherwise, as in PyTorch.
    """

    type: ir.IntegerType
    unsigned: bool
    low: int | ir.Value
    high: int | ir.Value
    nan_is_low: bool

    def limits(self) -> tuple[int, int]:
        """The bounds within those of the type."""
        least, greatest = storage_bounds(self.type, self.unsigned)
        if isinstance(self.low, ir.Value):
            return least, greatest
        return max(self.low, least), min(self.high, greatest)

    def store(self, a: TensorArithmetic, integer: ir.Value) -> ir.Value:
        """An i32 within the bounds as it is stored."""
        if self.type.width == 32:
            return integer
        return a.truncate(integer, self.type, wraps=self.unsigned)


def round_and_store(
    a: TensorArithmetic, value: ir.Value, storage: Storage, zero_point: np.ndarray | None = None
) -> ir.Value | None:
    """`clamp(round_half_even(value) + zero_point)`, with the clamp first and the sum in integers.

    The bounds of the clamp are integers, which rounding keeps: its place makes no difference.

    Args:
      value: f32 or f64.
      zero_point: integers in the extents of a parameter; None for 0.

    Returns:
      None where floats of these magnitudes are not exact, or the bounds are not constant.
    """
    zero_point = np.zeros((), np.int64) if zero_point is None else zero_point
    if isinstance(storage.low, ir.Value) or storage.type.width > 16 or np.abs(zero_point).max(initial=0) >= _EXACT:
        return None
    zero_point = zero_point.flat[0] if zero_point.size and np.all(zero_point == zero_point.flat[0]) else zero_point
    low, high = (limit - zero_point for limit in storage.limits())
    nan = low if storage.nan_is_low else -zero_point
    clamped = _clamp(a, value, low, high)
    ordered = a.select(a.equal(value, value), clamped, _operand(a, nan, element_type(value)))
    integer = a.round_to_integer(ordered, integer_type(32))
    if np.any(zero_point):
        integer = a.add(integer, _operand(a, zero_point, integer_type(32)))
    return storage.store(a, integer)


def store(a: TensorArithmetic, value: ir.Value, storage: Storage) -> ir.Value:
    """`clamp(value)` of a float without a fraction."""
    element = element_type(value)
    limits = storage.limits()
    # The bounds of i32 need not be floats. What is converted stays between floats that are inside; a value beyond the
    # greater of these stands for the bound itself.
    low, high = (_toward_zero(limit, element) for limit in limits)
    not_a_number: Operand = low if storage.nan_is_low else 0
    if isinstance(storage.low, ir.Value):
        not_a_number = storage.low if storage.nan_is_low else 0
        value = a.minimum(a.maximum(value, storage.low), storage.high)
    clamped = a.select(a.equal(value, value), a.clamp(value, low, high), not_a_number)
    integer = a.round_to_integer(clamped, integer_type(32))
    if high != limits[1]:
        integer = a.select(a.greater(value, high), limits[1], integer)
    return storage.store(a, integer)


def _clamp(a: TensorArithmetic, value: ir.Value, low: np.ndarray, high: np.ndarray) -> ir.Value:
    if np.ndim(low) == 0:
        return a.clamp(value, low, high)
    element = element_type(value)
    return a.minimum(a.maximum(value, a.constant(low, element)), a.constant(high, element))


def _operand(a: TensorArithmetic, values: np.ndarray, element: ir.Type) -> Operand:
    return int(values) if np.ndim(values) == 0 else a.constant(values, element)


def _toward_zero(value: int, element: ir.Type) -> int:
    """The float of the type nearest to the integer that is no farther from zero."""
    dtype = elements.numpy_dtype(element)
    rounded = dtype.type(value)
    return int(rounded if abs(int(rounded)) <= abs(value) else np.nextafter(rounded, dtype.type(0)))
