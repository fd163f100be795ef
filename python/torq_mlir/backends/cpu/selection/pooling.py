# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows without weights."""

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.kernels.pooling import GlobalAverage, MaxPool
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.planning import BIAS, Planner, attributes_of, channels_last, shape_and_dtype
from torq_mlir.backends.cpu.requantize import Rescale
from torq_mlir.dialects import elements

from .weighted import image_view, requantization


def max_pool(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    value = operation.operands[3]
    shape, dtype = shape_and_dtype(value)
    if dtype != np.int8 or attributes.segment_output:
        return False
    source = planner.tensor(value)
    if source.layout.order != channels_last(4) or not source.layout.biased:
        source = planner.in_layout(source, Layout.inner(shape, dtype, channels_last(4)), operation)
    result = planner.produce(operation.results[0])
    images, channels, height, width = result.layout.shape
    left, _, top, _ = attributes.pad
    kernel = MaxPool(
        images,
        height,
        width,
        channels,
        shape[2:],
        tuple(attributes.kernel),
        tuple(attributes.stride),
        (top, left),
        image_view(source.layout),
        image_view(result.layout),
    )
    limits = (min(max(value, -BIAS), BIAS - 1) + BIAS for value in (attributes.output_min, attributes.output_max))
    planner.call(kernel, [source, result, attributes.input_zp + BIAS, *limits], operation)
    planner.finish(result, operation)
    return True


def global_average(planner: Planner, operation: ir.Operation) -> bool:
    """The input and the output have channels innermost."""
    attributes = attributes_of(operation)
    init, _, scale_bias, value = operation.operands
    shape, dtype = shape_and_dtype(value)
    pairs = elements.constant_value(scale_bias)
    if (
        dtype != np.int8
        or shape_and_dtype(init)[1] != np.int8
        or pairs is None
        or not 0 <= attributes.shift_factor < 64
    ):
        return False
    images, height, width, channels = shape
    bound = BIAS * height * width + int(np.abs(pairs[0::2].astype(np.int64)).max())
    if bound >= 1 << 31:
        return False
    source = planner.tensor(value)
    if source.layout.order != (0, 1, 2, 3) or not source.layout.biased:
        source = planner.in_layout(source, Layout.inner(shape, dtype), operation)
    result = planner.produce(operation.results[0], range(4))
    scalars = requantization(attributes, attributes.shift_factor, dtype)
    rescale = Rescale.of(pairs[1::2], scalars, bound)
    views = image_view(source.layout), image_view(result.layout)
    kernel = GlobalAverage(images, height, width, channels, *views, rescale)
    parameters = np.zeros((2, kernel.padded_channels(planner.cpu)), np.int32)
    parameters[:, :channels] = np.broadcast_to(pairs.reshape(-1, 2).T, (2, channels))
    parameters[0] -= BIAS * height * width
    bias, multiplier = (planner.constants.add(each) for each in parameters)
    planner.call(kernel, [source, bias, multiplier, result, *scalars], operation)
    return True
