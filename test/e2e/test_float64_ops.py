# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators in float64 against ONNX Runtime's in float32."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from e2e.float64_ops import OPERATORS
from e2e.graph import attributes_of
from e2e.reference import reference_session

IMAGE = (2, 6, 9, 8)
WINDOW_CASES = [
    {},
    {"strides": [2, 1]},
    {"pads": [1, 0, 2, 1]},
    {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
    {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
    {"auto_pad": "VALID"},
]


def float32_result(op_type: str, operands, **attributes) -> tuple[np.ndarray, onnx.NodeProto]:
    """The result of ONNX Runtime, and the node; operands that are None are left out."""
    names = ["" if operand is None else f"x{index}" for index, operand in enumerate(operands)]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    names, operands = [name for name in names if name], [operand for operand in operands if operand is not None]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(operand.dtype), operand.shape)
        for name, operand in zip(names, operands, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    output.type.tensor_type.ClearField("shape")
    graph = helper.make_graph([node], op_type, inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return reference_session(model).run(None, dict(zip(names, operands, strict=True)))[0], node


def check(op_type: str, *shapes: tuple[int, ...] | np.ndarray, **attributes) -> None:
    rng = np.random.default_rng(0)
    operands = [
        shape if isinstance(shape, np.ndarray) else rng.standard_normal(shape, dtype=np.float32) for shape in shapes
    ]
    expected, node = float32_result(op_type, operands, **attributes)
    doubles = [operand.astype(np.float64) if operand.dtype == np.float32 else operand for operand in operands]
    actual = OPERATORS[op_type](attributes_of(node), *doubles)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("window", WINDOW_CASES, ids=str)
def test_conv(window):
    check("Conv", IMAGE, (4, 6, 3, 2), (4,), **window)


@pytest.mark.parametrize("group", [2, 3, 6])
def test_conv_groups(group):
    check("Conv", IMAGE, (12, 6 // group, 3, 3), group=group, pads=[1, 1, 1, 1])


def test_conv_dilated_and_other_ranks():
    check("Conv", IMAGE, (4, 6, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
    check("Conv", (2, 6, 11), (4, 6, 3), strides=[2])
    check("Conv", (1, 3, 5, 6, 7), (4, 3, 2, 2, 2))


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 1], "pads": [1, 0, 2, 1]},
        {"strides": [3, 2], "output_padding": [2, 1]},
        {"strides": [2, 2], "dilations": [2, 3], "pads": [0, 2, 1, 0]},
    ],
    ids=str,
)
def test_conv_transpose(attributes):
    check("ConvTranspose", IMAGE, (6, 4, 3, 2), (4,), **attributes)
    check("ConvTranspose", IMAGE, (6, 2, 3, 3), group=3, **attributes)


def test_conv_transpose_of_one_dimension():
    check("ConvTranspose", (2, 6, 5), (6, 1, 3), strides=[2], group=6)


@pytest.mark.parametrize("window", WINDOW_CASES, ids=str)
@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pooling(op_type, window):
    check(op_type, IMAGE, kernel_shape=[3, 2], **window)


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pooling_ceil_mode(op_type):
    check(op_type, IMAGE, kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1)
    check(op_type, IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)


def test_average_pool_counts_padding():
    check("AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)


def test_products():
    check("Gemm", (3, 5), (4, 5), (4,), transB=1, alpha=0.5, beta=2.0)
    check("Gemm", (5, 3), (5, 4), transA=1)
    check("MatMul", (2, 3, 5), (5, 4))


def test_elementwise():
    for op_type in ("Add", "Sub", "Mul", "Min", "Max", "PRelu"):
        check(op_type, IMAGE, (6, 1, 1))
    check("Div", IMAGE, np.array([0.3, -2.0, 5.0, 1.0, 0.7, -0.1], np.float32).reshape(6, 1, 1))
    for op_type in ("Abs", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Neg", "Relu"):
        check(op_type, IMAGE)
    for op_type in ("Sigmoid", "Tanh"):
        check(op_type, IMAGE)
    check("Gelu", IMAGE, approximate="tanh")
    check("HardSigmoid", IMAGE, alpha=0.3, beta=0.1)
    check("Elu", IMAGE, alpha=0.5)
    check("Sqrt", np.array([0.0, 0.25, 3.0], np.float32))
    check("Clip", IMAGE, np.array(-0.5, np.float32), np.array(0.7, np.float32))
    check("Softmax", (3, 7), axis=-1)


def test_reductions_and_normalizations():
    check("GlobalAveragePool", IMAGE)
    check("GlobalMaxPool", IMAGE)
    for op_type in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"):
        check(op_type, IMAGE, np.array([2, 3]), keepdims=0)
        check(op_type, IMAGE, np.array([-3]))
    check("LRN", IMAGE, size=5, alpha=0.1, beta=0.75, bias=1.0)


def test_movement():
    check("Concat", IMAGE, (2, 3, 9, 8), axis=1)
    check("Reshape", IMAGE, np.array([0, -1, 12]))
    check("Flatten", IMAGE, axis=2)
    check("Transpose", IMAGE, perm=[0, 2, 3, 1])
    check("Squeeze", (2, 1, 3, 1), np.array([1]))
    check("Unsqueeze", (2, 3), np.array([0, 2]))
    check("Expand", (2, 1, 3), np.array([4, 1, 5, 1]))


def test_slice():
    check("Slice", IMAGE, np.array([1, -3]), np.array([5, 2**31]), np.array([1, 3]))
    check("Slice", IMAGE, np.array([7, 0]), np.array([0, 9]), np.array([2, 3]), np.array([-2, 3]))
    check("Slice", IMAGE, np.array([-1]), np.array([-(2**31)]), np.array([3]), np.array([-1]))


def test_pad():
    check("Pad", (2, 4, 5), np.array([0, 1, 2, 3, 0, -1]), np.array(0.5, np.float32))
    check("Pad", (2, 4, 5), np.array([1, 2]), np.array(0.0, np.float32), np.array([2]))
    for mode in ("edge", "reflect", "wrap"):
        check("Pad", (2, 4, 5), np.array([0, 1, 2, 0, 0, 1]), mode=mode)


@pytest.mark.parametrize("axis", [0, -1])
def test_gather(axis):
    check("Gather", (5, 4), np.array([[1, -1], [0, 3]]), axis=axis)
    check("Gather", (5, 4), np.asarray(2), axis=axis)


@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_normalization(axis):
    shape = (3, 4, 6)
    check("LayerNormalization", shape, shape[axis:], shape[axis:], axis=axis, epsilon=1e-3)
    check("LayerNormalization", shape, shape[axis:], axis=axis)


NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("scales", [(2, 2), (1.5, 3), (0.5, 0.75), (1, 2)], ids=str)
@pytest.mark.parametrize("mode", ["linear", *NEAREST])
def test_resize(mode, scales, coordinates):
    attributes = {"coordinate_transformation_mode": coordinates, "mode": "linear"}
    if mode in NEAREST:
        attributes |= {"mode": "nearest", "nearest_mode": mode}
    check("Resize", (1, 2, 6, 8), np.zeros(0, np.float32), np.array([1, 1, *scales], np.float32), **attributes)


def test_resize_to_sizes():
    x, sizes = np.random.default_rng(0).standard_normal((1, 2, 6, 8), np.float32), np.array([1, 2, 9, 4])
    expected, _ = float32_result("Resize", [x, None, None, sizes], mode="linear")
    np.testing.assert_allclose(OPERATORS["Resize"]({"mode": b"linear"}, x, None, None, sizes), expected, atol=1e-5)
