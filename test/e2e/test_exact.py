# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exact values of quantized layers."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from e2e.exact import TIE, TIE_16_BIT_WEIGHTS, compare, exact_values, tolerance
from e2e.graph import QuantizedGraph
from e2e.models.catalog import model_inputs, quantized_model
from e2e.models.features import FEATURES
from e2e.reference import Reference


def add_model(output_zero_point: int = 3) -> QuantizedGraph:
    """`y = quantize(dequantize(a) + dequantize(b))` with scales 0.5, 0.25, 1 and zero points 1, -2, the given."""
    parameters = {"sa": 0.5, "sb": 0.25, "sy": 1.0}
    zero_points = {"za": 1, "zb": -2, "zy": output_zero_point}
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["a", "sa", "za"], ["a_real"], name="dq_a"),
            helper.make_node("DequantizeLinear", ["b", "sb", "zb"], ["b_real"], name="dq_b"),
            helper.make_node("Add", ["a_real", "b_real"], ["sum"], name="add"),
            helper.make_node("QuantizeLinear", ["sum", "sy", "zy"], ["y"], name="q"),
        ],
        "add",
        [helper.make_tensor_value_info(name, TensorProto.INT8, [4]) for name in ("a", "b")],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [4])],
        [numpy_helper.from_array(np.float32(value), name) for name, value in parameters.items()]
        + [numpy_helper.from_array(np.int8(value), name) for name, value in zero_points.items()],
    )
    return QuantizedGraph(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))


TENSORS = {"a": np.array([1, 2, 3, 127], np.int8), "b": np.array([-2, 0, 1, 127], np.int8)}
# (a - 1) / 2 + (b + 2) / 4 + 3
EXACT = np.array([3.0, 4.0, 4.75, 98.25])


def test_exact_values_of_an_addition():
    graph = add_model()
    (layer,) = graph.layers
    assert layer.op_types == ("Add",)
    np.testing.assert_array_equal(exact_values(graph, layer, TENSORS), EXACT)


def test_equal_outputs_need_no_explanation():
    graph = add_model()
    expected = np.array([3, 4, 5, 98], np.int8)
    found = compare(graph, graph.layers[0], expected, expected, TENSORS)
    assert (found.elements, found.count, found.max_lsb, found.unexplained) == (4, 0, 0, 0)


def test_difference_far_from_a_tie_is_unexplained():
    graph = add_model()
    expected = np.array([3, 4, 5, 98], np.int8)
    found = compare(graph, graph.layers[0], np.array([3, 4, 4, 98], np.int8), expected, TENSORS)
    assert (found.count, found.max_lsb, found.unexplained) == (1, 1, 1)
    assert "at [2]: 4, ORT 5, exactly 4.75" in found.example


def test_difference_at_a_tie_is_explained():
    graph = add_model()
    tensors = {"a": np.array([2], np.int8), "b": np.array([-2], np.int8)}  # 3.5
    found = compare(graph, graph.layers[0], np.array([3], np.int8), np.array([4], np.int8), tensors)
    assert (found.count, found.max_lsb, found.unexplained) == (1, 1, 0)


def test_difference_of_two_is_never_explained():
    graph = add_model()
    tensors = {"a": np.array([2], np.int8), "b": np.array([-2], np.int8)}
    found = compare(graph, graph.layers[0], np.array([5], np.int8), np.array([3], np.int8), tensors)
    assert (found.max_lsb, found.unexplained) == (2, 1)


def test_values_beyond_the_storage_range_saturate():
    graph = add_model(output_zero_point=-100)
    tensors = {"a": np.array([-128], np.int8), "b": np.array([-128], np.int8)}
    (layer,) = graph.layers
    assert exact_values(graph, layer, tensors) == [-196.0]
    saturated, other = np.array([-128], np.int8), np.array([-127], np.int8)
    assert compare(graph, layer, saturated, saturated, tensors).count == 0
    assert compare(graph, layer, other, saturated, tensors).unexplained == 1


@pytest.mark.parametrize(
    ("name", "variant", "expected"),
    [
        ("add", "qdq-per-channel", {"Conv": TIE, "Add": TIE_16_BIT_WEIGHTS}),
        ("mul", "qoperator", {"Mul": TIE_16_BIT_WEIGHTS}),
        ("conv_relu", "qdq-fused-activations", {"Conv": TIE}),
        ("gemm", "qoperator", {"Gemm": TIE}),
    ],
)
def test_tolerance(name, variant, expected):
    layers = QuantizedGraph(quantized_model(name, variant)).layers
    found = {layer.op_types[0]: tolerance(layer) for layer in layers if layer.op_types[0] in expected}
    assert found == expected


@pytest.mark.parametrize("name", FEATURES)
def test_onnxruntime_rounds_exact_values(name):
    """Every integer that ONNX Runtime gives is the exact value rounded, up to its float32 arithmetic."""
    for variant in ("qdq-per-channel", "qdq-u8-weights", "qdq-symmetric", "qoperator", "full-integer"):
        model = quantized_model(name, variant)
        graph = QuantizedGraph(model)
        assert graph.layers
        (sample,) = model_inputs(model, name, 1)
        tensors = Reference(graph).run(sample)
        for layer in graph.layers:
            expected = tensors[layer.output]
            limits = np.iinfo(expected.dtype)
            exact = np.clip(exact_values(graph, layer, tensors), limits.min, limits.max)
            assert exact.shape == expected.shape
            assert np.abs(exact - expected).max() < 0.5 + 0.005, (variant, str(layer))


def test_layers_of_both_forms_correspond():
    layers = {
        variant: [layer.op_types for layer in QuantizedGraph(quantized_model("residual_block", variant)).layers]
        for variant in ("qdq-per-channel", "qoperator")
    }
    assert layers["qdq-per-channel"] == [("QuantizeLinear",), ("Conv",), ("Conv",), ("Conv",), ("Add",)]
    assert layers["qoperator"] == layers["qdq-per-channel"]


def test_movement_layers():
    layers = QuantizedGraph(quantized_model("channel_shuffle", "qdq-per-channel")).layers
    assert [layer.op_types[0] for layer in layers if layer.movement] == ["Reshape", "Transpose", "Reshape"]
    integer_layers = QuantizedGraph(quantized_model("channel_shuffle", "qoperator")).layers
    assert [layer.node.op_type for layer in integer_layers if layer.movement] == ["Reshape", "Transpose", "Reshape"]


def test_quantized_models_do_not_depend_on_the_run():
    first, second = (quantized_model("cnn_small", "qdq-u8") for _ in range(2))
    assert isinstance(first, onnx.ModelProto)
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
