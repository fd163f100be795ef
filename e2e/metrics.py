# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled model gives as a whole, against the reference."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from torq_mlir.gen_config.comparing import cosine, sqnr_db


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Outputs of the same inputs, compared over all samples.

    Attributes:
      max_lsb: greatest difference of the last quantized tensors, in steps of their scales; None when they are unknown.
      mismatch_rate: fraction of the elements of the last quantized tensors that differ; None when they are unknown.
      sqnr_db: signal to quantization noise ratio of the model's outputs; infinite when they are equal.
      cosine: cosine similarity of the model's outputs.
      top1: fraction of the samples whose greatest output is the same one; of images, fraction of the pixels.
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
        top1=float(np.mean(np.concatenate([_greatest(actual) == _greatest(expected) for actual, expected in outputs]))),
    )


def _greatest(values: np.ndarray) -> np.ndarray:
    """Index of the greatest value, for each pixel of images `[N, channels, height, width]`."""
    return np.argmax(values, axis=1).ravel() if values.ndim == 4 else np.argmax(values).reshape(1)
