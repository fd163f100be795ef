# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of quantized numbers, in integers.

Both sides are f32 numbers `float32(q - z) * float32(s)`, whose order depends on their rounding too: products of simple
scales can be equal in one pair of values and differ in the last place in another.
"""

import numpy as np


def dequantized(scale: float, zero_point: int, bits: int) -> np.ndarray:
    """The numbers that signed integers of `bits` bits stand for: f32 of shape (2^bits,), ascending."""
    integers = np.arange(-(1 << (bits - 1)), 1 << (bits - 1)) - int(zero_point)
    with np.errstate(over="ignore", invalid="ignore"):
        return integers.astype(np.float32) * np.float32(scale)


def ranks(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers that are ordered, among both arrays, as the numbers are: int64, 0 for the least number of all."""
    numbers = np.unique(np.concatenate([first, second]))
    return np.searchsorted(numbers, first), np.searchsorted(numbers, second)


def thresholds(values: np.ndarray, constants: np.ndarray, bits: int, inclusive: bool) -> np.ndarray:
    """The least integers whose numbers are above constants, or not below them where `inclusive`.

    Args:
      values: what the signed integers of `bits` bits stand for, ascending.

    Returns:
      int64 in the shape of the constants, from the least integer to one more than the greatest.
    """
    index = np.searchsorted(values.astype(np.float64), constants, side="left" if inclusive else "right")
    return np.asarray(index, np.int64) - (1 << (bits - 1))
