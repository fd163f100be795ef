# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real numbers as integers with a common power of two."""

import numpy as np

ZERO_SHIFT = 28  # shift of a scale of zero, where any would do


def fixed_point(values: np.ndarray, bits: int) -> tuple[np.ndarray, int]:
    """Integers `round_half_even(values * 2^shift)` in `bits` bits for the largest shift that is a multiple of 4.

    The product with a power of two is exact in float64 and so is its rounding: there is no other error than the half
    unit of the rounding. All values share the shift; it is limited by the one of greatest magnitude.

    Args:
      values: float64, any shape. Negative values are allowed.
      bits: width of the signed integers, at most 32.

    Returns:
      The integers, int64, in the shape of `values`, and the shift, at least 0; `(0, 28)` when all values are zero.

    Raises:
      ValueError: a value is not finite, or so large that even with shift 0 it does not fit.
    """
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"scale {values[~np.isfinite(values)].flat[0]} is not finite")
    magnitude = np.abs(values).max(initial=0.0)
    if magnitude == 0.0:
        return np.zeros(values.shape, dtype=np.int64), ZERO_SHIFT
    _, exponent = np.frexp(magnitude)  # magnitude in [2^(exponent - 1), 2^exponent)
    limit = 2 ** (bits - 1)
    shift = (bits - int(exponent)) // 4 * 4  # magnitude * 2^shift >= limit beyond this one
    while shift >= 0:
        rounded = np.rint(np.ldexp(values, shift))
        if rounded.min() >= -limit and rounded.max() < limit:
            return rounded.astype(np.int64), shift
        shift -= 4
    raise ValueError(f"scale {magnitude} is too large for a multiplier of {bits} bits: it must be below {limit - 0.5}")
