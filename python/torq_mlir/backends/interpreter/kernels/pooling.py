# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maxima over windows, and means."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .accumulator import requantized, require_default, require_integers, shaped_like


def maxpool2d(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    input_zp: int,
    output_min: int,
    output_max: int,
    stride: Sequence[int],
    pad: Sequence[int],
    kernel: Sequence[int],
    segment_output: bool = False,
) -> np.ndarray:
    """`y[n, c, i, j] = clamp(max over the window of x[n, c, ..], output_min, output_max)`.

    NCHW. `pad` is `[left, right, top, bottom]`; the padding holds `input_zp`. `weights` and `scale_bias` are those of
    an identity, `[1]` and `[0, 1]`.
    """
    require_default("the layout of hardware is not interpreted", segment_output=segment_output)
    require_integers(init=init, input=input)
    if weights.tolist() != [1] or scale_bias.tolist() != [0, 1]:
        raise ValueError(f"weights {weights.tolist()} and scale_bias {scale_bias.tolist()} are not [1] and [0, 1]")
    left, right, top, bottom = pad
    x = np.pad(input, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=input_zp)
    windows = sliding_window_view(x, kernel, axis=(2, 3))[:, :, :: stride[0], :: stride[1]]
    output = windows[..., 0, 0].copy()
    for position in np.ndindex(*kernel):  # faster than a maximum over the two short axes of the view
        np.maximum(output, windows[..., *position], out=output)
    return shaped_like(init, np.clip(output, output_min, output_max))


def avg_pool2d(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    input_zp: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
) -> np.ndarray:
    """`y[n, 0, 0, c] = clamp(rescale(sum_hw x[n, h, w, c] + bias, multiplier, shift_factor) + output_zp, ...)`.

    NHWC to `[N, 1, 1, C]`. `weights` is `[1]`, and `input_zp` is already in the bias.
    """
    return _mean(init, weights, scale_bias, input, (1, 2), shift_factor, output_zp, output_min, output_max)


def reduce_mean(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    input_zp: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
) -> np.ndarray:
    """`y[.., 0] = clamp(rescale(sum_k x[.., k] + bias, multiplier, shift_factor) + output_zp, ...)`.

    `weights` is `[1]`, and `input_zp` is already in the bias.
    """
    return _mean(init, weights, scale_bias, input, (-1,), shift_factor, output_zp, output_min, output_max)


def _mean(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    axes: tuple[int, ...],
    shift: int,
    output_zp: int,
    output_min: int,
    output_max: int,
) -> np.ndarray:
    require_integers(input=input)
    if weights.tolist() != [1]:
        raise ValueError(f"weights {weights.tolist()} of a mean are not [1]")
    return requantized(
        init,
        input.sum(axis=axes, keepdims=True, dtype=np.int64),
        scale_bias,
        shift=shift,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )
