# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Biases in the units of the accumulator."""

from fractions import Fraction

import numpy as np

INT32 = np.iinfo(np.int32)

# The float64 product and quotient are within 2^-20 of the exact number when that is below 2^32.
_QUOTIENT_ERROR = 2.0**-19

# float32 products of the scales, and decimal forms of those, are within this of the exact product, relatively.
_SCALE_TOLERANCE = 2.0**-22


def is_accumulator_scale(bias_scale: np.ndarray | float, scale: np.ndarray | float) -> bool:
    """Whether a bias stored with `bias_scale` already is in the units of an accumulator of `scale = sx * sw`.

    Quantizers store the float32 product of the two scales, which differs from the exact one in the last place.
    """
    bias_scale, scale = np.asarray(bias_scale, dtype=np.float64), np.asarray(scale, dtype=np.float64)
    return bool((np.abs(bias_scale - scale) <= _SCALE_TOLERANCE * np.abs(scale)).all())


def requantize_bias(bias: np.ndarray, scale: np.ndarray | float, *, bias_scale: np.ndarray | float = 1.0) -> np.ndarray:
    """`round_half_even(bias * bias_scale / scale)`, exactly.

    Args:
      bias: float or int32 values, 0-d or `[C]`.
      scale: scale of the accumulator, `sx * sw`, float64, one or `[C]`.
      bias_scale: scale of an integer bias, one or `[C]`.

    Returns:
      int32 in the broadcast shape of the arguments.

    Raises:
      ValueError: a bias is not finite, or a scale not finite and positive. Names the channel.
      OverflowError: a value does not fit in int32. Names the channel.
    """
    bias, scale, bias_scale = np.broadcast_arrays(
        *(np.asarray(values, dtype=np.float64) for values in (bias, scale, bias_scale))
    )
    _check("bias", bias, np.isfinite(bias), "finite")
    _check("scale", scale, np.isfinite(scale) & (scale > 0), "finite and positive")
    _check("bias scale", bias_scale, np.isfinite(bias_scale) & (bias_scale > 0), "finite and positive")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        quotient = bias * bias_scale / scale
        rounded = np.asarray(np.rint(quotient))
        # float64 decides, except where its error could carry the quotient across a tie.
        undecided = np.abs(np.abs(quotient - rounded) - 0.5) <= _QUOTIENT_ERROR
    for index in np.argwhere(undecided):
        index = tuple(index)
        exact = Fraction(bias[index].item()) * Fraction(bias_scale[index].item()) / Fraction(scale[index].item())
        rounded[index] = round(exact)
    excessive = (rounded < INT32.min) | (rounded > INT32.max)
    if excessive.any():
        channel, value = _first(bias, excessive)
        _, units = _first(rounded, excessive)
        raise OverflowError(f"{channel}bias {value} is {units:.6g} units of the accumulator, outside int32")
    return rounded.astype(np.int32)


def add_correction(bias: np.ndarray, correction: np.ndarray) -> np.ndarray:
    """`bias + correction` of an int32 bias and an int64 zero-point correction.

    Returns:
      int32 in the broadcast shape.

    Raises:
      OverflowError: a sum does not fit in int32. Names the channel.
    """
    total = np.asarray(np.asarray(bias, dtype=np.int64) + np.asarray(correction, dtype=np.int64))
    excessive = (total < INT32.min) | (total > INT32.max)
    if excessive.any():
        channel, value = _first(total, excessive)
        raise OverflowError(f"{channel}bias with its zero-point correction is {value}, outside int32")
    return total.astype(np.int32)


def _check(name: str, values: np.ndarray, valid: np.ndarray, requirement: str) -> None:
    if not valid.all():
        channel, value = _first(values, ~valid)
        raise ValueError(f"{channel}{name} {value} is not {requirement}")


def _first(values: np.ndarray, selected: np.ndarray) -> tuple[str, object]:
    """Where the first selected value is ("channel 3: ", nothing for a scalar), and the value."""
    index = tuple(int(i) for i in np.argwhere(selected)[0])
    return f"channel {', '.join(map(str, index))}: " if index else "", values[index]
