# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-convolutions-to-matmuls: convolutions as matrix products, depthwise ones and pooling with channels last."""

import math
from types import SimpleNamespace

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import elements, ods, torq_hl
from torq_mlir.rewriting.patterns import NoMatch, Pattern, apply_greedily
from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    element_type,
    pad_with,
    reshape,
    scalar_constant,
)

# Of the factors of a sum that its producer keeps inside of 32 bits.
_I32_SUM_BITS = 24
_TO_CHANNELS_LAST, _TO_CHANNELS_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def run(op: ir.Operation) -> None:
    apply_greedily(op, PATTERNS)


def convolution_to_product(operation: ir.Operation, rewriter) -> object:
    """`conv2d` becomes `fully_connected` on the windows of the image, one row for each pixel of the result."""
    attributes = _attributes(operation)
    init, weights, scale_bias, _ = operation.operands
    constant = _checked_weights(operation, attributes)
    if attributes.groups != 1:
        raise NoMatch(f"{attributes.groups} groups")
    outputs, _, *window = constant.shape
    with ir.InsertionPoint(operation), operation.location:
        batch, _, rows, columns = _shape(init)
        matrix = _windows(_padded(operation, attributes), (batch, rows, columns), window, attributes)
        # A window is stored row after row, with channels last; so are the weights of an output.
        flat = np.ascontiguousarray(constant.transpose(2, 3, 1, 0).reshape(-1, outputs))
        product = torq_hl.fully_connected(
            arith.constant(None, elements.from_numpy(flat, element_type(weights))),
            scale_bias,
            matrix,
            input_zp=attributes.input_zp,
            weight_zp=attributes.weight_zp,
            vectorization_mode=attributes.vectorization_mode,
            element_type=element_type(init),
            **_rescale(attributes),
        )
        result = reshape(product, [batch, rows, columns, outputs])
        rewriter.replace_op(operation, [torq_hl.transpose(result, perm=_TO_CHANNELS_FIRST)])
    return None


def depthwise_to_channels_last(operation: ir.Operation, rewriter) -> object:
    """`depthwise_conv2d` becomes linalg.depthwise_conv_2d_nhwc_hwc and an `fma`, which rescales the accumulator."""
    attributes = _attributes(operation)
    init, weights, scale_bias, value = operation.operands
    constant = _checked_weights(operation, attributes)
    channels = constant.shape[0]
    if channels != attributes.groups:
        raise NoMatch("an input channel has several outputs")
    if element_type(value).width + element_type(weights).width > _I32_SUM_BITS:
        raise NoMatch("the accumulator is not known to fit 32 bits")
    with ir.InsertionPoint(operation), operation.location:
        batch, _, rows, columns = _shape(init)
        accumulator = ir.IntegerType.get_signless(32)
        empty = tensor.empty([batch, rows, columns, channels], accumulator)
        sums = linalg.depthwise_conv_2d_nhwc_hwc(
            _padded(operation, attributes),
            arith.constant(None, elements.from_numpy(constant[:, 0].transpose(1, 2, 0), element_type(weights))),
            outs=[linalg.fill(scalar_constant(accumulator, 0), outs=[empty])],
            strides=list(attributes.stride),
            dilations=list(attributes.dilation),
        )
        one = arith.constant(None, elements.from_numpy(np.ones(1, np.int8)))
        rows_of_channels = reshape(sums, [batch * rows * columns, channels])
        rescaled = torq_hl.fma(
            one, scale_bias, rows_of_channels, element_type=element_type(init), **_rescale(attributes)
        )
        result = reshape(rescaled, [batch, rows, columns, channels])
        rewriter.replace_op(operation, [torq_hl.transpose(result, perm=_TO_CHANNELS_FIRST)])
    return None


def pooling_to_channels_last(operation: ir.Operation, rewriter) -> object:
    """`maxpool2d` becomes linalg.pooling_nhwc_max, with the clamp after it."""
    attributes = _attributes(operation)
    init, _, _, value = operation.operands
    storage = element_type(value)
    if not isinstance(storage, ir.IntegerType) or not _is_static(init, value) or attributes.segment_output:
        raise NoMatch("not integers of static shape")
    with ir.InsertionPoint(operation), operation.location:
        least, greatest = -(1 << (storage.width - 1)), (1 << (storage.width - 1)) - 1
        shape = [_shape(init)[d] for d in _TO_CHANNELS_LAST]
        empty = tensor.empty(shape, storage)
        filled = linalg.fill(scalar_constant(storage, least), outs=[empty])
        window = tensor.empty(list(attributes.kernel), storage)
        image = _padded(operation, attributes)
        pooled = linalg.pooling_nhwc_max(
            image, window, outs=[filled], strides=list(attributes.stride), dilations=[1, 1]
        )
        low, high = max(attributes.output_min, least), min(attributes.output_max, greatest)
        if (low, high) != (least, greatest):
            lower, upper = scalar_constant(storage, low), scalar_constant(storage, high)
            pooled = build_elementwise([pooled], empty, lambda x: arith.minsi(arith.maxsi(x, lower), upper))
        rewriter.replace_op(operation, [torq_hl.transpose(pooled, perm=_TO_CHANNELS_FIRST)])
    return None


def _checked_weights(operation: ir.Operation, attributes: SimpleNamespace) -> np.ndarray:
    init, weights, _, value = operation.operands
    if not isinstance(element_type(value), ir.IntegerType):
        raise NoMatch("the sum of floats has an order")
    if attributes.segment_output or getattr(attributes, "is_dw1d_stride1", False):
        raise NoMatch("a layout of the hardware")
    if not _is_static(init, value):
        raise NoMatch("a shape is not static")
    constant = elements.constant_value(weights)
    if constant is None:
        raise NoMatch("the weights are not constant")
    return constant


def _padded(operation: ir.Operation, attributes: SimpleNamespace) -> ir.Value:
    """The image with channels last and with its border."""
    value = operation.operands[-1]
    channels_last = getattr(attributes, "nhwc_input", False)
    image = value if channels_last else torq_hl.transpose(value, perm=_TO_CHANNELS_LAST)
    left, right, top, bottom = attributes.pad
    return pad_with(image, [0, top, left, 0], [0, bottom, right, 0], attributes.input_zp)


def _rescale(attributes: SimpleNamespace) -> dict[str, int]:
    return {name: getattr(attributes, name) for name in ("output_zp", "output_min", "output_max", "shift_factor")}


def _windows(image: ir.Value, result: tuple, window: list[int], attributes: SimpleNamespace) -> ir.Value:
    """A row for each pixel of the result: the pixels of the padded image [N, H, W, C] that it is computed from."""
    (batch, rows, columns), (high, wide) = result, window
    (stride_y, stride_x), (dilation_y, dilation_x) = attributes.stride, attributes.dilation
    _, height, width, channels = _shape(image)
    pixels, elements_of_window = batch * rows * columns, high * wide * channels
    if window == [1, 1] and (height, width) == (rows, columns):
        return reshape(image, [pixels, channels])
    n, y, x, i, j, c = (ir.AffineExpr.get_dim(d) for d in range(6))
    if dilation_x == 1:  # a row of the window is consecutive in memory
        image = reshape(image, [batch, height, width * channels])
        source = [n, y * stride_y + i * dilation_y, x * (stride_x * channels) + j]
        shape = [batch, rows, columns, high, wide * channels]
    else:
        source = [n, y * stride_y + i * dilation_y, x * stride_x + j * dilation_x, c]
        shape = [batch, rows, columns, high, wide, channels]
    rank = len(shape)
    maps = [ir.AffineMap.get(rank, 0, source), ir.AffineMap.get_identity(rank)]
    empty = tensor.empty(shape, element_type(image))
    windows = build_generic([image], empty, maps, [PARALLEL] * rank, lambda pixel, _: pixel)
    return reshape(windows, [pixels, elements_of_window])


def _attributes(operation: ir.Operation) -> SimpleNamespace:
    return SimpleNamespace(**ods.attribute_values(operation, torq_hl.OPERATIONS[operation.name]))


def _is_static(*values: ir.Value) -> bool:
    return all(ir.RankedTensorType(value.type).has_static_shape and math.prod(_shape(value)) for value in values)


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


PATTERNS = (
    Pattern("torq_hl.conv2d", convolution_to_product),
    Pattern("torq_hl.depthwise_conv2d", depthwise_to_channels_last),
    Pattern("torq_hl.maxpool2d", pooling_to_channels_last),
)
