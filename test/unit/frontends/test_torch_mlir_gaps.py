# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir lowers wrongly on its own."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import torq_mlir
from torq_mlir.errors import ModelError


def _model(node, inputs, outputs):
    graph = helper.make_graph([node], "graph", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@pytest.mark.parametrize("attributes", [{"alpha": 2.0}, {"alpha": 0.5, "transB": 1}, {"alpha": 3.0, "beta": 2.0}])
def test_gemm_without_c_keeps_alpha(attributes):
    rng = np.random.default_rng(0)
    shape = (4, 3) if attributes.get("transB") else (3, 4)
    feed = {"x": rng.random((2, 3), np.float32), "w": rng.random(shape, np.float32)}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feed.items()]
    node = helper.make_node("Gemm", ["x", "w"], ["y"], name="gemm", **attributes)
    model = _model(node, values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 4))])
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    (result,) = torq_mlir.compile(model)(**feed)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_unique_with_one_output_is_refused():
    node = helper.make_node("Unique", ["x"], ["y"], name="unique")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (6,))]
    with pytest.raises(ModelError, match=r"unique \(Unique\)"):
        torq_mlir.compile(_model(node, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n",))]))


def test_concatenation_of_empty_tensors_is_refused():
    node = helper.make_node("Concat", ["x", "x"], ["y"], name="concat", axis=-2)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 0, 3))]
    with pytest.raises(ModelError, match=r"concat \(Concat\): all tensors are empty along dimension -2"):
        torq_mlir.compile(_model(node, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 0, 3))]))


def _compare(nodes, shape, constants, outputs=TensorProto.FLOAT, dtype=np.float32):
    """Small integers, whose sums are exact in any order, against ONNX Runtime."""
    x = np.random.default_rng(0).integers(0, 50, shape).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", outputs, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    imports = [helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # of a shape that ONNX infers otherwise
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    (expected,) = session.run(None, {"x": x})
    (result,) = torq_mlir.compile(model)(x)
    np.testing.assert_array_equal(result, expected)


def _weights(shape, dtype=np.float32):
    return np.random.default_rng(1).integers(-5, 5, shape).astype(dtype)


@pytest.mark.parametrize(
    ("shape", "group", "attributes"),
    [
        ((3, 3, 3), 1, {"strides": [2, 2], "pads": [1, 1, 0, 0]}),
        ((3, 3, 3), 1, {"strides": [2, 2], "pads": [0, 1, 2, 0], "output_padding": [0, 1]}),
        ((2, 3), 2, {"strides": [2], "pads": [0, 1]}),
        ((3, 3, 3), 1, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        ((3, 3, 3), 1, {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        ((3, 3, 3), 1, {"strides": [2, 2], "output_shape": [10, 9]}),
        ((1, 3, 3), 4, {"strides": [2, 2]}),
        ((1, 3), 4, {"strides": [3], "pads": [1, 0], "output_padding": [1]}),
        ((1, 3, 3), 4, {"strides": [2, 1], "pads": [2, 1, 1, 0], "dilations": [1, 2]}),
        ((1, 1, 2), 4, {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    ],
)
def test_transposed_convolutions(shape, group, attributes):
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], name="up", group=group, **attributes)
    _compare([node], (1, 4, *[5] * (len(shape) - 1)), {"w": _weights((4, *shape))})


@pytest.mark.parametrize("axis", [0, 1])
def test_dequantized_weights_of_a_depthwise_transposed_convolution(axis):
    channels = 4 if axis == 0 else 1
    constants = {
        "w": _weights((4, 1, 3, 3), np.int8),
        "s": 2.0 ** np.arange(channels, dtype=np.float32),
        "z": np.arange(1, channels + 1, dtype=np.int8),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=axis),
        helper.make_node("ConvTranspose", ["x", "f"], ["y"], strides=[2, 2], group=4),
    ]
    _compare(nodes, (1, 4, 5, 5), constants)


def test_run_time_weights_of_a_depthwise_transposed_convolution_are_refused():
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], name="up", group=4)
    shapes = {"x": (1, 4, 5, 5), "w": (4, 1, 3, 3)}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    with pytest.raises(ModelError, match=r"^up \(ConvTranspose\): a depthwise one needs constant weights$"):
        torq_mlir.compile(_model(node, inputs, outputs))


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [3, 3], "strides": [2, 2]},
        {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [2, 2], "strides": [4, 4], "pads": [1, 0, 0, 1]},
        {"kernel_shape": [1, 2], "strides": [5, 1]},  # ONNX counts a window behind the image
        {"kernel_shape": [2, 2], "strides": [4, 4], "pads": [1, 1, 1, 1]},
    ],
)
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "AveragePool with padding", "QLinearAveragePool"])
def test_pooling_in_ceil_mode(kind, attributes):
    op_type = kind.split()[0]
    counted = {"count_include_pad": 1} if kind.endswith(("padding", "QLinearAveragePool")) else {}
    options = {"ceil_mode": 1, **attributes, **counted}
    if op_type != "QLinearAveragePool":
        _compare([helper.make_node(op_type, ["x"], ["y"], **options)], (1, 2, 6, 6), {})
        return
    node = helper.make_node(op_type, ["x", "sx", "zx", "sy", "zy"], ["y"], domain="com.microsoft", **options)
    constants = {"sx": np.float32(0.5), "zx": np.uint8(7), "sy": np.float32(0.1234567), "zy": np.uint8(3)}
    _compare([node], (1, 2, 6, 6), constants, TensorProto.UINT8, np.uint8)


@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("pads", [[0, 0, 2, 0], [1, 0, 2, 1], [1, 1, 1, 1]])
def test_counted_padding_of_windows_with_gaps(pads, ceil_mode):
    options = {"kernel_shape": [3, 2], "dilations": [2, 1], "pads": pads, "count_include_pad": 1}
    options["ceil_mode"] = ceil_mode
    _compare([helper.make_node("AveragePool", ["x"], ["y"], **options)], (1, 2, 6, 6), {})


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_with_other_channels_than_the_block(mode):
    node = helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2, mode=mode)
    _compare([node], (1, 12, 2, 3), {})


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize(
    ("shape", "pads"),
    [((5,), [2, 1]), ((3, 4), [0, 2, 1, 0]), ((1, 2, 4, 5), [0, 0, 1, 2, 0, 1, 2, 3]), ((2, 3), [0, 0, 0, 0])],
)
def test_pads_of_all_modes(mode, shape, pads):
    node = helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)
    _compare([node], shape, {"p": np.array(pads, np.int64)})


@pytest.mark.parametrize(("pads", "axes"), [([0, -1, 0, 1], None), ([-1, -2, 1, -1], None), ([-2, 2], [1])])
def test_pads_that_crop(pads, axes):
    constants = {"p": np.array(pads, np.int64), "v": np.float32(7)}
    if axes is not None:
        constants["a"] = np.array(axes, np.int64)
    _compare([helper.make_node("Pad", ["x", *constants], ["y"])], (4, 5), constants)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_of_opset_10_is_asymmetric(mode):
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    node = helper.make_node("Resize", ["x", "s"], ["y"], mode=mode)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 1, 4, 6))],
        [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=5)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    (result,) = torq_mlir.compile(model)(x)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5)
