# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maxima over windows, and means."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .accumulator import requantized, require_default, require_integers, require_numbers, shaped_like


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
    an identity, `[1]` and `[0, 1]`. bf16: the padding is minus infinity, `scale_bias` is `[0]`, nothing is clamped, and
    0 is greater than -0.
    """
    require_default("the layout of hardware is not interpreted", segment_output=segment_output)
    is_float = require_numbers(init=init, input=input)
    identity = [0] if is_float else [0, 1]
    if weights.tolist() != [1] or scale_bias.tolist() != identity:
        raise ValueError(f"weights {weights.tolist()} and scale_bias {scale_bias.tolist()} are not [1] and {identity}")
    left, right, top, bottom = pad
    padding = -np.inf if is_float else input_zp
    x = np.pad(input, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=padding)
    windows = sliding_window_view(x, kernel, axis=(2, 3))[:, :, :: stride[0], :: stride[1]]
    output = windows[..., 0, 0].copy()
    for position in np.ndindex(*kernel):  # faster than a maximum over the two short axes of the view
        value = windows[..., *position]
        output = _maximum_of_floats(output, value) if is_float else np.maximum(output, value)
    return shaped_like(init, output if is_float else np.clip(output, output_min, output_max))


def _maximum_of_floats(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The greater one, 0 of 0 and -0; of what numpy's maximum gives for those nothing is said."""
    equal = np.where(np.signbit(first), second, first)
    return np.where(first == second, equal, np.maximum(first, second))


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

    NHWC to `[N, 1, 1, C]`. `weights` is `[1]`, and `input_zp` is already in the bias. bf16: as `reduce_mean`.
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

    `weights` is `[1]`, and `input_zp` is already in the bias. bf16: `y = bf16(f32(sum_k x[.., k]) * w + bias)` in f32,
    one element after the other, with `weights` of f32, which stand for 1 / K.
    """
    return _mean(init, weights, scale_bias, input, (-1,), shift_factor, output_zp, output_min, output_max)


_REDUCTIONS = {"reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min}


def reduce(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    name: str,
    axis: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
) -> np.ndarray:
    """`y[.., ..] = clamp(rescale(f_k x[.., k, ..] + bias, multiplier, shift_factor) + output_zp, ...)`.

    `name` says what `f_k` is, over dimension `axis`, which the result does not have. `weights` is `[1]`, and the zero
    point is already in the bias.
    """
    require_integers(input=input)
    if weights.tolist() != [1]:
        raise ValueError(f"weights {weights.tolist()} of a reduction are not [1]")
    return requantized(
        init,
        np.asarray(_REDUCTIONS[name](input.astype(np.int64), axis=axis)),
        scale_bias,
        shift=shift_factor,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def argmax(init: np.ndarray, scale_bias: np.ndarray, input: np.ndarray, *, axis: int) -> np.ndarray:
    """The first position of the greatest element along dimension `axis`, which the result does not have."""
    require_integers(input=input)
    if scale_bias.tolist() != [0, 1]:
        raise ValueError(f"scale_bias {scale_bias.tolist()} is not [0, 1]")
    return shaped_like(init, np.asarray(input.argmax(axis=axis)).astype(init.dtype))


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
    if require_numbers(input=input):
        total = _sum_of_floats(input, axes) * weights.astype(np.float32)
    elif weights.tolist() != [1]:
        raise ValueError(f"weights {weights.tolist()} of a mean are not [1]")
    else:
        total = input.sum(axis=axes, keepdims=True, dtype=np.int64)
    return requantized(
        init,
        total,
        scale_bias,
        shift=shift,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def _sum_of_floats(input: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The sum in f32, one element after the other in their order; the dimensions stay."""
    kept = list(np.sum(input, axis=axes, keepdims=True).shape)
    rows = np.moveaxis(input.astype(np.float32), axes, range(len(axes))).reshape(-1, *kept)
    total = np.zeros(kept, np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for row in rows:
            total += row
    return total
