# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays against a reference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torq_mlir.gen_config.files import Distribution, Metrics, Values

_BINS = 32


@dataclass(frozen=True)
class Step:
    """Quantization of a tensor: for integers what they stand for, for floats what they are multiples of."""

    scale: float
    zero_point: int = 0


def compare(actual: np.ndarray, expected: np.ndarray, step: Step | None = None) -> Metrics:
    """How far `actual` is from `expected`, of the same shape and dtype.

    Args:
      step: of quantized values; that of integers only moves the signal that the noise is compared to.
    """
    integers = expected.dtype.kind in "iub"
    ours, theirs = actual.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        difference = np.where(equal, 0.0, np.abs(ours - theirs))
    max_abs = float(difference.max(initial=0.0))
    max_lsb = max_abs if integers else None
    if not integers and step is not None and step.scale > 0:
        max_lsb = float(np.rint(max_abs / step.scale)) if math.isfinite(max_abs) else max_abs
    if integers and step is not None:
        ours, theirs = ours - step.zero_point, theirs - step.zero_point
    return Metrics(
        elements=theirs.size,
        mismatches=int(theirs.size - np.count_nonzero(equal)),
        max_lsb=max_lsb,
        max_abs=max_abs,
        max_reference=float(np.abs(theirs).max(initial=0.0)),
        sqnr_db=sqnr_db(ours, theirs),
        cosine=min(1.0, cosine(ours, theirs)),
    )


def sqnr_db(actual: np.ndarray, expected: np.ndarray) -> float:
    """Signal to quantization noise ratio, `10 log10(sum(expected^2) / sum((actual - expected)^2))`; inf when equal."""
    if np.array_equal(actual, expected, equal_nan=True):
        return math.inf
    with np.errstate(invalid="ignore"):
        noise = float(np.sum((actual - expected) ** 2))
    signal = float(np.sum(expected**2))
    if math.isinf(noise) or not signal:
        return -math.inf
    return 10 * math.log10(signal / noise) if noise else math.inf


def cosine(actual: np.ndarray, expected: np.ndarray) -> float:
    """Cosine of the angle between two vectors; of a vector of zeros, whether both are equal."""
    norms = float(np.linalg.norm(actual) * np.linalg.norm(expected))
    return float(actual @ expected) / norms if norms else float(np.array_equal(actual, expected))


def worst(found: Sequence[Metrics]) -> int:
    """Position of the output that is farthest from its reference."""
    return max(range(len(found)), key=lambda index: (_nan_first(found[index].max_lsb), -found[index].sqnr_db))


def _nan_first(value: float | None) -> float:
    return math.inf if value is not None and math.isnan(value) else value or 0.0


def values(output: str, actual: np.ndarray, expected: np.ndarray) -> Values:
    """Where the finite values of both lie, over common bins."""
    ours, theirs = (_finite(array) for array in (actual, expected))
    both = np.concatenate([ours, theirs])
    low, high = float(both.min(initial=np.inf)), float(both.max(initial=-np.inf))
    if not both.size:
        low = high = 0.0
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    return Values(output, low, high, reference=_distribution(theirs, edges), ours=_distribution(ours, edges))


def _finite(array: np.ndarray) -> np.ndarray:
    flat = array.astype(np.float64).ravel()
    return flat[np.isfinite(flat)]


def _distribution(array: np.ndarray, edges: np.ndarray) -> Distribution:
    if not array.size:
        return Distribution(0.0, 0.0)
    counts, _ = np.histogram(array, edges)
    return Distribution(float(array.min()), float(array.max()), tuple(int(count) for count in counts))
