# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and numerics against the outputs of the vendor's NPU simulator, exactly.

Each quantized layer of the models in test/data/oracle becomes the call of a kernel, with its constants computed by
`torq_mlir.numerics` from the scales and zero points of the model.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from torq_mlir.backends.interpreter import kernels
from torq_mlir.numerics.addition import add_bias, add_weights
from torq_mlir.numerics.quantize import dequantize, quantize
from torq_mlir.numerics.rescale import multiplier_and_shift, real_scale
from torq_mlir.numerics.zero_points import (
    accumulator_bound,
    check_int32_accumulator,
    fold_weight_zero_point,
    input_zero_point_correction,
)

ORACLE = Path(__file__).parents[2] / "data" / "oracle"
MODELS = sorted(path.stem for path in ORACLE.glob("*.onnx"))


class Quantized(NamedTuple):
    """Integers with their scale and zero point."""

    values: np.ndarray
    scale: np.float32
    zero_point: int


def bounds(zero_point):
    return {"output_zp": int(zero_point), "output_min": -128, "output_max": 127}


def interleaved(bias, multiplier):
    return np.stack(np.broadcast_arrays(bias, multiplier), axis=-1).astype(np.int32).reshape(-1)


def convolution(attributes, x, w, bias, scale, zero_point):
    weights = fold_weight_zero_point(w.values, w.zero_point)
    axes = tuple(range(1, weights.ndim))
    total = bias.values + input_zero_point_correction(weights, x.zero_point, axes)
    check_int32_accumulator(accumulator_bound(weights, -128, 127, total, axes))
    multiplier, shift = multiplier_and_shift(real_scale([x.scale, w.scale], scale))
    common = {"input_zp": x.zero_point, "weight_zp": 0, "vectorization_mode": 0, "shift_factor": shift}
    common |= bounds(zero_point)
    scale_bias = interleaved(total, multiplier)
    if "kernel_shape" not in attributes:
        init = np.empty((len(x.values), len(weights)), np.int8)
        return kernels.fully_connected(init, weights.T, scale_bias, x.values, **common)
    top, left, bottom, right = attributes["pads"]
    common |= {"groups": attributes["group"], "stride": attributes["strides"], "dilation": attributes["dilations"]}
    kernel = kernels.conv2d if attributes["group"] == 1 else kernels.depthwise_conv2d
    size = [
        (extent + sum(pads) - kernel_size) // stride + 1
        for extent, pads, kernel_size, stride in zip(
            x.values.shape[2:], ((top, bottom), (left, right)), weights.shape[2:], common["stride"], strict=True
        )
    ]
    init = np.empty((len(x.values), len(weights), *size), np.int8)
    return kernel(init, weights, scale_bias, x.values, pad=(left, right, top, bottom), **common)


def addition(attributes, x1, x2, scale, zero_point):
    weights, shift = add_weights(x1.scale, x2.scale, scale)
    scale_bias = np.array([add_bias(weights, x1.zero_point, x2.zero_point), 1], np.int32)
    operands = weights, scale_bias, x1.values, x2.values
    init = np.empty_like(x1.values)
    return kernels.add(init, *operands, name="add", input_zp=0, shift_factor=shift, **bounds(zero_point))


def multiplication(attributes, x1, x2, scale, zero_point):
    centered = []
    for x in (x1, x2):
        attributes = {"output_zp": 0, "output_min": -(2**15), "output_max": 2**15 - 1, "shift_factor": 0}
        scale_bias = np.array([-x.zero_point, 1], np.int32)
        init = np.empty(x.values.shape, np.int16)
        centered.append(kernels.fma(init, np.int8([1]), scale_bias, x.values, **attributes))
    multiplier, shift = multiplier_and_shift(real_scale([x1.scale, x2.scale], scale))
    scale_bias = interleaved(0, multiplier)
    return kernels.mul(np.empty_like(x1.values), scale_bias, *centered, shift=shift, **bounds(zero_point))


def average(attributes, x, scale, zero_point):
    """A depthwise convolution with weights of ones."""
    height, width = attributes["kernel_shape"]
    weights = np.ones((x.values.shape[1], 1, height, width), np.int8)
    ones = Quantized(weights, 1 / (height * width), 0)
    layer = {**attributes, "group": len(weights), "pads": (0,) * 4, "dilations": (1, 1)}
    return convolution(layer, x, ones, Quantized(np.zeros(len(weights), np.int32), 1, 0), scale, zero_point)


def global_average(attributes, x, scale, zero_point):
    pixels = x.values.shape[2] * x.values.shape[3]
    multiplier, shift = multiplier_and_shift(real_scale([x.scale], scale, count=pixels))
    operands = np.int8([1]), interleaved(-pixels * x.zero_point, multiplier), x.values.transpose(0, 2, 3, 1)
    init = np.empty((len(x.values), 1, 1, x.values.shape[1]), np.int8)
    y = kernels.avg_pool2d(init, *operands, input_zp=x.zero_point, shift_factor=shift, **bounds(zero_point))
    return y.transpose(0, 3, 1, 2)


def sigmoid(attributes, x, scale, zero_point):
    inputs = dequantize(np.arange(-128, 128), x.scale, x.zero_point)
    values = quantize(1 / (1 + np.exp(-inputs)), scale, zero_point, -128, 127, np.int8, divide=True)
    words = (values.astype(np.int32) << 8) & 0xFFFF
    return kernels.table(np.empty_like(x.values), np.int32([-128, 128]), x.values, static_table=words)


LAYERS = {
    "Add": addition,
    "AveragePool": average,
    "Conv": convolution,
    "Gemm": convolution,
    "GlobalAveragePool": global_average,
    "Mul": multiplication,
    "Sigmoid": sigmoid,
}


def run(graph, inputs):
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    values |= inputs
    pending = None
    for node in graph.node:
        operands = [values.get(name) for name in node.input]
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "DequantizeLinear":
            result = Quantized(operands[0], operands[1], int(operands[2]))
        elif node.op_type == "QuantizeLinear":
            layer, arguments = pending
            result = layer(*arguments, operands[1], int(operands[2]))
        elif node.op_type == "Flatten":
            result = operands[0]._replace(values=operands[0].values.reshape(len(operands[0].values), -1))
        elif node.op_type == "MaxPool":
            result = max_pool(attributes, operands[0])
        else:
            pending = LAYERS[node.op_type], [attributes, *operands]
            result = None
        values[node.output[0]] = result
    return values[graph.output[0].name]


def max_pool(attributes, x):
    operands = np.int8([1]), np.int32([0, 1]), x
    windows = {"kernel": attributes["kernel_shape"], "stride": attributes["strides"], "pad": (0,) * 4}
    init = np.empty((*x.shape[:2], x.shape[2] // 2, x.shape[3] // 2), np.int8)
    return kernels.maxpool2d(init, *operands, input_zp=-128, output_min=-128, output_max=127, **windows)


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_the_npu(name):
    graph = onnx.load(ORACLE / f"{name}.onnx").graph
    with np.load(ORACLE / "oracle.npz") as oracle:
        inputs = {key: oracle[f"{name}/{key}"] for key in ("x0", "x1") if f"{name}/{key}" in oracle}
        expected = oracle[f"{name}/npu"]
    np.testing.assert_array_equal(run(graph, inputs), expected)


def test_all_models_are_there():
    assert len(MODELS) == 15
