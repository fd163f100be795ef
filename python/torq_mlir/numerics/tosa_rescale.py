# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rescale of `numerics.rescale` in the parameters of `tosa.rescale`.

TOSA computes `(value * multiplier + 2^(shift - 1)) >> shift`, the same function with ties toward plus infinity, for
multipliers of 31 bits that are not negative, shifts from 2 to 62, and values below `2^(shift - 1)` in magnitude.
Multiplying by a power of two and shifting by as much more changes no result.
"""

import numpy as np

LEAST_SHIFT, GREATEST_SHIFT = 2, 62


def tosa_multiplier_and_shift(multiplier: np.ndarray, shift: int, greatest: int) -> tuple[np.ndarray, np.ndarray]:
    """Parameters for each channel.

    Args:
      multiplier, shift: as `numerics.rescale.multiplier_and_shift` returns them.
      greatest: magnitude that no value exceeds.

    Returns:
      Multipliers, int32, and shifts, int8, in the shape of `multiplier`: the greatest shift, for which every value is
      small enough.

    Raises:
      ValueError: TOSA has no such parameters: a multiplier is negative, a shift is below 2 (the scale is 2^29 or more),
        or values are not small enough.
    """
    multipliers = np.asarray(multiplier).astype(np.int64)
    if multipliers.min(initial=0) < 0:
        raise ValueError(f"tosa.rescale has no negative multiplier such as {multipliers.min()}")
    if shift > GREATEST_SHIFT:  # products of 62 bits: every result is 0
        multipliers, shift = np.zeros_like(multipliers), GREATEST_SHIFT
    bits = np.frexp(multipliers.astype(np.float64))[1].astype(np.int64)
    added = np.minimum(31 - bits, GREATEST_SHIFT - shift)
    shifts = shift + added
    if shifts.min(initial=GREATEST_SHIFT) < LEAST_SHIFT:
        raise ValueError(f"tosa.rescale has no shift of {shifts.min()}; the scale is too large")
    if greatest >= 1 << int(shifts.min(initial=GREATEST_SHIFT) - 1):
        raise ValueError(f"values of up to {greatest} are too large for a tosa.rescale with shift {shifts.min()}")
    return (multipliers << added).astype(np.int32), shifts.astype(np.int8)
