# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest
from onnx_models import BOOL, CONTRIB, FLOAT, INT8, UINT8, model, node, value

from torq_mlir.frontends.onnx import TensorInfo, load, model_inputs, model_outputs

CONSTANTS = {
    "s": np.float32(0.5),
    "s2": np.float32(0.25),
    "s1d": np.array([0.5], np.float32),
    "sc": np.array([0.5, 0.25], np.float32),
    "z": np.int8(3),
    "zu": np.uint8(200),
    "zc": np.array([1, 2], np.int8),
    "axes": np.array([0]),
}


def interface(nodes, inputs, outputs):
    loaded = load(model(nodes, inputs, outputs, CONSTANTS))
    return model_inputs(loaded), model_outputs(loaded)


def test_real_tensors_are_not_quantized():
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    inputs, outputs = interface(nodes, [value("x", FLOAT, [2, 3])], [value("y", FLOAT, None)])
    assert inputs == [TensorInfo("x", (2, 3), np.dtype(np.float32))]
    assert outputs == [TensorInfo("y", (2, 3), np.dtype(np.float32))]


def test_integer_tensors_have_the_parameters_of_their_nodes():
    nodes = [node("DequantizeLinear", ["x", "s1d", "zu"], ["d"]), node("QuantizeLinear", ["d", "s2", "z"], ["y"])]
    inputs, outputs = interface(nodes, [value("x", UINT8, [2, 3])], [value("y", INT8, None)])
    assert inputs == [TensorInfo("x", (2, 3), np.dtype(np.uint8), 0.5, 200)]
    assert outputs == [TensorInfo("y", (2, 3), np.dtype(np.int8), 0.25, 3)]


def test_quantized_operators_have_parameters_for_each_tensor():
    nodes = [node("QLinearAdd", ["a", "s", "z", "b", "s2", "z", "s2", ""], ["y"], **CONTRIB)]
    values = [value("a", INT8, [2]), value("b", INT8, [2])]
    inputs, outputs = interface(nodes, values, [value("y", INT8, None)])
    assert [(info.name, info.scale, info.zero_point) for info in inputs + outputs] == [
        ("a", 0.5, 3),
        ("b", 0.25, 3),
        ("y", 0.25, 0),
    ]


def test_nodes_that_move_elements_are_looked_through():
    nodes = [
        node("Unsqueeze", ["x", "axes"], ["u"]),
        node("MaxPool", ["u"], ["m"], kernel_shape=[2, 2]),
        node("QLinearSigmoid", ["m", "s", "z", "s2", "z"], ["q"], **CONTRIB),
        node("Flatten", ["q"], ["y"]),
    ]
    inputs, outputs = interface(nodes, [value("x", INT8, [2, 4, 4])], [value("y", INT8, None)])
    assert (inputs[0].scale, inputs[0].zero_point) == (0.5, 3)
    assert (outputs[0].scale, outputs[0].zero_point) == (0.25, 3)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("DequantizeLinear", ["x", "s2", "z"], ["y"])],
        [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("Cast", ["x"], ["y"], to=FLOAT)],
        [node("DequantizeLinear", ["x", "sc", "zc"], ["y"], axis=1)],
        [node("Cast", ["x"], ["y"], to=FLOAT)],
    ],
    ids=["readers disagree", "one reader does not dequantize", "per channel", "not dequantized"],
)
def test_without_one_scale_an_input_is_not_described_as_quantized(nodes):
    outputs = [value(n.output[0], FLOAT, None) for n in nodes]
    inputs, _ = interface(nodes, [value("x", INT8, [3, 2])], outputs)
    assert inputs == [TensorInfo("x", (3, 2), np.dtype(np.int8))]


def test_other_integers_are_plain():
    nodes = [node("Where", ["c", "x", "x"], ["y"]), node("Shape", ["x"], ["n"])]
    values = [value("c", BOOL, [2]), value("x", INT8, [2])]
    inputs, outputs = interface(nodes, values, [value("y", INT8, None), value("n", 7, None)])
    assert [info.dtype for info in inputs + outputs] == [np.bool_, np.int8, np.int8, np.int64]
    assert all(info.scale is None and info.zero_point is None for info in inputs + outputs)
