# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled model gives as a whole, against the reference."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Outputs of the same inputs, compared over all samples.

    Attributes:
      max_lsb: greatest difference of the last quantized tensors, in steps of their scales; None when they are unknown.
      mismatch_rate: fraction of the elements of the last quantized tensors that differ; None when they are unknown.
      sqnr_db: signal to quantization noise ratio of the model's outputs; infinite when they are equal.
      cosine: cosine similarity of the model's outputs.
      top1: fraction of the samples whose greatest output is the same one.
    """

    max_lsb: int | None
    mismatch_rate: float | None
    sqnr_db: float
    cosine: float
    top1: float


def agreement(
    integers: Sequence[tuple[np.ndarray, np.ndarray]], outputs: Sequence[tuple[np.ndarray, np.ndarray]]
) -> Agreement:
    """Compares `(actual, expected)` pairs.

    Args:
      integers: last quantized tensors.
      outputs: outputs of the model as real numbers, one pair for each sample and output.
    """
    differences = [np.abs(actual.astype(np.int64) - expected.astype(np.int64)).ravel() for actual, expected in integers]
    steps = np.concatenate(differences) if differences else None
    actual = np.concatenate([pair[0].astype(np.float64).ravel() for pair in outputs])
    expected = np.concatenate([pair[1].astype(np.float64).ravel() for pair in outputs])
    return Agreement(
        max_lsb=None if steps is None else int(steps.max()),
        mismatch_rate=None if steps is None else float(np.count_nonzero(steps) / steps.size),
        sqnr_db=sqnr_db(actual, expected),
        cosine=cosine(actual, expected),
        top1=float(np.mean([np.argmax(pair[0]) == np.argmax(pair[1]) for pair in outputs])),
    )


def sqnr_db(actual: np.ndarray, expected: np.ndarray) -> float:
    noise = float(np.sum((actual - expected) ** 2))
    signal = float(np.sum(expected**2))
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def cosine(actual: np.ndarray, expected: np.ndarray) -> float:
    norms = float(np.linalg.norm(actual) * np.linalg.norm(expected))
    return float(actual @ expected) / norms if norms else float(np.array_equal(actual, expected))
