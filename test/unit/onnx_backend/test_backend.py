# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torq_mlir.onnx_backend`, as users of the onnx package call it."""

import runpy
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend import base

import torq_mlir
from torq_mlir import onnx_backend

EXAMPLE = Path(__file__).parents[3] / "examples" / "onnx_backend" / "example.py"


def _model(nodes, inputs, outputs, opset=21):
    values = [
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in side.items()]
        for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "graph", *values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.fixture
def sub():
    """a - b, of vectors of three."""
    kinds = dict.fromkeys("ab", (TensorProto.FLOAT, (3,)))
    return _model([helper.make_node("Sub", ["a", "b"], ["c"], name="sub")], kinds, {"c": (TensorProto.FLOAT, (3,))})


A, B = np.array([5, 7, 9], np.float32), np.array([1, 2, 4], np.float32)


@pytest.mark.parametrize("inputs", [[A, B], (A, B), {"b": B, "a": A}], ids=["list", "tuple", "by name"])
def test_prepared_model(sub, inputs):
    prepared = onnx_backend.prepare(sub, "CPU", backend="interpreter")
    assert isinstance(prepared, base.BackendRep)
    outputs = prepared.run(inputs)
    assert isinstance(outputs, tuple)
    np.testing.assert_array_equal(outputs[0], [4, 5, 5])
    np.testing.assert_array_equal(outputs["c"], outputs[0])


def test_run_model_and_node(sub):
    (result,) = onnx_backend.run_model(sub, [A, B], backend="interpreter")
    np.testing.assert_array_equal(result, [4, 5, 5])
    node = helper.make_node("Neg", ["x"], ["y"])
    (result,) = onnx_backend.run_node(node, A, backend="interpreter", opset_version=13)
    np.testing.assert_array_equal(result, -A)
    (result,) = onnx_backend.run_node(node, [A], outputs_info=[(np.dtype(np.float32), (3,))], backend="interpreter")
    np.testing.assert_array_equal(result, -A)


def test_inputs_that_a_node_has_twice():
    node, other = helper.make_node("Sum", ["x", "x", "z"], ["y"]), np.float32([10, 20, 30])
    for arrays in ([A, A, other], [A, other], {"x": A, "z": other}):
        (result,) = onnx_backend.run_node(node, arrays, backend="interpreter")
        np.testing.assert_array_equal(result, 2 * A + other)
    with pytest.raises(torq_mlir.InputError, match="the node has 3 inputs, but 4 arrays were passed"):
        onnx_backend.run_node(node, [A, A, A, other])


def test_random_numbers_are_refused():
    node = helper.make_node("RandomUniform", [], ["y"], name="noise", shape=[3])
    with pytest.raises(torq_mlir.ModelError, match=r"^noise \(RandomUniform\): random numbers are not supported$"):
        onnx_backend.run_node(node, [])


def test_values_that_decide_shapes_are_those_of_the_call():
    nodes = [
        helper.make_node("Cast", ["axis"], ["axes"], to=TensorProto.INT64),
        helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0),
    ]
    inputs = {"x": (TensorProto.FLOAT, (2, 3)), "axis": (TensorProto.INT32, (1,))}
    prepared = onnx_backend.prepare(_model(nodes, inputs, {"y": (TensorProto.FLOAT, ("n",))}), backend="interpreter")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for axis in (0, 1, 0):
        (result,) = prepared.run([x, np.array([axis], np.int32)])
        np.testing.assert_array_equal(result, x.sum(axis))


def test_open_shapes_are_those_of_the_call():
    node = helper.make_node("Relu", ["x"], ["y"])
    kinds = {"x": (TensorProto.FLOAT, ("batch", 2))}
    model = _model([node], kinds, {"y": (TensorProto.FLOAT, ("batch", 2))})
    prepared = onnx_backend.prepare(model, backend="interpreter")
    for batch in (1, 3):
        (result,) = prepared.run([np.full((batch, 2), -1, np.float32)])
        np.testing.assert_array_equal(result, np.zeros((batch, 2)))
    with pytest.raises(torq_mlir.ModelError, match="dimension 1 is 2, not 5"):
        prepared.run([np.zeros((1, 5), np.float32)])


def test_devices():
    assert onnx_backend.supports_device("CPU")
    assert onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA")
    assert not onnx_backend.supports_device("CUDA:1")


def test_compatibility(sub):
    assert onnx_backend.is_compatible(sub)
    assert not onnx_backend.is_compatible(sub, "CUDA")
    kinds = {"x": (TensorProto.STRING, (2,))}
    text = _model([helper.make_node("Identity", ["x"], ["y"])], kinds, {"y": (TensorProto.STRING, (2,))})
    assert not onnx_backend.is_compatible(text)


def test_errors(sub):
    with pytest.raises(ValueError, match="no device 'CUDA'"):
        onnx_backend.prepare(sub, "CUDA")
    with pytest.raises(TypeError, match="no option 'speed'"):
        onnx_backend.prepare(sub, speed=3)
    prepared = onnx_backend.prepare(sub, backend="interpreter")
    with pytest.raises(torq_mlir.InputError, match="no array was passed for input 'b'"):
        prepared.run([A])
    with pytest.raises(torq_mlir.InputError, match="the model has 2 inputs, but 3 arrays"):
        prepared.run([A, B, A])
    with pytest.raises(torq_mlir.InputError, match="no input 'z'"):
        prepared.run({"a": A, "b": B, "z": A})
    with pytest.raises(torq_mlir.ModelError, match=r"n \(Nothing\): not an operator of ONNX opset"):
        onnx_backend.run_node(helper.make_node("Nothing", ["x"], ["y"], name="n"), [A])


def test_model_is_not_modified(sub):
    before = sub.SerializeToString()
    onnx_backend.run_model(sub, [A, B], backend="interpreter")
    assert sub.SerializeToString() == before
    assert isinstance(sub, onnx.ModelProto)


def test_example(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out == "32 elements, 0 differ, by 0 at most\nquantized: -1 1 3 5 7\n"
