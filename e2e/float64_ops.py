# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX operators on float64 arrays: the exact arithmetic that quantized layers are held to.

Every function takes the attributes of the node and its operands. None of this is code of the compiler's.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from e2e.float64_positions import POSITIONS

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


def conv_transpose(attributes: Attributes, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """Transposed convolution of any rank: each window position scatters one product of the input and the weights.

    Padding is explicit; weights are `[C, M / group, *kernel]`.
    """
    group, kernel, rank = attributes.get("group", 1), w.shape[2:], w.ndim - 2
    strides, dilations = (attributes.get(name) or [1] * rank for name in ("strides", "dilations"))
    begins, ends = _pads(attributes, x.shape[2:], kernel)
    extra = attributes.get("output_padding") or [0] * rank
    extents = [
        (size - 1) * stride + (window - 1) * dilation + 1
        for size, stride, window, dilation in zip(x.shape[2:], strides, kernel, dilations, strict=True)
    ]
    batch, in_channels, out_channels = x.shape[0], x.shape[1] // group, w.shape[1]
    inputs = x.reshape(batch, group, in_channels, *x.shape[2:])
    weights = w.reshape(group, in_channels, out_channels, *kernel)
    y = np.zeros((batch, group, out_channels, *map(sum, zip(extents, extra, strict=True))))
    for position in np.ndindex(*kernel):
        product = np.einsum("ngc...,gcm->ngm...", inputs, weights[(..., *position)])
        steps = zip(position, dilations, x.shape[2:], strides, strict=True)
        y[(..., *(slice(i * d, i * d + (size - 1) * s + 1, s) for i, d, size, s in steps))] += product
    y = y.reshape(batch, group * out_channels, *y.shape[3:])
    cropped = zip(begins, ends, y.shape[2:], strict=True)
    y = y[(..., *(slice(begin, size - end) for begin, end, size in cropped))]
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


def _reduction(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Of numpy, over the dimensions of the attribute or the operand, or over all."""

    def reduce(attributes: Attributes, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        axes = attributes.get("axes") if axes is None else axes
        reduced = None if axes is None else tuple(int(axis) for axis in axes)
        return np.asarray(function(x, axis=reduced, keepdims=bool(attributes.get("keepdims", 1))))

    return reduce


def clip(
    attributes: Attributes, x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> np.ndarray:
    low = attributes.get("min") if low is None else low
    high = attributes.get("max") if high is None else high
    return np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)


def layer_normalization(
    attributes: Attributes, x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None = None
) -> np.ndarray:
    axes = tuple(range(attributes.get("axis", -1) % x.ndim, x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = np.mean(centred**2, axis=axes, keepdims=True)
    y = centred / np.sqrt(variance + attributes.get("epsilon", 1e-5)) * scale
    return y if bias is None else y + bias


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


def gelu(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    if attributes.get("approximate", b"none") == b"tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def hard_sigmoid(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    return np.clip(attributes.get("alpha", 0.2) * x + attributes.get("beta", 0.5), 0.0, 1.0)


def slice_(
    attributes: Attributes,
    x: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    axes: np.ndarray | None = None,
    steps: np.ndarray | None = None,
) -> np.ndarray:
    index = [slice(None)] * x.ndim
    axes = range(len(starts)) if axes is None else axes
    steps = np.ones(len(starts), np.int64) if steps is None else steps
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        # Backwards down to the first element, which numpy has no number for.
        past_first = step < 0 and end < -x.shape[axis]
        index[axis] = slice(int(start), None if past_first else int(end), int(step))
    return x[tuple(index)]


_PAD_MODES = {b"constant": "constant", b"edge": "edge", b"reflect": "reflect", b"wrap": "wrap"}


def pad(
    attributes: Attributes,
    x: np.ndarray,
    pads: np.ndarray,
    value: np.ndarray | None = None,
    axes: np.ndarray | None = None,
) -> np.ndarray:
    """Padding; negative amounts crop."""
    axes = range(x.ndim) if axes is None else axes
    widths, kept = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for position, axis in enumerate(axes):
        begin, end = int(pads[position]), int(pads[position + len(axes)])
        widths[axis] = (max(begin, 0), max(end, 0))
        kept[axis] = slice(max(-begin, 0), x.shape[axis] - max(-end, 0))
    mode = _PAD_MODES[attributes.get("mode", b"constant")]
    values = {"constant_values": 0.0 if value is None else float(value)} if mode == "constant" else {}
    return np.pad(x[tuple(kept)], widths, mode=mode, **values)


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


def resize(
    attributes: Attributes,
    x: np.ndarray,
    roi: np.ndarray | None = None,
    scales: np.ndarray | None = None,
    sizes: np.ndarray | None = None,
) -> np.ndarray:
    """Nearest and (bi)linear interpolation, one dimension after the other."""
    if sizes is None:
        sizes = [math.floor(size * float(scale)) for size, scale in zip(x.shape, scales, strict=True)]
    scales = [int(new) / old for new, old in zip(sizes, x.shape, strict=True)] if scales is None else scales
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True)):
        if int(size) != x.shape[axis]:
            x = _resized_along(attributes, x, axis, int(size), float(scale))
    return x


def _resized_along(attributes: Attributes, x: np.ndarray, axis: int, size: int, scale: float) -> np.ndarray:
    positions = np.arange(size, dtype=np.float64)
    match attributes.get("coordinate_transformation_mode", b"half_pixel"):
        case b"half_pixel":
            positions = (positions + 0.5) / scale - 0.5
        case b"pytorch_half_pixel":
            positions = (positions + 0.5) / scale - 0.5 if size > 1 else np.zeros(1)
        case b"align_corners":
            positions = positions * (x.shape[axis] - 1) / max(size - 1, 1)
        case b"asymmetric":
            positions = positions / scale
        case mode:
            raise NotImplementedError(f"Resize with coordinates {mode.decode()}")
    if attributes.get("mode", b"nearest") == b"nearest":
        return x.take(np.clip(_rounded(attributes, positions), 0, x.shape[axis] - 1), axis)
    low = np.floor(positions)
    weights = (positions - low).reshape(-1, *([1] * (x.ndim - axis - 1)))
    left, right = (x.take(np.clip(low.astype(np.int64) + offset, 0, x.shape[axis] - 1), axis) for offset in (0, 1))
    return left * (1 - weights) + right * weights


def _rounded(attributes: Attributes, positions: np.ndarray) -> np.ndarray:
    rounding = {
        b"round_prefer_floor": lambda values: np.ceil(values - 0.5),
        b"round_prefer_ceil": lambda values: np.floor(values + 0.5),
        b"floor": np.floor,
        b"ceil": np.ceil,
    }
    return rounding[attributes.get("nearest_mode", b"round_prefer_floor")](positions).astype(np.int64)


def depth_to_space(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    batch, channels, height, width = x.shape
    block = attributes["blocksize"]
    if attributes.get("mode", b"DCR") == b"DCR":
        x = x.reshape(batch, block, block, -1, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(batch, -1, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(batch, channels // block**2, height * block, width * block)


def space_to_depth(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    batch, channels, height, width = x.shape
    block = attributes["blocksize"]
    x = x.reshape(batch, channels, height // block, block, width // block, block).transpose(0, 3, 5, 1, 2, 4)
    return x.reshape(batch, channels * block**2, height // block, width // block)


MOVEMENT: dict[str, Callable[..., np.ndarray]] = {
    "DepthToSpace": depth_to_space,
    "Expand": lambda attributes, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))),
    "Flatten": flatten,
    "Gather": lambda attributes, x, indices: np.take(x, indices, attributes.get("axis", 0)),
    "Identity": lambda attributes, x: x,
    "Pad": pad,  # of what it adds, the quantization is that of the others
    "Reshape": reshape,
    "Slice": slice_,
    "SpaceToDepth": space_to_depth,
    "Squeeze": squeeze,
    "Tile": lambda attributes, x, repeats: np.tile(x, tuple(repeats)),
    "Transpose": lambda attributes, x: x.transpose(attributes.get("perm")),
    "Unsqueeze": unsqueeze,
}
"""Operators that move values and compute nothing: they are the same on integers."""

_CONDITIONS = {
    **{"And": np.logical_and, "Not": np.logical_not, "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal},
    **{"Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less, "LessOrEqual": np.less_equal},
}

OPERATORS: dict[str, Callable[..., np.ndarray]] = {
    **(MOVEMENT | POSITIONS),
    **{name: (lambda attributes, *xs, function=function: function(*xs)) for name, function in _CONDITIONS.items()},
    "Abs": lambda attributes, x: np.abs(x),
    "Add": lambda attributes, a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Clip": clip,
    "Concat": lambda attributes, *xs: np.concatenate(xs, axis=attributes["axis"]),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Div": lambda attributes, a, b: a / b,
    "Elu": lambda attributes, x: np.where(x < 0, attributes.get("alpha", 1.0) * np.expm1(np.minimum(x, 0.0)), x),
    "Erf": lambda attributes, x: _erf(x),
    "Exp": lambda attributes, x: np.exp(x),
    "Gelu": gelu,
    "Gemm": gemm,
    "GlobalAveragePool": global_average_pool,
    "Where": lambda attributes, condition, a, b: np.where(np.asarray(condition, np.bool_), a, b),
    "GlobalMaxPool": lambda attributes, x: x.max(axis=tuple(range(2, x.ndim)), keepdims=True),
    "HardSigmoid": hard_sigmoid,
    "HardSwish": lambda attributes, x: x * np.clip(x / 6 + 0.5, 0.0, 1.0),
    "LRN": lrn,
    "LayerNormalization": layer_normalization,
    "LeakyRelu": lambda attributes, x: np.where(x < 0, attributes.get("alpha", 0.01) * x, x),
    "MatMul": lambda attributes, a, b: a @ b,
    "Max": lambda attributes, *xs: functools.reduce(np.maximum, xs),
    "MaxPool": max_pool,
    "Min": lambda attributes, *xs: functools.reduce(np.minimum, xs),
    "Mul": lambda attributes, a, b: a * b,
    "Neg": lambda attributes, x: -x,
    "PRelu": lambda attributes, x, slope: np.where(x < 0, slope * x, x),
    "ReduceMax": _reduction(np.max),
    "ReduceMean": _reduction(np.mean),
    "ReduceMin": _reduction(np.min),
    "ReduceSum": _reduction(np.sum),
    "Relu": lambda attributes, x: np.maximum(x, 0.0),
    "Resize": resize,
    "Sigmoid": lambda attributes, x: 0.5 + 0.5 * np.tanh(0.5 * x),
    "Softmax": softmax,
    "Sqrt": lambda attributes, x: np.sqrt(x),
    "Sub": lambda attributes, a, b: a - b,
    "Sum": lambda attributes, *xs: sum(xs[1:], xs[0]),
    "Tanh": lambda attributes, x: np.tanh(x),
}
