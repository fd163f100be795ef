# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of 256 entries `(slope << 16) | (base & 0xffff)`, of two i16.

step:  y = base[x + 128]                                               for x in i8
line:  y = base[i] + floor((slope[i] * f + 2^7) / 2^8),  x + 2^15 = 256 * i + f      for x in i16
"""

import numpy as np

ENTRIES = 256
_INT16 = np.iinfo(np.int16)


def step_table(values: np.ndarray) -> np.ndarray:
    """The table whose entries are `values`, rounded half to even and clamped to i16.

    Args:
      values: float64 `[256]`, for x = -128, ..., 127.

    Returns:
      int32 `[256]`.
    """
    return _clamped(values) & 0xFFFF


def line_table(values: np.ndarray) -> np.ndarray:
    """The table that gives `values` at multiples of 256 and follows a line in between.

    Args:
      values: float64 `[257]`, for x = -2^15, -2^15 + 256, ..., 2^15; rounded half to even and clamped to i16.

    Returns:
      int32 `[256]`.

    Raises:
      ValueError: neighbours differ by more than an i16 holds.
    """
    bases = _clamped(values)
    slopes = np.diff(bases)
    if slopes.max() > _INT16.max or slopes.min() < _INT16.min:
        raise ValueError("neighbouring entries of the table differ by more than 16 bits")
    return (slopes << 16) | (bases[:-1] & 0xFFFF)


def power_of_two_table(low: int, exponents: dict[int, int]) -> np.ndarray:
    """Powers of two by the leading bit of an integer `a`, of which the table sees `floor(a / 2^low)`, at most 255.

    Args:
      low: the lowest bit that is seen.
      exponents: by position of the leading bit, from the least one that occurs on, exponents that do not increase.

    Returns:
      int32 `[256]`, for the 8 bits less 128. Where they are all 0 the leading bit is below them, and the entry is
      that of the least position: the minimum over tables of several `low` is the power of the leading bit.
    """
    bits = np.arange(ENTRIES)
    leading = np.where(bits == 0, -1, np.frexp(bits)[1] - 1) + low
    least, greatest = min(exponents), max(exponents)
    positions = np.where(bits == 0, least, np.clip(leading, least, greatest))
    return step_table(np.ldexp(1.0, [exponents[int(position)] for position in positions]))


def _clamped(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(np.asarray(values, np.float64)), _INT16.min, _INT16.max).astype(np.int32)
