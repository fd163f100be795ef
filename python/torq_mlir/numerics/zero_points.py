# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Zero points of a contraction, and the range of its accumulator.

With `S` the reduced dimensions, `x` the input and `w` the weights of a contraction:

    sum_S (x - zx) * (w - zw) = sum_S x * w' - zx * sum_S w'        w' = w - zw

`w'` replaces the weights and the second term, constant per channel, goes into the bias.
"""

from collections.abc import Sequence

import numpy as np

INT32_MAX = np.iinfo(np.int32).max


def fold_weight_zero_point(weights: np.ndarray, zero_point: np.ndarray | int, axis: int | None = None) -> np.ndarray:
    """`weights - zero_point`, in int8 when the storage types make that always possible, else in int16.

    The dtype depends on the types and the zero point, never on the values of the weights: int8 for signed 8-bit
    weights with zero point 0 and for unsigned ones with zero point 128, int16 for other 8-bit weights.

    Args:
      weights: int8, uint8, int16 or uint16, any shape.
      zero_point: integers within the range of the storage type, one (0-d or `[1]`), or `[C]` along `axis`.
      axis: channel axis of the weights, may be negative; None for one zero point.

    Returns:
      int8 or int16, in the shape of `weights`; `weights` itself when there is nothing to do.

    Raises:
      TypeError: the weights are not of an 8- or 16-bit integer type.
      ValueError: a zero point is outside the storage type, or their number is not that of the channels.
      OverflowError: the difference of 16-bit weights does not fit in int16.
    """
    weights = np.asarray(weights)
    if weights.dtype.kind not in "iu" or weights.dtype.itemsize > 2:
        raise TypeError(f"weights are {weights.dtype}, not 8- or 16-bit integers")
    zero_point = _zero_point_along(zero_point, axis, weights)
    storage = np.iinfo(weights.dtype)
    smallest, largest = (int(zero_point.min()), int(zero_point.max())) if zero_point.size else (0, 0)
    if smallest < storage.min or largest > storage.max:
        outside = smallest if smallest < storage.min else largest
        raise ValueError(f"weight zero point {outside} is not a value of {weights.dtype}")
    if smallest == largest == 0 and weights.dtype.kind == "i":
        return weights
    difference = weights.astype(np.int32) - zero_point.astype(np.int32)
    if _fits(np.int8, storage.min - largest, storage.max - smallest):
        return difference.astype(np.int8)
    if difference.size and not _fits(np.int16, difference.min(), difference.max()):
        reach = f"[{difference.min()}, {difference.max()}]"
        raise OverflowError(f"weights less their zero point span {reach}, outside int16")
    return difference.astype(np.int16)


def input_zero_point_correction(weights: np.ndarray, input_zp: int, reduced_axes: Sequence[int]) -> np.ndarray:
    """`-input_zp * sum(weights, reduced_axes)`, to be added to the bias.

    Args:
      weights: integers with their zero point folded in.
      input_zp: zero point of the input.
      reduced_axes: axes of the weights that the contraction sums over, e.g. `(1, 2, 3)` for OIHW.

    Returns:
      int64 in the shape of the remaining axes.
    """
    return -int(input_zp) * weights.sum(axis=tuple(reduced_axes), dtype=np.int64)


def accumulator_bound(
    weights: np.ndarray, input_min: int, input_max: int, bias: np.ndarray | int, reduced_axes: Sequence[int]
) -> np.ndarray:
    """The greatest magnitude an accumulator can have while `sum x * weights + bias` is computed, in any order.

    Every partial sum, with and without the bias, is at most

        sum_S max(0, w * input_min, w * input_max) + max(0, bias)

    and at least the same with `min`; both are reached.

    Args:
      weights: integers with their zero point folded in.
      input_min, input_max: range of the input, inclusive, which contains the value that pads.
      bias: integers that broadcast to the shape of the result.
      reduced_axes: axes of the weights that the contraction sums over.

    Returns:
      int64 in the shape of the remaining axes: one bound for each output channel.
    """
    axes = tuple(reduced_axes)
    positive = np.maximum(weights, 0).sum(axis=axes, dtype=np.int64)
    negative = weights.sum(axis=axes, dtype=np.int64) - positive
    low, high = min(int(input_min), 0), max(int(input_max), 0)
    bias = np.asarray(bias, dtype=np.int64)
    greatest = positive * high + negative * low + np.maximum(bias, 0)
    least = positive * low + negative * high + np.minimum(bias, 0)
    return np.maximum(greatest, -least)


def check_int32_accumulator(bound: np.ndarray) -> None:
    """Refuses a contraction whose accumulator could leave int32.

    Args:
      bound: what `accumulator_bound` returns.

    Raises:
      OverflowError: a bound is above 2^31 - 1. The message names the first such channel and its bound.
    """
    bound = np.atleast_1d(bound)
    excessive = np.argwhere(bound > INT32_MAX)
    if excessive.size:
        index = tuple(int(i) for i in excessive[0])
        channel = index[0] if len(index) == 1 else index
        raise OverflowError(
            f"channel {channel}: the accumulator can reach {bound[index]}, above the int32 maximum {INT32_MAX}"
        )


def _zero_point_along(zero_point: np.ndarray | int, axis: int | None, weights: np.ndarray) -> np.ndarray:
    """Zero points in a shape that broadcasts along `axis` of the weights."""
    zero_point = np.asarray(zero_point)
    if zero_point.dtype.kind not in "iu":
        raise TypeError(f"zero point is {zero_point.dtype}, not an integer type")
    if axis is None:
        if zero_point.size != 1:
            raise ValueError(f"{zero_point.size} weight zero points need an axis")
        return zero_point.reshape(())
    if not -weights.ndim <= axis < weights.ndim:
        raise ValueError(f"axis {axis} is out of range for weights of rank {weights.ndim}")
    if zero_point.size not in (1, weights.shape[axis]):
        raise ValueError(f"{zero_point.size} weight zero points for {weights.shape[axis]} channels")
    shape = [1] * weights.ndim
    shape[axis] = zero_point.size
    return zero_point.reshape(shape)


def _fits(dtype: type, smallest: int, largest: int) -> bool:
    limits = np.iinfo(dtype)
    return limits.min <= smallest and largest <= limits.max
