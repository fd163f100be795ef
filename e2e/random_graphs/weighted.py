# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products, with constant weights and with run-time ones."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from e2e.random_graphs.builder import Builder, Tensor
from e2e.random_graphs.exclusions import convolution_lowers
from e2e.random_graphs.qparams import Computed

# A bias that is rounded to the units of the accumulator moves the output by less than 1/64 of its scale.
_UNITS_PER_STEP = 32.0


@dataclasses.dataclass(frozen=True)
class _Weights:
    """The dequantized weights, and their scales: one, or one for each output channel."""

    name: str
    scale: np.ndarray


def convolution(b: Builder) -> Computed:
    return _convolve(b, b.source(3, 4))


def volume_convolution(b: Builder) -> Computed:
    return _convolve(b, b.source(5))


def _convolve(b: Builder, x: Tensor) -> Computed:
    window = _window(b, x.shape[2:])
    group, channels = _groups(b, x.shape[1])
    if not convolution_lowers(len(x.shape) - 2, group, x.shape[1], channels):
        channels *= 2
    kernel = window["kernel_shape"]
    weights = _weights(b, (channels, x.shape[1] // group, *kernel), axis=0)
    bias, least_scale = _bias(b, channels, x, weights)
    y = b.node("Conv", b.dequantize(x), weights.name, *bias, group=group, **window)
    return _computed(b, y, x, weights, least_scale)


def transposed_convolution(b: Builder) -> Computed:
    x = b.source(3, 4)
    rank = len(x.shape) - 2
    kernel, strides = ([b.integer(1, 3) for _ in range(rank)] for _ in range(2))
    attributes = {"kernel_shape": kernel, "strides": strides}
    dilations = [b.pick((1, 1, 2)) for _ in range(rank)]
    if max(dilations) > 1:
        attributes["dilations"] = dilations
    if b.one_in(2):
        attributes["pads"] = _cropping(b, x.shape[2:], strides, kernel, dilations)
    if b.one_in(3):
        attributes["output_padding"] = [b.integer(0, s - 1) for s in strides]
    group = b.pick(_divisors(x.shape[1]))
    channels = group * b.integer(1, 4)
    weights = _weights(b, (x.shape[1], channels // group, *kernel), axis=1, group=group)
    bias, least_scale = _bias(b, channels, x, weights)
    y = b.node("ConvTranspose", b.dequantize(x), weights.name, *bias, group=group, **attributes)
    return _computed(b, y, x, weights, least_scale)


def _cropping(b: Builder, spatial, strides, kernel, dilations) -> list[int]:
    """Padding of a transposed convolution, which takes from its result but leaves something of it."""
    sizes = zip(spatial, strides, kernel, dilations, strict=True)
    extents = [((size - 1) * stride + (window - 1) * d + 1, (window - 1) * d) for size, stride, window, d in sizes]
    begins = [b.integer(0, min(most, (extent - 1) // 2)) for extent, most in extents]
    same = b.one_in(2)
    return begins + [begin if same else b.integer(0, begin) for begin in begins]


def gemm(b: Builder) -> Computed:
    x = b.source(2)
    transposed = b.one_in(2)
    attributes = {"transB": int(transposed)}
    if b.one_in(6):
        attributes["transA"] = 1
    features = x.shape[1 - attributes.get("transA", 0)]
    channels = b.integer(1, 9)
    shape = (channels, features) if transposed else (features, channels)
    weights = _weights(b, shape, axis=0 if transposed else 1)
    bias, least_scale = _bias(b, channels, x, weights)
    if b.one_in(8):
        attributes["alpha"] = b.pick((0.5, 2.0))
        least_scale = max(least_scale, _UNITS_PER_STEP * _unit(x, weights))
    y = b.node("Gemm", b.dequantize(x), weights.name, *bias, **attributes)
    return _computed(b, y, x, weights, least_scale)


def matrix_product(b: Builder) -> Computed:
    """By constant weights, possibly with a bias addition after it."""
    x = b.source(2, 3, 4)
    channels = b.integer(1, 9)
    batch = x.shape[:-2] if len(x.shape) > 2 and b.one_in(6) else ()
    weights = _weights(b, (*batch, x.shape[-1], channels), axis=len(batch) + 1)
    y, least_scale = b.node("MatMul", b.dequantize(x), weights.name), 0.0
    if b.one_in(3):
        (bias,), least_scale = _some_bias(b, channels, x, weights)
        y = b.node("Add", *((y, bias) if b.one_in(2) else (bias, y)))
    return _computed(b, y, x, weights, least_scale)


def runtime_matrix_product(b: Builder) -> Computed:
    """Of two activations: as in attention, one of them can be transposed before."""
    x = b.source(2, 3, 4)
    *batch, _, depth = x.shape
    columns = b.integer(1, 7)
    if batch and b.one_in(4):
        batch = batch[1:] if b.one_in(2) else [1 if b.one_in(2) else size for size in batch]
    if b.one_in(2):
        other = b.operand((*batch, columns, depth))
        order = [*range(len(batch)), len(batch) + 1, len(batch)]
        second = b.node("Transpose", b.dequantize(other), perm=order)
    else:
        other = b.operand((*batch, depth, columns))
        second = b.dequantize(other)
    y = b.node("MatMul", b.dequantize(x), second)
    return Computed(y, float(x.qparams.scale) * float(other.qparams.scale))


def _computed(b: Builder, name: str, x: Tensor, weights: _Weights, least_scale: float) -> Computed:
    unit = float(x.qparams.scale) * float(weights.scale.reshape(-1)[0])
    return Computed(name, unit, least_scale, [x.qparams])


def _window(b: Builder, spatial: Sequence[int]) -> dict:
    """A kernel with strides, dilations and padding, that fits."""
    rank = len(spatial)
    window: dict = {"kernel_shape": [b.pick((1, 3, 2, 5)) for _ in spatial]}
    if b.one_in(3):
        window["strides"] = [b.integer(1, 3) for _ in spatial]
    dilations = [b.integer(1, 2) if b.one_in(4) else 1 for _ in spatial]
    if max(dilations) > 1:
        window["dilations"] = dilations
    extents = [(k - 1) * d + 1 for k, d in zip(window["kernel_shape"], dilations, strict=True)]
    if max(dilations) == 1 and b.one_in(8):
        window["auto_pad"] = b.pick(("SAME_UPPER", "SAME_LOWER"))
        return window
    pads = [b.integer(0, extent - 1) if extent > 1 else 0 for extent in (*extents, *extents)]
    for axis in range(rank):
        missing = extents[axis] - spatial[axis] - pads[axis] - pads[axis + rank]
        pads[axis] += max(missing, 0)
    if any(pads):
        window["pads"] = pads
    return window


def _groups(b: Builder, channels: int) -> tuple[int, int]:
    """Number of groups, and of output channels."""
    kind = b.pick(("one", "one", "depthwise", "some"))
    group = {"one": 1, "depthwise": channels, "some": b.pick(_divisors(channels))}[kind]
    return group, group * (b.integer(1, 2) if kind == "depthwise" else b.integer(1, 5))


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def _weights(b: Builder, shape: Sequence[int], axis: int, group: int = 1) -> _Weights:
    """Weights of the whole range of their type, and zero points near the middle of it.

    Args:
      axis: of the output channels; with groups, each group has them all.
    """
    dtype = np.dtype(b.pick((np.int8, np.int8, np.uint8)))
    limits = np.iinfo(dtype)
    integers = b.rng.integers(limits.min + int(b.one_in(2)), limits.max, shape, dtype, endpoint=True)
    middle = (limits.min + limits.max + 1) // 2
    channels = shape[axis]
    parameters = (channels,) if b.one_in(2) else ()
    scale = (b.rng.uniform(0.25, 1.0, parameters) * 2.0 / (128 * math.sqrt(math.prod(shape) / channels))).astype(
        np.float32
    )
    kind = b.pick(("middle", "one", "power of two", "per channel", "any", "absent"))
    if kind in ("one", "power of two"):
        scale = np.ones_like(scale) if kind == "one" else np.exp2(np.round(np.log2(scale)))
    zero_point = np.full(parameters, middle, dtype)
    if kind == "any":
        zero_point = np.full(parameters, b.rng.integers(limits.min, limits.max + 1), dtype)
    elif kind == "per channel":
        zero_point = b.rng.integers(middle - 3, middle + 4, parameters).astype(dtype)
    absent = kind == "absent" and dtype == np.int8
    name = b.dequantized_constant(integers, scale, None if absent else zero_point, axis)
    return _Weights(name, np.tile(scale, group) if parameters else scale)


def _bias(b: Builder, channels: int, x: Tensor, weights: _Weights) -> tuple[list[str], float]:
    return ([], 0.0) if b.one_in(3) else _some_bias(b, channels, x, weights)


def _some_bias(b: Builder, channels: int, x: Tensor, weights: _Weights) -> tuple[list[str], float]:
    """A bias in one of the forms that models have, and the least output scale that it is accurate enough for."""
    unit = np.float32(x.qparams.scale) * weights.scale
    kind = b.pick(("units", "units without zero point", "float", "equal floats", "other scale"))
    real = b.rng.normal(0, 2000, channels) * unit.astype(np.float64)
    if kind in ("float", "equal floats"):
        values = np.full(channels, real[0]) if kind == "equal floats" else real
        return [b.constant(values.astype(np.float32))], _UNITS_PER_STEP * _unit(x, weights)
    if kind == "other scale":
        scale = np.float32(np.abs(real).max() / 1e6 + 1e-30)
        integers = np.rint(real / np.float64(scale)).astype(np.int32)
        return [b.dequantized_constant(integers, scale, None)], _UNITS_PER_STEP * _unit(x, weights)
    integers = np.rint(real / unit).astype(np.int32)
    zero_point = np.zeros(unit.shape, np.int32) if kind == "units" else None
    return [b.dequantized_constant(integers, unit, zero_point, axis=0)], 0.0


def _unit(x: Tensor, weights: _Weights) -> float:
    return float(x.qparams.scale) * float(weights.scale.max())


OPERATIONS = (
    convolution,
    gemm,
    matrix_product,
    runtime_matrix_product,
    transposed_convolution,
    volume_convolution,
)
