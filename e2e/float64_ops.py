# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX operators on float64 arrays: the exact arithmetic that quantized layers are held to.

Every function takes the attributes of the node and its operands. None of this is code of the compiler's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Attributes = Mapping[str, Any]


def _pads(attributes: Attributes, spatial: Sequence[int], kernel: Sequence[int]) -> tuple[list[int], list[int]]:
    """Padding before and after each spatial dimension."""
    rank = len(spatial)
    strides = attributes.get("strides") or [1] * rank
    mode = attributes.get("auto_pad", b"NOTSET")
    if mode == b"VALID":
        return [0] * rank, [0] * rank
    if mode == b"NOTSET":
        pads = list(attributes.get("pads") or [0] * 2 * rank)
        return pads[:rank], pads[rank:]
    dilations = attributes.get("dilations") or [1] * rank
    totals = [
        max(0, (math.ceil(size / stride) - 1) * stride + (window - 1) * dilation + 1 - size)
        for size, stride, window, dilation in zip(spatial, strides, kernel, dilations, strict=True)
    ]
    smaller, larger = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return (smaller, larger) if mode == b"SAME_UPPER" else (larger, smaller)


def _padded(x: np.ndarray, begins: Sequence[int], ends: Sequence[int], value: float) -> np.ndarray:
    widths = [(0, 0), (0, 0), *zip(begins, ends, strict=True)]
    return np.pad(x, widths, constant_values=value) if any(begins) or any(ends) else x


def _windows(x: np.ndarray, kernel: Sequence[int], attributes: Attributes) -> np.ndarray:
    """`[N, C, *spatial]`, already padded, to a view `[N, C, *output, *kernel]`."""
    rank = len(kernel)
    strides = attributes.get("strides") or [1] * rank
    dilations = attributes.get("dilations") or [1] * rank
    extents = [(window - 1) * dilation + 1 for window, dilation in zip(kernel, dilations, strict=True)]
    view = sliding_window_view(x, extents, axis=tuple(range(2, 2 + rank)))
    steps = [slice(None, None, stride) for stride in strides] + [slice(None, None, dilation) for dilation in dilations]
    return view[(slice(None), slice(None), *steps)]


def conv(attributes: Attributes, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """Convolution of any rank, by im2col and one matrix product for each group."""
    group, kernel = attributes.get("group", 1), w.shape[2:]
    begins, ends = _pads(attributes, x.shape[2:], kernel)
    windows = _windows(_padded(x, begins, ends, 0.0), kernel, attributes)
    batch, rank = x.shape[0], len(kernel)
    output = windows.shape[2 : 2 + rank]
    order = (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
    columns = windows.transpose(order).reshape(batch, group, -1, math.prod(output))
    product = w.reshape(group, w.shape[0] // group, -1) @ columns
    y = product.reshape(batch, w.shape[0], *output)
    return y if b is None else y + b.reshape(-1, *([1] * rank))


def gemm(attributes: Attributes, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
    a = a.T if attributes.get("transA", 0) else a
    b = b.T if attributes.get("transB", 0) else b
    y = attributes.get("alpha", 1.0) * (a @ b)
    return y if c is None else y + attributes.get("beta", 1.0) * c


def _pooling_windows(attributes: Attributes, x: np.ndarray, beyond: float, padding: float) -> np.ndarray:
    """Windows of a pooling; positions hold `padding` inside the pads, `beyond` where ceil_mode reaches past them."""
    kernel, spatial = attributes["kernel_shape"], x.shape[2:]
    strides = attributes.get("strides") or [1] * len(kernel)
    dilations = attributes.get("dilations") or [1] * len(kernel)
    begins, ends = _pads(attributes, spatial, kernel)
    extra = [0] * len(kernel)
    if attributes.get("ceil_mode", 0):
        for axis, size in enumerate(spatial):
            extent = (kernel[axis] - 1) * dilations[axis] + 1
            padded = size + begins[axis] + ends[axis]
            count = math.ceil((padded - extent) / strides[axis]) + 1
            if (count - 1) * strides[axis] >= size + begins[axis]:  # the last window would start in the padding
                count -= 1
            extra[axis] = max(0, (count - 1) * strides[axis] + extent - padded)
    x = _padded(x, begins, ends, padding)
    return _windows(_padded(x, [0] * len(kernel), extra, beyond), kernel, attributes)


def max_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    windows = _pooling_windows(attributes, x.astype(np.float64), -np.inf, -np.inf)
    return windows.max(axis=tuple(range(x.ndim, windows.ndim)))


def average_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    windows = _pooling_windows(attributes, x, 0.0, 0.0)
    axes = tuple(range(x.ndim, windows.ndim))
    padding = 1.0 if attributes.get("count_include_pad", 0) else 0.0
    counts = _pooling_windows(attributes, np.ones_like(x[:1, :1]), 0.0, padding).sum(axis=axes)
    return windows.sum(axis=axes) / counts


def global_average_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    axes = tuple(range(1, x.ndim - 1)) if attributes.get("channels_last", 0) else tuple(range(2, x.ndim))
    return x.mean(axis=axes, keepdims=True)


def reduce_mean(attributes: Attributes, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    axes = attributes.get("axes") if axes is None else axes
    reduced = None if axes is None else tuple(int(axis) for axis in axes)
    return x.mean(axis=reduced, keepdims=bool(attributes.get("keepdims", 1)))


def clip(
    attributes: Attributes, x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> np.ndarray:
    low = attributes.get("min") if low is None else low
    high = attributes.get("max") if high is None else high
    return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)


def softmax(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    shape = x.shape
    axis = attributes.get("axis", -1)
    if attributes.get("opset", 13) < 13:  # rows are all dimensions from the axis on
        x, axis = x.reshape(math.prod(shape[:axis]), -1), 1
    exponential = np.exp(x - x.max(axis=axis, keepdims=True))
    return (exponential / exponential.sum(axis=axis, keepdims=True)).reshape(shape)


def lrn(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    size = attributes["size"]
    widths = [(0, 0), ((size - 1) // 2, size // 2), *([(0, 0)] * (x.ndim - 2))]
    squares = sliding_window_view(np.pad(x * x, widths), size, axis=1).sum(axis=-1)
    alpha, beta, bias = (attributes.get(key, value) for key, value in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    return x / (bias + alpha / size * squares) ** beta


def batch_normalization(attributes: Attributes, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
    scale, bias, mean, variance = (value.reshape(-1, *([1] * (x.ndim - 2))) for value in parameters)
    return (x - mean) / np.sqrt(variance + attributes.get("epsilon", 1e-5)) * scale + bias


def reshape(attributes: Attributes, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    sizes = [int(size) for size in shape]
    if not attributes.get("allowzero", 0):
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return x.reshape(sizes)


def flatten(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    axis = attributes.get("axis", 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


def squeeze(attributes: Attributes, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    axes = attributes.get("axes") if axes is None else axes
    return x.squeeze(None if axes is None else tuple(int(axis) for axis in axes))


def unsqueeze(attributes: Attributes, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    return np.expand_dims(x, tuple(int(axis) for axis in (attributes["axes"] if axes is None else axes)))


MOVEMENT: dict[str, Callable[..., np.ndarray]] = {
    "Flatten": flatten,
    "Identity": lambda attributes, x: x,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "Transpose": lambda attributes, x: x.transpose(attributes.get("perm")),
    "Unsqueeze": unsqueeze,
}
"""Operators that move values and compute nothing: they are the same on integers."""

OPERATORS: dict[str, Callable[..., np.ndarray]] = {
    **MOVEMENT,
    "Add": lambda attributes, a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Clip": clip,
    "Concat": lambda attributes, *xs: np.concatenate(xs, axis=attributes["axis"]),
    "Conv": conv,
    "Gemm": gemm,
    "GlobalAveragePool": global_average_pool,
    "LRN": lrn,
    "LeakyRelu": lambda attributes, x: np.where(x < 0, attributes.get("alpha", 0.01) * x, x),
    "MatMul": lambda attributes, a, b: a @ b,
    "MaxPool": max_pool,
    "Mul": lambda attributes, a, b: a * b,
    "ReduceMean": reduce_mean,
    "Relu": lambda attributes, x: np.maximum(x, 0.0),
    "Sigmoid": lambda attributes, x: 1.0 / (1.0 + np.exp(-x)),
    "Softmax": softmax,
    "Sub": lambda attributes, a, b: a - b,
    "Sum": lambda attributes, *xs: sum(xs[1:], xs[0]),
    "Tanh": lambda attributes, x: np.tanh(x),
}
