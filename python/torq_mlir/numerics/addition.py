# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized addition as a weighted sum.

(s1 * (x1 - z1) + s2 * (x2 - z2)) / sy = (x1 * w[0] + x2 * w[1] + bias) / 2^shift        up to the rounding of w
"""

import numpy as np

from .fixed_point import fixed_point

INT16_MAX = np.iinfo(np.int16).max


def add_weights(s1: float, s2: float, sy: float) -> tuple[np.ndarray, int]:
    """Weights of the inputs of an addition with scales `s1` and `s2` and an output of scale `sy`.

    Args:
      s1, s2: scales of the inputs; `-s2` makes a subtraction.
      sy: scale of the output.

    Returns:
      int16 `[2]`, `round_half_even(s1 / sy * 2^shift)` and `round_half_even(s2 / sy * 2^shift)`, and the shift, the
      largest multiple of 4 for which both fit in int16.

    Raises:
      ValueError: a scale is not finite, `sy` is zero, or a quotient is 32767.5 and more.
    """
    if sy == 0.0:
        raise ValueError("the scale of the output is zero")
    weights, shift = fixed_point(np.array([s1, s2], dtype=np.float64) / float(sy), bits=16)
    return weights.astype(np.int16), shift


def constant_scale(s1: float, sy: float, greatest: float) -> float:
    """The scale for constants to add, in i16, to an input of scale `s1`.

    It is that of a whole weight in the shift that the input's weight has, so that it adds no error; and the least one
    in which `greatest`, the magnitude of the constants, fits.

    Raises:
      ValueError: a scale is not finite, `sy` is zero, or the constants are too far from the output's range.
    """
    _, shift = add_weights(s1, 0.0, sy)
    steps = greatest / float(sy) * 2.0**shift
    if not np.isfinite(steps):
        raise ValueError(f"constants of {greatest} are not finite")
    weight = max(1, int(np.ceil(steps / INT16_MAX)))
    if weight > INT16_MAX:
        raise ValueError(f"constants of {greatest} are out of reach of an output with the scale {sy}")
    return float(sy) * weight / 2.0**shift


def add_bias(weights: np.ndarray, z1: int, z2: int) -> int:
    """`-(z1 * weights[0] + z2 * weights[1])`, the bias that compensates the zero points of both inputs.

    At most 2^31 - 2^16 in magnitude for zero points within int16, so it always fits in int32.
    """
    return -(int(z1) * int(weights[0]) + int(z2) * int(weights[1]))
