# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear interpolation along one dimension in integers.

A position is where an element of the result lies among those of the source: 1.25 is a quarter of the way from element
1 to element 2.
"""

from dataclasses import dataclass

import numpy as np

# Positions are computed in f32, those of whole scales are fractions of less than a hundred parts.
_POSITION_TOLERANCE = 1e-3
# Of a product with a denominator.
_PART_TOLERANCE = 5e-3
_FEW_PARTS = 128
# So that the weight of a whole element is an i16.
_MOST_PARTS = 1 << 14


@dataclass(frozen=True)
class Phases:
    """Interpolation to a multiple of the size, exactly.

    Element `q * s + p` of the result is `sum over t of weights[p, t] * x[clamp(q + first + t)] / denominator`.

    Attributes:
      weights: int64 of shape (s, taps), whose rows add up to the denominator.
    """

    weights: np.ndarray
    denominator: int
    first: int

    @property
    def scale(self) -> int:
        return self.weights.shape[0]

    @property
    def last(self) -> int:
        return self.first + self.weights.shape[1] - 1


def phases(positions: np.ndarray, size: int) -> Phases | None:
    """The phases of positions among `size` elements; None for those of no whole scale.

    Knows half-pixel centers, `(i + 1/2) / s - 1/2`, and the asymmetric `i / s`.
    """
    scale, rest = divmod(len(positions), size)
    if rest or not scale:
        return None
    half_pixel = ((2 * np.arange(scale) + 1 - scale) / (2 * scale), scale if scale % 2 else 2 * scale)
    asymmetric = (np.arange(scale) / scale, scale)
    for offsets, denominator in (half_pixel, asymmetric):
        expected = np.clip(np.arange(size)[:, None] + offsets, 0, size - 1).reshape(-1)
        if np.allclose(positions, expected, rtol=0, atol=_POSITION_TOLERANCE):
            taps = np.arange(np.floor(offsets.min()), np.ceil(offsets.max()) + 1)
            weights = np.maximum(0, 1 - np.abs(offsets[:, None] - taps))
            return Phases(np.rint(weights * denominator).astype(np.int64), denominator, int(taps[0]))
    return None


def interpolation_matrix(positions: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Weights of linear interpolation at any positions, in units of one part of a denominator.

    They are exact where the positions are fractions of so many parts: whole ones of the result's size or its double,
    as sizes give them, or of any number up to 128; of 2^14 parts otherwise.

    Returns:
      The weights, int8 or int16 of shape (size, positions), whose columns add up to the denominator; the denominator.
    """
    count = len(positions)
    candidates = (*range(1, _FEW_PARTS + 1), count, 2 * count, count - 1)
    exact = (each for each in candidates if 0 < each <= _MOST_PARTS and _are_fractions(positions, each))
    denominator = next(exact, _MOST_PARTS)
    parts = np.rint(np.clip(positions, 0, size - 1) * denominator).astype(np.int64)
    lower, part = np.divmod(parts, denominator)
    matrix, columns = np.zeros((size, count), np.int64), np.arange(count)
    np.add.at(matrix, (lower, columns), denominator - part)
    np.add.at(matrix, (np.minimum(lower + 1, size - 1), columns), part)
    return matrix.astype(np.int8 if denominator <= 127 else np.int16), denominator


def _are_fractions(positions: np.ndarray, denominator: int) -> bool:
    parts = positions * denominator
    return bool(np.all(np.abs(parts - np.rint(parts)) <= _PART_TOLERANCE))


def interpolate(x: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Bilinear interpolation of images in the last two dimensions, in float64."""
    for axis, positions in ((-2, rows), (-1, columns)):
        size = x.shape[axis]
        lower = np.clip(np.floor(positions), 0, size - 1).astype(np.int64)
        shape = [1] * x.ndim
        shape[axis] = -1
        part = (positions - lower).reshape(shape)
        x = x.take(lower, axis) * (1 - part) + x.take(np.minimum(lower + 1, size - 1), axis) * part
    return x
