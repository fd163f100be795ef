# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are written as others, against ONNX Runtime and numpy."""

import math

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import torq_mlir
from torq_mlir.errors import ModelError


def _model(node, feed, constants, opset):
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feed.items()
    ]
    first = TensorProto.INT64 if node.op_type == "NonMaxSuppression" else inputs[0].type.tensor_type.elem_type
    outputs = [helper.make_tensor_value_info(name, first, None) for name in node.output]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph([node], "graph", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _run(node, feed, constants=None, opset=20):
    model = _model(node, feed, constants or {}, opset)
    return model, torq_mlir.compile(model, backend="interpreter")(**feed)


def _expected(model, feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)


def _random(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    ("scales", "attributes"),
    [
        ([1, 1, 0.6, 0.6], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
        ([1, 1, 0.6, 1.7], {"mode": "cubic", "cubic_coeff_a": -0.5}),
        ([1, 1, 0.5, 0.75], {"mode": "cubic", "exclude_outside": 1}),
        ([1, 1, 0.5, 0.6], {"mode": "linear", "antialias": 1}),
        ([1, 1, 0.5, 0.6], {"mode": "cubic", "antialias": 1}),
        ([1, 1, 2, 1.5], {"mode": "nearest", "coordinate_transformation_mode": "align_corners"}),
        ([1, 1, 2.6, 2.1], {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}),
    ],
)
def test_resize(scales, attributes):
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)
    feed = {"x": _random(1, 2, 5, 6)}
    model, (result,) = _run(node, feed, {"scales": np.float32(scales)})
    (expected,) = ReferenceEvaluator(model).run(None, feed)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_resize_of_a_crop():
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0, "mode": "linear"}
    node = helper.make_node("Resize", ["x", "roi", "", "sizes"], ["y"], **attributes)
    constants = {"roi": np.float32([0, 0, 0.2, -0.3, 1, 1, 0.9, 1.4]), "sizes": np.array([1, 2, 3, 4])}
    feed = {"x": _random(1, 2, 5, 6)}
    model, (result,) = _run(node, feed, constants)
    (expected,) = ReferenceEvaluator(model).run(None, feed)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("mode", "padding", "aligned"),
    [
        ("nearest", "zeros", 0),
        ("nearest", "reflection", 1),
        ("linear", "zeros", 1),
        ("linear", "border", 0),
        ("linear", "reflection", 0),
        ("cubic", "border", 1),
        ("cubic", "reflection", 0),
    ],
)
def test_grid_sample(mode, padding, aligned):
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode=padding, align_corners=aligned)
    grid = np.random.default_rng(1).uniform(-1.4, 1.4, (2, 3, 4, 2)).astype(np.float32)
    feed = {"x": _random(2, 3, 4, 5), "grid": grid}
    model, (result,) = _run(node, feed)
    np.testing.assert_allclose(result, _expected(model, feed)[0], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainder_of_floats_is_exact(dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(6, 48)) * 40).astype(dtype), (rng.normal(size=(6, 48)) * 7).astype(dtype)
    x[0, :4], y[0, :4] = [3e4, -0.3, 5, np.inf], [0.1, 0.1, np.inf, 2]
    _, (result,) = _run(helper.make_node("Mod", ["x", "y"], ["z"], fmod=1), {"x": x, "y": y})
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(result, np.fmod(x, y))


def test_shifts_by_as_many_bits_as_there_are():
    x, y = np.array([1, 200, 255, 7], np.uint8), np.array([1, 8, 9, 255], np.uint8)
    for direction, expected in (("LEFT", [2, 0, 0, 0]), ("RIGHT", [0, 0, 0, 0])):
        _, (result,) = _run(helper.make_node("BitShift", ["x", "y"], ["z"], direction=direction), {"x": x, "y": y})
        np.testing.assert_array_equal(result, expected)


def test_reciprocals_of_zero():
    feed = {"x": np.float32([0, -0.0, 4, np.inf])}
    _, (result,) = _run(helper.make_node("Reciprocal", ["x"], ["y"]), feed)
    np.testing.assert_array_equal(result, np.float32([np.inf, -np.inf, 0.25, 0]))


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 3, 4, 4)])
def test_determinants(shape):
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)
    x[..., 0, 0] = 0  # where an elimination needs another pivot
    _, (result,) = _run(helper.make_node("Det", ["x"], ["y"]), {"x": x})
    np.testing.assert_allclose(result, np.linalg.det(x.astype(np.float64)), atol=1e-3)


def test_determinants_of_large_matrices_are_refused():
    with pytest.raises(ModelError, match=r"^det \(Det\): only matrices of up to 4 rows can be lowered$"):
        _run(helper.make_node("Det", ["x"], ["y"], name="det"), {"x": _random(5, 5)})


@pytest.mark.parametrize("opset", [17, 20])
def test_norms_of_zero(opset):
    x = np.float32([[3, 0], [4, 0]])
    _, (result,) = _run(helper.make_node("LpNormalization", ["x"], ["y"], axis=0), {"x": x}, opset=opset)
    np.testing.assert_allclose(result, [[0.6, 0], [0.8, 0]], rtol=1e-6)


def test_threshold_of_scores():
    boxes = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11], [0, 20, 1, 21]]])
    feed = {"boxes": boxes, "scores": np.float32([[[0.9, 0.75, 0.3, 0.6]]])}
    constants = {"most": np.array([3]), "overlap": np.float32([0.5]), "score": np.float32([0.4])}
    node = helper.make_node("NonMaxSuppression", [*feed, *constants], ["chosen"], name="nms")
    model, (result,) = _run(node, feed, constants)
    np.testing.assert_array_equal(result, _expected(model, feed)[0])
    with pytest.raises(ModelError, match=r"^nms \(NonMaxSuppression\): a threshold of scores is supported for one"):
        _run(node, {"boxes": boxes, "scores": np.ones((1, 2, 4), np.float32)}, constants)


def test_approximated_gelu():
    x = np.linspace(-5, 5, 101, dtype=np.float32)
    _, (result,) = _run(helper.make_node("Gelu", ["x"], ["y"], approximate="tanh"), {"x": x})
    wide = x.astype(np.float64)
    expected = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize(("first", "second"), [((4,), (3, 4, 5)), ((2, 3, 4), (4,)), ((2, 3, 4, 5), (5,))])
def test_vectors_times_matrices(first, second):
    feed = {"a": _random(*first), "b": _random(*second)}
    _, (result,) = _run(helper.make_node("MatMul", ["a", "b"], ["y"]), feed)
    np.testing.assert_allclose(result, feed["a"] @ feed["b"], rtol=1e-5, atol=1e-6)


def test_sums_of_half_precision_are_kept_in_single():
    feed = {"a": np.full((1, 4096), 1, np.float16), "b": np.full((4096, 1), 1, np.float16)}
    _, (result,) = _run(helper.make_node("MatMul", ["a", "b"], ["y"]), feed)
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result, [[4096]])


def test_peepholes_are_refused():
    feed = {"x": _random(2, 1, 3), "w": _random(1, 8, 3), "r": _random(1, 8, 2), "p": _random(1, 6)}
    node = helper.make_node("LSTM", ["x", "w", "r", "", "", "", "", "p"], ["y"], name="lstm", hidden_size=2)
    with pytest.raises(ModelError, match=r"^lstm \(LSTM\): peepholes are not supported$"):
        _run(node, feed)
