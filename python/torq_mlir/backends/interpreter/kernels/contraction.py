# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products.

Sums of integers are computed as float64 matrix products, which are exact as long as they stay below 2^53. Products of
two bf16, which are exact in f32, are added in f32 one after the other, in the order of channels, rows and columns.
"""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .accumulator import BFLOAT16, as_unsigned, requantized, require_default, require_numbers

_EXACT = 2**53

# Elements of the input that are unrolled for one matrix product.
_BLOCK = 1 << 19

_NOT_FOLDED = "the weights must have their zero point folded in"
_LAYOUT = "the layout of hardware is not interpreted"


def conv2d(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    input_zp: int,
    weight_zp: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
    groups: int,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    vectorization_mode: int,
    nhwc_input: bool = False,
    segment_output: bool = False,
) -> np.ndarray:
    """`y[n, o] = clamp(rescale(sum x * w[o] + bias[o], multiplier[o], shift_factor) + output_zp, ...)`.

    Input and output are NCHW (input NHWC with `nhwc_input`), weights OIHW. `pad` is `[left, right, top, bottom]`; the
    padding holds `input_zp`.
    """
    require_default(_NOT_FOLDED, weight_zp=weight_zp)
    require_default(_LAYOUT, vectorization_mode=vectorization_mode, segment_output=segment_output)
    require_numbers(weights=weights, input=input)
    x = input.transpose(0, 3, 1, 2) if nhwc_input else input
    left, right, top, bottom = pad
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=input_zp)
    return requantized(
        init,
        _convolve(x, weights, stride, dilation, groups),
        scale_bias,
        channel_axis=1,
        shift=shift_factor,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def depthwise_conv2d(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    groups: int,
    nhwc_input: bool = False,
    is_dw1d_stride1: bool = False,
    **attributes: int | bool | Sequence[int],
) -> np.ndarray:
    """`conv2d` with as many groups as input channels, and weights `[C * m, 1, kh, kw]`."""
    require_default(_LAYOUT, is_dw1d_stride1=is_dw1d_stride1)
    channels = input.shape[3 if nhwc_input else 1]
    if groups != channels:
        raise ValueError(f"depthwise convolution of {channels} channels with {groups} groups")
    return conv2d(init, weights, scale_bias, input, groups=groups, nhwc_input=nhwc_input, **attributes)


def conv1d(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    **attributes: int | bool,
) -> np.ndarray:
    """`conv2d` of one row: input `[N, C, W]`, weights `[O, C / groups, kw]`, `pad` is `[left, right]`."""
    row = conv2d(
        init[:, :, None],
        weights[:, :, None],
        scale_bias,
        input[:, :, None],
        pad=(*pad, 0, 0),
        stride=(1, *stride),
        dilation=(1, *dilation),
        **attributes,
    )
    return row[:, :, 0]


def fully_connected(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    input_zp: int,
    weight_zp: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
    vectorization_mode: int,
    is_batch_scaled: bool = False,
) -> np.ndarray:
    """`y[.., n] = clamp(rescale(sum_k x[.., k] * w[k, n] + bias[n], multiplier[n], shift_factor) + output_zp, ...)`.

    Weights are `[K, N]`. `input_zp` is already in the bias.
    """
    require_default(_NOT_FOLDED, weight_zp=weight_zp)
    require_default(_LAYOUT, vectorization_mode=vectorization_mode)
    require_default("scales of rows are not defined", is_batch_scaled=is_batch_scaled)
    require_numbers(weights=weights, input=input)
    return requantized(
        init,
        _product(input, weights),
        scale_bias,
        shift=shift_factor,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def matmul(
    init: np.ndarray,
    scale_bias: np.ndarray,
    input1: np.ndarray,
    input2: np.ndarray,
    *,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift: int,
    input1_unsigned: bool = False,
) -> np.ndarray:
    """`y[.., m, n] = clamp(rescale(sum_k x1[.., m, k] * x2[.., k, n] + bias, multiplier, shift) + output_zp, ...)`."""
    require_numbers(input1=input1, input2=input2)
    if input1_unsigned:
        input1 = as_unsigned(input1)
    return requantized(
        init,
        _product(input1, input2),
        scale_bias,
        shift=shift,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def _convolve(
    x: np.ndarray, weights: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int
) -> np.ndarray:
    """Sums of products of padded NCHW `x` and OIHW `weights`: float64 `[N, O, OH, OW]`, exact; float32 of bf16.

    The input is unrolled into columns, one for each output pixel, some of them at a time.
    """
    if weights.dtype == BFLOAT16:
        return _convolve_floats(x, weights, stride, dilation, groups)
    outputs, depth = weights.shape[0], int(np.prod(weights.shape[1:]))
    taps = _taps(x, weights.shape[2:], stride, dilation)
    batch, _, _, _, height, width = taps.shape
    rows = weights.reshape(groups, outputs // groups, depth).astype(np.float64)
    sums = np.empty((batch, groups, outputs // groups, height, width))
    _require_exact(weights, x, depth)
    step = max(1, _BLOCK // max(1, depth * groups * width))
    for n in range(batch):
        for top in range(0, height, step):
            lines = slice(top, min(top + step, height))
            columns = taps[n, ..., lines, :].reshape(groups, depth, -1).astype(np.float64)
            sums[n, :, :, lines] = (rows @ columns).reshape(groups, outputs // groups, -1, width)
    return sums.reshape(batch, outputs, height, width)


def _convolve_floats(
    x: np.ndarray, weights: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int
) -> np.ndarray:
    """The sums in f32, one product after the other."""
    outputs, inputs, *kernel = weights.shape
    taps = _taps(x.astype(np.float32), kernel, stride, dilation)
    batch, _, _, _, height, width = taps.shape
    taps = taps.reshape(batch, groups, 1, inputs, *kernel, height, width)
    factors = weights.astype(np.float32).reshape(groups, outputs // groups, inputs, *kernel)[..., None, None]
    sums = np.zeros((batch, groups, outputs // groups, height, width), np.float32)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for position in np.ndindex(inputs, *kernel):
            sums += taps[:, :, :, *position] * factors[:, :, *position]
    return sums.reshape(batch, outputs, height, width)


def _taps(x: np.ndarray, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> np.ndarray:
    """A view `[N, C, kh, kw, OH, OW]`: for each position in the kernel, the pixels that it meets."""
    extent = [(size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True)]
    windows = sliding_window_view(x, extent, axis=(2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    return windows.transpose(0, 1, 4, 5, 2, 3)


def _product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The matrix product of integers: float64, exact; of bf16 in f32, one product after the other."""
    if lhs.dtype == BFLOAT16:
        first, second = lhs.astype(np.float32), rhs.astype(np.float32)
        sums = np.zeros((*lhs.shape[:-1], rhs.shape[-1]), np.float32)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            for k in range(lhs.shape[-1]):
                sums += first[..., k, None] * second[..., None, k, :]
        return sums
    _require_exact(lhs, rhs, rhs.shape[-2])
    return lhs.astype(np.float64) @ rhs.astype(np.float64)


def _require_exact(lhs: np.ndarray, rhs: np.ndarray, depth: int) -> None:
    if depth * _magnitude(lhs) * _magnitude(rhs) > _EXACT:
        raise OverflowError(f"sums of {depth} products of {lhs.dtype} and {rhs.dtype} can exceed 2^53")


def _magnitude(array: np.ndarray) -> int:
    """A bound of the magnitude of the elements."""
    if array.dtype.itemsize <= 2:
        return 1 << (8 * array.dtype.itemsize)
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0
