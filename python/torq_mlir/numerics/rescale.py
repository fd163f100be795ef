# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multiplication of int32 accumulators by a real scale, in integers.

    shift       = the largest multiple of 4 for which round(real_scale * 2^shift) fits in int32, for every channel
    rescale(a)  = floor((a * multiplier + 2^(shift - 1)) / 2^shift)        nothing is added for shift 0
    requantize  = clamp(rescale(a) + output_zp, output_min, output_max)

Ties round toward plus infinity.
"""

import math
from collections.abc import Sequence

import numpy as np

from .fixed_point import fixed_point

INT32 = np.iinfo(np.int32)


def real_scale(input_scales: Sequence[np.ndarray | float], output_scale: float, *, count: int = 1) -> np.ndarray:
    """`product(input_scales) / (output_scale * count)`, the scale from an accumulator to an output.

    The products of two float32 scales, and of a float32 scale and a count below 2^29, are exact in float64, so the
    division is the only rounding.

    Args:
      input_scales: scales of the operands that are multiplied, float32 or float64, which broadcast (0-d per tensor,
        `[C]` per channel).
      output_scale: scale of the output.
      count: elements that a mean divides by.

    Returns:
      float64, in the broadcast shape of the scales.

    Raises:
      ValueError: the output scale or the count is zero.
    """
    divisor = float(output_scale) * count
    if divisor == 0.0:
        raise ValueError(f"division by output scale {output_scale} times {count}")
    return np.asarray(math.prod(np.asarray(scale, dtype=np.float64) for scale in input_scales) / divisor)


def multiplier_and_shift(scale: np.ndarray | float) -> tuple[np.ndarray, int]:
    """A real scale as `multiplier / 2^shift`.

    Args:
      scale: float64, per tensor (0-d) or per channel (`[C]`); see `real_scale`.

    Returns:
      `multiplier`: int32 in the shape of `scale`, `round_half_even(scale * 2^shift)`.
      `shift`: the largest multiple of 4 for which every multiplier fits in int32. A scale of zero gives `(0, 28)`;
      tiny scales give shifts of 64 and more, which `rescale` defines as well.

    Raises:
      ValueError: a scale is not finite, or 2147483647.5 and more (it would need a left shift).
    """
    multiplier, shift = fixed_point(scale, bits=32)
    return multiplier.astype(np.int32), shift


def rescale(accumulator: np.ndarray, multiplier: np.ndarray | int, shift: int) -> np.ndarray:
    """`floor((accumulator * multiplier + 2^(shift - 1)) / 2^shift)`, exactly, for any shift.

    It is computed as `((product >> (shift - 1)) + 1) >> 1`, which is the same number by the rule of nested floors. The
    product is at most 2^62 in magnitude, and nothing is added to it before it is halved, so that no step can leave
    int64, and a shift of 64 or more needs no case of its own: the first shift leaves 0 or -1, the result is 0.

    Args:
      accumulator: integers within int32, any shape.
      multiplier: integers within int32, of a shape that broadcasts with that of `accumulator` (a channel axis in the
        middle needs trailing ones).
      shift: at least 0.

    Returns:
      int64 in the broadcast shape.

    Raises:
      TypeError: the accumulator or the multiplier is not of an integer type.
      OverflowError: a value of either is outside int32.
      ValueError: the shift is negative.
    """
    if shift < 0:
        raise ValueError(f"shift {shift} is negative")
    product = _int32_values(accumulator, "accumulator") * _int32_values(multiplier, "multiplier")
    if shift == 0:
        return product
    product >>= min(shift - 1, 63)
    product += 1
    product >>= 1
    return product


def requantize(
    accumulator: np.ndarray,
    multiplier: np.ndarray | int,
    shift: int,
    output_zp: int,
    output_min: int,
    output_max: int,
) -> np.ndarray:
    """`clamp(rescale(accumulator, multiplier, shift) + output_zp, output_min, output_max)`.

    Args:
      accumulator, multiplier, shift: as in `rescale`.
      output_zp: zero point of the output.
      output_min, output_max: bounds of the output, inclusive. A fused activation narrows them.

    Returns:
      int64 in the broadcast shape.

    Raises:
      ValueError: the bounds are not ordered; also what `rescale` raises.
    """
    if output_min > output_max:
        raise ValueError(f"output_min {output_min} is greater than output_max {output_max}")
    output = rescale(accumulator, multiplier, shift)
    output += output_zp
    return np.clip(output, output_min, output_max)


def _int32_values(values: np.ndarray | int, name: str) -> np.ndarray:
    """A new int64 array of values that are checked to be within int32."""
    values = np.asarray(values)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} is {values.dtype}, not an integer type")
    if values.dtype.itemsize >= 4 and values.dtype != np.int32 and values.size:
        smallest, largest = int(values.min()), int(values.max())
        if smallest < INT32.min or largest > INT32.max:
            raise OverflowError(f"{name} {smallest if smallest < INT32.min else largest} does not fit in int32")
    return values.astype(np.int64)
