# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products with constant weights."""

import math
from types import SimpleNamespace

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.kernels.convolution import Convolution, View, tile_sizes
from torq_mlir.backends.cpu.kernels.depthwise import Depthwise
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.planning import BIAS, CHANNELS_LAST, Planner, attributes_of, shape_and_dtype
from torq_mlir.backends.cpu.requantize import Rescale
from torq_mlir.backends.cpu.steps import Tensor
from torq_mlir.dialects import elements

# Tiles of a row that is cut into several tasks.
_TILES_PER_TASK = 8


def convolution(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    if not _is_plain(attributes) or attributes.nhwc_input:
        return False
    parameters = Parameters.of(operation, attributes)
    if parameters is None or parameters.weights.ndim != 4:
        return False
    outputs, inputs, kh, kw = parameters.weights.shape
    groups = attributes.groups
    if groups > 1 and inputs % 4:
        return False
    source = image(planner, operation.operands[3], attributes, operation)
    result = planner.produce(operation.results[0])
    images, _, height, width = result.layout.shape
    cpu = planner.cpu
    pixels, blocks = tile_sizes(width, outputs // groups, cpu)
    kernel = Convolution(
        images,
        groups,
        height,
        width,
        source.layout.extents[-1] if groups == 1 else inputs,
        outputs // groups,
        (kh, kw),
        tuple(attributes.stride),
        tuple(attributes.dilation),
        image_view(source.layout, attributes.pad),
        image_view(result.layout),
        parameters.rescale,
        pixels,
        blocks,
    )
    _call(planner, kernel, source, result, parameters, operation)
    planner.finish(result, operation)
    return True


def fully_connected(planner: Planner, operation: ir.Operation) -> bool:
    """An image of one row."""
    attributes = attributes_of(operation)
    if attributes.weight_zp or attributes.vectorization_mode or attributes.is_batch_scaled:
        return False
    parameters = Parameters.of(operation, attributes)
    if parameters is None:
        return False
    source = planner.tensor(operation.operands[3])
    layout = Layout.inner(source.layout.shape, np.int8)
    if source.layout.order != layout.order or source.layout.extents[-1] % 4 or not source.layout.biased:
        source = planner.in_layout(source, layout, operation)
    if source.layout.has_halo:
        source = planner.in_layout(source, layout, operation)
    result = planner.produce(operation.results[0], range(len(layout.shape)))
    rows, outputs = math.prod(layout.shape[:-1]), result.layout.shape[-1]
    pixels, blocks = tile_sizes(rows, outputs, planner.cpu)
    runs = max(1, -(-rows // pixels) // _TILES_PER_TASK)

    def view(layout: Layout) -> View:
        pixel = layout.extents[-1]
        return View(layout.elements, layout.origin, rows * pixel, rows * pixel, pixel)

    one = (1, 1)
    views = view(source.layout), view(result.layout)
    inputs = source.layout.extents[-1]
    kernel = Convolution(
        1, 1, 1, rows, inputs, outputs, one, one, one, *views, parameters.rescale, pixels, blocks, runs
    )
    parameters.weights = np.ascontiguousarray(parameters.weights.T)[:, :, None, None]
    _call(planner, kernel, source, result, parameters, operation)
    return True


def depthwise(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    if not _is_plain(attributes) or attributes.is_dw1d_stride1 or attributes.nhwc_input:
        return False
    parameters = Parameters.of(operation, attributes)
    if parameters is None or parameters.weights.ndim != 4:
        return False
    channels, inputs, kh, kw = parameters.weights.shape
    if inputs != 1 or attributes.groups != channels:
        return False
    source = image(planner, operation.operands[3], attributes, operation)
    result = planner.produce(operation.results[0])
    images, _, height, width = result.layout.shape
    kernel = Depthwise(
        images,
        height,
        width,
        channels,
        (kh, kw),
        tuple(attributes.stride),
        tuple(attributes.dilation),
        image_view(source.layout, attributes.pad),
        image_view(result.layout),
        parameters.rescale,
    )
    _call(planner, kernel, source, result, parameters, operation)
    planner.finish(result, operation)
    return True


class Parameters:
    """Constant weights, biases and multipliers for activations that are stored plus 128."""

    def __init__(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        multiplier: np.ndarray,
        rescale: Rescale,
        attributes: SimpleNamespace,
    ) -> None:
        self.weights, self.bias, self.multiplier, self.rescale = weights, bias, multiplier, rescale
        self.scalars = requantization(attributes, attributes.shift_factor, np.dtype(np.int8))

    @classmethod
    def of(cls, operation: ir.Operation, attributes: SimpleNamespace) -> "Parameters | None":
        """None where the weights are not constant and of 8 bits, or a sum may not fit."""
        init, weights, scale_bias, input_ = operation.operands
        if any(shape_and_dtype(value)[1] != np.int8 for value in (init, weights, input_)):
            return None
        weights, pairs = elements.constant_value(weights), elements.constant_value(scale_bias)
        if weights is None or pairs is None or pairs.dtype != np.int32 or not 0 <= attributes.shift_factor < 64:
            return None
        channel_axis = 0 if weights.ndim == 4 else weights.ndim - 1
        others = tuple(axis for axis in range(weights.ndim) if axis != channel_axis)
        sums, magnitudes = (
            weights.sum(others, dtype=np.int64),
            np.abs(weights.astype(np.int16)).sum(others, dtype=np.int64),
        )
        bias, multiplier = (np.broadcast_to(pairs[start::2], sums.shape) for start in (0, 1))
        bound = int((magnitudes * BIAS + np.abs(bias.astype(np.int64))).max())
        if bound >= 1 << 31:
            return None
        stored = (bias - BIAS * sums).astype(np.int32)  # modulo 2^32, as the sum is; the total fits
        return cls(weights, stored, multiplier, Rescale.of(multiplier, attributes.shift_factor, bound), attributes)


def requantization(attributes: SimpleNamespace, shift: int, dtype: np.dtype) -> list[int]:
    """Shift, zero point, minimum and maximum of an output as it is stored."""
    bias, limits = BIAS * (dtype == np.int8), np.iinfo(dtype)
    low, high = max(attributes.output_min, limits.min), min(attributes.output_max, limits.max)
    return [shift, attributes.output_zp + bias, low + bias, high + bias]


def image(planner: Planner, value: ir.Value, attributes: SimpleNamespace, operation: ir.Operation) -> Tensor:
    """A value with channels innermost, a multiple of four, and with the padding that the operation needs around it."""
    tensor = planner.tensor(value)
    layout, needed, fill = tensor.layout, attributes.pad, attributes.input_zp + BIAS
    left, right, top, bottom = needed
    fits = (
        layout.order == CHANNELS_LAST
        and layout.biased
        and layout.extents[-1] % 4 == 0
        and layout.low[3] == 0
        and (not any(needed) or tensor.fill == fill)
        and all(have >= need for have, need in zip(_room(layout), (left, right, top, bottom), strict=True))
    )
    if fits:
        return tensor
    wanted = Layout.inner(layout.shape, layout.dtype, CHANNELS_LAST, needed)
    return planner.in_layout(tensor, wanted, operation, fill if any(needed) else None)


def _room(layout: Layout) -> tuple[int, int, int, int]:
    return layout.low[2], layout.high[2], layout.low[1], layout.high[1]


def image_view(layout: Layout, pad: tuple[int, int, int, int] = (0, 0, 0, 0)) -> View:
    """The buffer of an image from where its padding begins."""
    image_stride, row, pixel, _ = layout.strides
    return View(layout.elements, layout.origin - pad[2] * row - pad[0] * pixel, image_stride, row, pixel)


def _is_plain(attributes: SimpleNamespace) -> bool:
    return not (attributes.weight_zp or attributes.vectorization_mode or attributes.segment_output)


def _call(
    planner: Planner,
    kernel: Convolution | Depthwise,
    source: Tensor,
    result: Tensor,
    parameters: Parameters,
    operation: ir.Operation,
) -> None:
    cpu, add = planner.cpu, planner.constants.add
    weights = add(kernel.pack(parameters.weights, cpu))
    channels = [add(kernel.pad_channels(each, cpu)) for each in (parameters.bias, parameters.multiplier)]
    planner.call(kernel, [source, weights, *channels, result, *parameters.scalars], operation)
