# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move or repeat elements."""

from collections.abc import Sequence

import numpy as np

from .accumulator import shaped_like


def transpose(init: np.ndarray, input: np.ndarray, *, perm: Sequence[int]) -> np.ndarray:
    """Dimension d of the result is dimension `perm[d]` of the input."""
    return shaped_like(init, input.transpose(perm))


def broadcast(init: np.ndarray, input: np.ndarray, *, dimensions: Sequence[int]) -> np.ndarray:
    """`y[..] = x[.. without dimensions]`: `dimensions` are those of the result that the input does not have."""
    return np.broadcast_to(np.expand_dims(input, tuple(dimensions)), init.shape)


def fill(init: np.ndarray, *, value: int) -> np.ndarray:
    """`y[..] = value`."""
    return np.full(init.shape, value, init.dtype)


def identity(init: np.ndarray, input: np.ndarray) -> np.ndarray:
    """`y = x`."""
    return shaped_like(init, input)
