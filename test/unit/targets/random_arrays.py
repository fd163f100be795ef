# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random values with the difficult ones among them."""

import ml_dtypes
import numpy as np

FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
STORAGE = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, -2.5, 1e-40, 6e-8, 6e4, -3e38, 127.5])


def floats(rng: np.random.Generator, shape, dtype) -> np.ndarray:
    """Ordinary numbers and ties, a tenth of them denormal, huge, infinite or NaN."""
    values = np.where(rng.random(shape) < 0.5, rng.integers(-600, 600, shape) / 4, rng.normal(0, 200, shape))
    values = np.where(rng.random(shape) < 0.1, rng.choice(SPECIAL, shape), values)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(values.astype(np.float32).astype(dtype))


def scales(rng: np.random.Generator, shape, dtype) -> np.ndarray:
    """Powers of two, with which there are ties, and others."""
    values = np.where(rng.random(shape) < 0.3, 2.0 ** rng.integers(-5, 4, shape), rng.uniform(2.0**-6, 8, shape))
    return np.asarray(values.astype(np.float32).astype(dtype))


def integers(rng: np.random.Generator, shape, dtype, low=None, high=None) -> np.ndarray:
    limits = np.iinfo(dtype)
    low, high = limits.min if low is None else max(low, limits.min), limits.max if high is None else high
    return np.asarray(rng.integers(low, high, shape, dtype=np.int64, endpoint=True).astype(dtype))


def bounds(rng: np.random.Generator, dtype) -> tuple[int, int]:
    """A range of a storage type, half of the time all of it."""
    limits = np.iinfo(dtype)
    low = limits.min if rng.random() < 0.5 else max(limits.min, -100) + rng.integers(0, 50)
    return int(low), int(limits.max if rng.random() < 0.5 else rng.integers(60, 100))


def one_of(rng: np.random.Generator, choices):
    return choices[rng.integers(len(choices))]
