# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move or repeat elements."""

from collections.abc import Sequence

import numpy as np

from .accumulator import shaped_like

_DCR = 0


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


def gather(init: np.ndarray, values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """`y[i.., j..] = values[n, j..]` with `n = indices[i..]`, negative ones counted from the end, then clamped."""
    rows = values.shape[0]
    wrapped = np.where(indices < 0, indices.astype(np.int64) + rows, indices)
    return values[np.clip(wrapped, 0, rows - 1)]


def resize_nearest_neighbor(init: np.ndarray, input: np.ndarray, *, scale_factor: int) -> np.ndarray:
    """`y[n, c, i, j] = x[n, c, floor(i / scale_factor), floor(j / scale_factor)]`."""
    return input.repeat(scale_factor, axis=2).repeat(scale_factor, axis=3)


def depth_to_space(
    init: np.ndarray,
    weights: np.ndarray,
    input: np.ndarray,
    *,
    blockSize: int,  # noqa: N803  (the name of the attribute)
    mode_type: int,
) -> np.ndarray:
    """`y[n, c, h * b + i, w * b + j]` is channel `(i * b + j) * C + c` of `x[n, :, h, w]`, or `(c * b + i) * b + j`."""
    batch, channels, height, width = input.shape
    block = blockSize
    if mode_type == _DCR:
        blocks = input.reshape(batch, block, block, channels // block**2, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = input.reshape(batch, channels // block**2, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    return np.ascontiguousarray(blocks).reshape(init.shape)
