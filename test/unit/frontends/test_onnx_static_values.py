# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow, functions and computed shapes that follow from constants, against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import torq_mlir
from torq_mlir.errors import ModelError

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def _value(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def _model(nodes, constants=None, shape=(3, 2), opset=20):
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", [_value("x", FLOAT, shape)], [_value("y")], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _compare(model, shape=(3, 2)):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    compiled = torq_mlir.compile(model, backend="interpreter")
    (result,) = compiled(x)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    return compiled


@pytest.mark.parametrize("rank", [1, 2])
def test_branch_by_the_rank_of_a_value(rank):
    """As exporters write a squeeze; the branches read values from around them."""
    nodes = [
        helper.make_node("Neg", ["x"], ["negative"]),
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Size", ["shape"], ["rank"]),
        helper.make_node("Equal", ["rank", "two"], ["is_matrix"]),
        helper.make_node(
            "If",
            ["is_matrix"],
            ["y"],
            name="if",
            then_branch=helper.make_graph([helper.make_node("Exp", ["negative"], ["a"])], "then", [], [_value("a")]),
            else_branch=helper.make_graph([helper.make_node("Abs", ["negative"], ["a"])], "else", [], [_value("a")]),
        ),
    ]
    shape = (3, 2)[:rank]
    compiled = _compare(_model(nodes, {"two": np.int64(2)}, shape), shape)
    assert "if" in {row.name for row in compiled.report().rows}


def _loop(condition):
    body = helper.make_graph(
        [
            helper.make_node("Add", ["state", "x"], ["next"]),
            helper.make_node("Cast", ["step"], ["number"], to=FLOAT),
            helper.make_node("Mul", ["next", "number"], ["seen"]),
            condition,
        ],
        "body",
        [_value("step", INT64, ()), _value("go", BOOL, ()), _value("state")],
        [_value("going", BOOL, ()), _value("next"), _value("seen")],
    )
    nodes = [
        helper.make_node("Loop", ["times", "true", "x"], ["last", "all"], name="loop", body=body),
        helper.make_node("Add", ["last", "all"], ["y"]),
    ]
    return _model(nodes, {"times": np.int64(4), "true": np.array(True)})


def test_loop():
    _compare(_loop(helper.make_node("Identity", ["go"], ["going"])))


def test_loop_whose_end_depends_on_values_is_refused():
    until = helper.make_node("Equal", ["step", "step"], ["going"])
    with pytest.raises(ModelError, match=r"^loop \(Loop\): control flow"):
        torq_mlir.compile(_loop(until))


@pytest.mark.parametrize("backwards", [0, 1])
def test_scan(backwards):
    body = helper.make_graph(
        [helper.make_node("Add", ["sum", "row"], ["next"]), helper.make_node("Mul", ["next", "row"], ["product"])],
        "body",
        [_value("sum", FLOAT, (2,)), _value("row", FLOAT, (2,))],
        [_value("next", FLOAT, (2,)), _value("product", FLOAT, (2,))],
    )
    scan = helper.make_node(
        "Scan",
        ["start", "x"],
        ["last", "products"],
        body=body,
        num_scan_inputs=1,
        scan_input_directions=[backwards],
        scan_output_axes=[1],
    )
    nodes = [scan, helper.make_node("MatMul", ["last", "products"], ["y"])]
    _compare(_model(nodes, {"start": np.zeros(2, np.float32)}))


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_selection_by_constants(axis):
    attributes = {} if axis is None else {"axis": axis}
    chosen = np.array([False, True, True] if axis == 0 else [True, False])
    _compare(_model([helper.make_node("Compress", ["x", "chosen"], ["y"], **attributes)], {"chosen": chosen}))


def test_shapes_that_are_computed():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "second"], ["columns"]),
        helper.make_node("Mul", ["columns", "two"], ["width"]),
        helper.make_node("Concat", ["width", "minus"], ["target"], axis=0),
        helper.make_node("Tile", ["x", "twice"], ["tiled"]),
        helper.make_node("Reshape", ["tiled", "target"], ["y"]),
    ]
    constants = {"second": np.array([1]), "two": np.array([2]), "minus": np.array([-1]), "twice": np.array([2, 1])}
    _compare(_model(nodes, constants))


def test_functions_have_the_name_of_their_operator():
    node = helper.make_node("RMSNormalization", ["x", "scale"], ["y"], name="norm")
    model = _model([node], {"scale": np.float32([1, 2])}, opset=23)
    x = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    compiled = torq_mlir.compile(model, backend="interpreter")
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5) * [1, 2]
    np.testing.assert_allclose(compiled(x)[0], expected, rtol=1e-5)
    assert [row.name for row in compiled.report().rows] == ["norm"]
