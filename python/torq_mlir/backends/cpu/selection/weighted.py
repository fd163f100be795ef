# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products with constant weights."""

import math
from types import SimpleNamespace

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.dot_product import WORD
from torq_mlir.backends.cpu.kernels.convolution import Convolution, View, tile_sizes
from torq_mlir.backends.cpu.kernels.depthwise import Depthwise
from torq_mlir.backends.cpu.kernels.depthwise_words import DepthwiseWords
from torq_mlir.backends.cpu.kernels.elementwise import Map
from torq_mlir.backends.cpu.kernels.operations import MultiplyAdd
from torq_mlir.backends.cpu.kernels.packing import Pack
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.machine import second_level_cache
from torq_mlir.backends.cpu.planning import (
    BIAS,
    Planner,
    attributes_of,
    channels_last,
    channels_read,
    padding,
    room_around_image,
    shape_and_dtype,
)
from torq_mlir.backends.cpu.requantize import Rescale
from torq_mlir.backends.cpu.steps import Tensor
from torq_mlir.dialects import elements

# Operations that move elements, and the operand that they move.
_MOVEMENTS = {"tensor.collapse_shape": 0, "tensor.expand_shape": 0, "torq_hl.transpose": 1}
# Tiles of a row that is cut into several tasks.
TILES_PER_TASK = 8


def convolution(planner: Planner, operation: ir.Operation) -> bool:
    """Of one or two dimensions; one is an image of one row."""
    attributes = attributes_of(operation)
    if not _is_plain(attributes) or getattr(attributes, "nhwc_input", False):
        return False
    parameters = Parameters.of(operation, attributes)
    if parameters is None:
        return False
    if parameters.weights.ndim == 3:
        parameters.weights = parameters.weights[:, :, None]
    outputs, inputs, kh, kw = parameters.weights.shape
    groups = attributes.groups
    source = image(planner, operation.operands[3], attributes, operation, channels_read(inputs * groups, groups))
    shape, _ = shape_and_dtype(operation.results[0])
    result = planner.produce(operation.results[0], channels_last(len(shape)))
    images, _, *rows, width = shape
    height, cpu = rows[0] if rows else 1, planner.cpu
    pixels, blocks = tile_sizes(width, outputs // groups, cpu)
    kernel = Convolution(
        images,
        groups,
        height,
        width,
        inputs,
        source.layout.extents[-1] if groups == 1 else inputs + -inputs % 4,
        outputs // groups,
        (kh, kw),
        (1, *attributes.stride)[-2:],
        (1, *attributes.dilation)[-2:],
        image_view(source.layout, padding(attributes)),
        image_view(result.layout),
        (inputs, outputs // groups),
        parameters.rescale,
        pixels,
        blocks,
        result_width=8 * result.layout.dtype.itemsize,
        rows_of_block=_rows_in_cache(source.layout, result.layout, (1, *attributes.stride)[-2]),
    )
    _call(planner, kernel, source, result, parameters, operation)
    planner.finish(result, operation)
    return True


def _rows_in_cache(source: Layout, result: Layout, stride: int) -> int:
    """Rows of the result that take half of the second-level cache, with what is read for them."""
    bytes_of_row = stride * source.strides[-3] + result.strides[-3] * result.dtype.itemsize
    return max(1, second_level_cache() // 2 // bytes_of_row)


def fully_connected(planner: Planner, operation: ir.Operation) -> bool:
    """An image of one row."""
    attributes = attributes_of(operation)
    if attributes.weight_zp or attributes.vectorization_mode or attributes.is_batch_scaled:
        return False
    parameters = Parameters.of(operation, attributes)
    if parameters is None:
        return False
    source = matrix(planner, operation.operands[3], operation)
    shape = source.layout.shape
    result = planner.produce(operation.results[0], range(len(shape)))
    rows, outputs = math.prod(shape[:-1]), result.layout.shape[-1]
    pixels, blocks = tile_sizes(rows, outputs, planner.cpu)
    runs = max(1, -(-rows // pixels) // TILES_PER_TASK)

    one = (1, 1)
    views = row_view(source.layout, source.layout.dtype.itemsize), row_view(result.layout)
    inputs = source.layout.extents[-1]
    width = 8 * result.layout.dtype.itemsize
    sizes, windows = (1, 1, 1, rows, shape[-1], inputs, outputs), (one, one, one)
    kernel = Convolution(*sizes, *windows, *views, (0, 0), parameters.rescale, pixels, blocks, runs, width)
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
        return convolution(planner, operation)
    source = image(planner, operation.operands[3], attributes, operation)
    result = planner.produce(operation.results[0], channels_last(4))
    images, _, height, width = result.layout.shape
    width_of_result = 8 * result.layout.dtype.itemsize
    kind = DepthwiseWords if planner.cpu.has_dot_product and width_of_result <= 16 else Depthwise
    kernel = kind(
        images,
        height,
        width,
        channels,
        (kh, kw),
        tuple(attributes.stride),
        tuple(attributes.dilation),
        image_view(source.layout, padding(attributes)),
        image_view(result.layout),
        parameters.rescale,
        width_of_result,
    )
    _call(planner, kernel, source, result, parameters, operation)
    planner.finish(result, operation)
    return True


def matmul(planner: Planner, operation: ir.Operation) -> bool:
    """Of two values that are known at run time: each matrix of the batch is a group, whose weights are packed first."""
    attributes = attributes_of(operation)
    init, scale_bias, first, second = operation.operands
    dtypes = {shape_and_dtype(value)[1] for value in (first, second)}
    pairs = elements.constant_value(scale_bias)
    if attributes.input1_unsigned or shape_and_dtype(init)[1] != np.int8:
        return False
    if (
        not dtypes <= {np.dtype(np.int8), np.dtype(np.int16)}
        or pairs is None
        or pairs.size != 2
        or not 0 <= attributes.shift < 64
    ):
        return False
    *batch, _, inner = shape_and_dtype(first)[0]
    bound = math.prod(_magnitude(value) for value in (first, second)) * inner + abs(int(pairs[0]))
    if bound >= 1 << 31:
        return False
    source, weights = (matrix(planner, value, operation) for value in (first, second))
    if len(dtypes) > 1:
        source, weights = (_in_16_bits(planner, each, operation) for each in (source, weights))
    result = planner.produce(operation.results[0], range(len(batch) + 2))
    scalars = requantization(attributes, attributes.shift, np.dtype(np.int8))
    rescale = Rescale.of(pairs[1::2], scalars, bound)
    kernel = _product(planner, source, result, rescale)
    pack = _pack(planner, weights, kernel)
    types = [ir.MemRefType(type_) for type_ in pack.arguments(planner.cpu)[2:]]
    packed, biases = (planner.allocate(Layout.plain(type_.shape, np.int8)) for type_ in types)
    planner.call(pack, [weights, int(pairs[0]), packed, biases], operation)
    channels = kernel.groups * kernel.padded_outputs(planner.cpu)
    multipliers = planner.constants.add(np.full(channels, pairs[1], np.int32))
    planner.call(kernel, [source, packed, biases, multipliers, result, *scalars], operation)
    return True


def _in_16_bits(planner: Planner, source: Tensor, operation: ir.Operation) -> Tensor:
    """The values of bytes as i16."""
    if source.layout.dtype == np.int16:
        return source
    limits, one = np.iinfo(np.int16), np.int32([1])
    scalars = [0, 0, int(limits.min), int(limits.max)]
    result = planner.allocate(Layout.inner(source.layout.shape, np.int16))
    kernel = MultiplyAdd(Rescale.of(one, scalars, BIAS), 1)
    kernel = Map.of(kernel, [source.layout, result.layout], [range(len(source.layout.shape))])
    buffers = [planner.constants.add(each) for each in (one, np.int32([-BIAS * source.layout.biased]), one)]
    planner.call(kernel, [source, result, *buffers, *scalars], operation)
    return result


def _product(planner: Planner, source: Tensor, result: Tensor, rescale: Rescale) -> Convolution:
    """The product of matrices, those of a batch as groups."""
    *batch, rows, columns = result.layout.shape
    size = source.layout.dtype.itemsize
    pixels, blocks = tile_sizes(rows, columns, planner.cpu)
    return Convolution(
        1,
        math.prod(batch),
        1,
        rows,
        source.layout.shape[-1],
        size * source.layout.extents[-1],
        columns,
        *[(1, 1)] * 3,
        row_view(source.layout, size),
        row_view(result.layout),
        (rows * size * source.layout.extents[-1], rows * result.layout.extents[-1]),
        rescale,
        pixels,
        blocks,
        operand_width=8 * size,
        static_weights=False,
    )


def _pack(planner: Planner, weights: Tensor, kernel: Convolution) -> Pack:
    *_, inner, columns = weights.layout.shape
    tiles, layout = kernel.output_tiles(planner.cpu), weights.layout
    sizes = (8 * layout.dtype.itemsize, kernel.groups, inner, columns, layout.elements, layout.extents[-1])
    return Pack(*sizes, kernel.steps, kernel.blocks, tiles)


def _magnitude(value: ir.Value) -> int:
    """The greatest that a value can have: the limits of what computes it are often closer than those of its type."""
    limits = np.iinfo(shape_and_dtype(value)[1])
    source = value
    while not isinstance(source.owner, ir.Block) and source.owner.operation.name in _MOVEMENTS:
        source = source.owner.operation.operands[_MOVEMENTS[source.owner.operation.name]]
    if isinstance(source.owner, ir.Block) or source.owner.operation.name != "torq_hl.fma":
        return -int(limits.min)
    return _magnitude_of_multiply_add(source.owner.operation) or -int(limits.min)


def _magnitude_of_multiply_add(operation: ir.Operation) -> int | None:
    """Of the results of a torq_hl.fma of constants: they are monotonic in its input."""
    attributes = attributes_of(operation)
    _, weights, scale_bias, value = operation.operands
    weights, pairs = elements.constant_value(weights), elements.constant_value(scale_bias)
    shift = attributes.shift_factor
    if weights is None or pairs is None or attributes.input_unsigned or not 0 <= shift < 64:
        return None
    limits = np.iinfo(shape_and_dtype(value)[1])
    bias, multiplier = pairs[0::2].astype(object), pairs[1::2].astype(object)
    products = [(int(limit) * weights.astype(object) + bias) * multiplier for limit in (limits.min, limits.max)]
    results = [((product + ((1 << shift) >> 1)) >> shift) + attributes.output_zp for product in products]
    return max(int(np.abs(np.clip(each, attributes.output_min, attributes.output_max)).max()) for each in results)


class Parameters:
    """Constant weights, biases and multipliers for activations that are stored plus 128."""

    def __init__(
        self,
        weights: np.ndarray,
        bias: np.ndarray,
        multiplier: np.ndarray,
        rescale: Rescale,
        scalars: list[int],
    ) -> None:
        self.weights, self.bias, self.multiplier, self.rescale = weights, bias, multiplier, rescale
        self.scalars = scalars

    @classmethod
    def of(cls, operation: ir.Operation, attributes: SimpleNamespace) -> "Parameters | None":
        """None where the weights are not constant and of 8 bits, or a sum may not fit."""
        init, weights, scale_bias, input_ = operation.operands
        if any(shape_and_dtype(value)[1] != np.int8 for value in (weights, input_)):
            return None
        dtype = shape_and_dtype(init)[1]
        if dtype not in (np.int8, np.int16, np.int32):
            return None
        weights, pairs = elements.constant_value(weights), elements.constant_value(scale_bias)
        if weights is None or pairs is None or pairs.dtype != np.int32 or not 0 <= attributes.shift_factor < 64:
            return None
        channel_axis = weights.ndim - 1 if operation.name == "torq_hl.fully_connected" else 0
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
        scalars = requantization(attributes, attributes.shift_factor, dtype)
        return cls(weights, stored, multiplier, Rescale.of(multiplier, scalars, bound), scalars)


def requantization(attributes: SimpleNamespace, shift: int, dtype: np.dtype) -> list[int]:
    """Shift, zero point, minimum and maximum of an output as it is stored."""
    bias, limits = BIAS * (dtype == np.int8), np.iinfo(dtype)
    low, high = max(attributes.output_min, limits.min), min(attributes.output_max, limits.max)
    return [shift, attributes.output_zp + bias, low + bias, high + bias]


def image(
    planner: Planner, value: ir.Value, attributes: SimpleNamespace, operation: ir.Operation, channels: int = 0
) -> Tensor:
    """A value with channels innermost, at least so many, and with the padding that the operation needs around it."""
    tensor = planner.tensor(value)
    layout, needed, fill = tensor.layout, padding(attributes), attributes.input_zp + BIAS
    order = channels_last(len(layout.shape))
    fits = (
        layout.order == order
        and layout.biased
        and layout.extents[-1] % 4 == 0
        and layout.extents[-1] >= channels
        and layout.low[-1] == 0
        and (not any(needed) or tensor.fill == fill)
        and all(have >= need for have, need in zip(room_around_image(layout), needed, strict=True))
    )
    if fits:
        return tensor
    wanted = Layout.inner(layout.shape, layout.dtype, order, needed, channels)
    return planner.in_layout(tensor, wanted, operation, fill if any(needed) else None)


def matrix(planner: Planner, value: ir.Value, operation: ir.Operation) -> Tensor:
    """A value as it is written, with the last dimension a multiple of four."""
    tensor = planner.tensor(value)
    layout, plain = tensor.layout, Layout.inner(tensor.layout.shape, tensor.layout.dtype)
    whole_words = layout.extents[-1] * layout.dtype.itemsize % WORD == 0
    if layout.order == plain.order and layout.biased == plain.biased and whole_words and not layout.has_halo:
        return tensor
    return planner.in_layout(tensor, plain, operation)


def row_view(layout: Layout, units: int = 1) -> View:
    """A matrix as an image of one row, whose pixels are the rows of the matrix.

    Args:
      units: parts that an element counts as; the kernel reads bytes and writes elements.
    """
    elements = units * layout.elements
    return View(elements, units * layout.origin, elements, elements, units * layout.extents[-1])


def image_view(layout: Layout, pad: tuple[int, int, int, int] = (0, 0, 0, 0)) -> View:
    """The buffer of an image from where its padding begins."""
    image_stride, *row, pixel, _ = layout.strides
    row = row[0] if row else image_stride
    return View(layout.elements, layout.origin - pad[2] * row - pad[0] * pixel, image_stride, row, pixel)


def _is_plain(attributes: SimpleNamespace) -> bool:
    return not (attributes.weight_zp or attributes.vectorization_mode or attributes.segment_output)


def _call(
    planner: Planner,
    kernel: Convolution | Depthwise | DepthwiseWords,
    source: Tensor,
    result: Tensor,
    parameters: Parameters,
    operation: ir.Operation,
) -> None:
    cpu, add = planner.cpu, planner.constants.add
    weights = add(kernel.pack(parameters.weights, cpu))
    channels = [add(kernel.pad_channels(each, cpu)) for each in (parameters.bias, parameters.multiplier)]
    planner.call(kernel, [source, weights, *channels, result, *parameters.scalars], operation)
