# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

import numpy as np
import onnx
import pytest
from onnx import defs, helper, numpy_helper
from onnx_models import BOOL, CONTRIB, FLOAT, INT8, UINT8, model, node, relu, shape_of, value

from torq_mlir.errors import ModelError
from torq_mlir.frontends.onnx import load

SCALE = np.float32(0.5)


def shapes(loaded: onnx.ModelProto) -> dict[str, list]:
    return {info.name: shape_of(info) for info in [*loaded.graph.value_info, *loaded.graph.output]}


def element_types(loaded: onnx.ModelProto) -> dict[str, int]:
    return {info.name: info.type.tensor_type.elem_type for info in [*loaded.graph.value_info, *loaded.graph.output]}


def fails(source, message: str, **arguments) -> None:
    with pytest.raises(ModelError) as error:
        load(source, **arguments)
    assert "\n" not in str(error.value)
    assert re.search(message, str(error.value)), str(error.value)


# Sources


def test_sources_give_the_same_model(tmp_path):
    source = relu()
    path = tmp_path / "model.onnx"
    onnx.save(source, path)
    expected = load(source)
    assert load(path) == load(str(path)) == load(source.SerializeToString()) == expected
    assert [n.name for n in expected.graph.node] == ["Relu_0"]


def test_the_model_that_is_given_is_not_modified():
    source = relu(["N", 3])
    before = source.SerializeToString(deterministic=True)
    load(source, batch=4)
    assert source.SerializeToString(deterministic=True) == before


def test_external_data_is_read(tmp_path):
    weights = np.arange(3000, dtype=np.float32).reshape(3, 1000)
    source = model(
        [node("MatMul", ["x", "w"], ["y"])], [value("x", FLOAT, [2, 3])], [value("y", FLOAT, None)], {"w": weights}
    )
    path = tmp_path / "model.onnx"
    onnx.save(source, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    np.testing.assert_array_equal(numpy_helper.to_array(load(path).graph.initializer[0]), weights)
    fails(onnx.load(path, load_external_data=False), "initializer 'w': its data is in another file")
    (tmp_path / "weights.bin").write_bytes(b"short")
    fails(path, r"model\.onnx: .*'w'")
    (tmp_path / "weights.bin").unlink()
    fails(path, r"model\.onnx: .*weights\.bin")


@pytest.mark.parametrize("data", [b"", b"not a model" * 50, b"\x7fELF" + bytes(200)], ids=["empty", "text", "program"])
def test_not_onnx(tmp_path, data):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    fails(path, r"model\.onnx: not an ONNX model")
    fails(data, "not an ONNX model")


def test_truncated():
    source = relu()
    data = source.SerializeToString()
    del source.opset_import[:]  # they come last, and the model is complete with the first
    for size in range(1, len(source.SerializeToString())):
        fails(data[:size], "not an ONNX model|0 versions of the ONNX opset")


def test_missing_file(tmp_path):
    fails(tmp_path / "nothing.onnx", r"nothing\.onnx: No such file")
    fails(tmp_path, "Is a directory")


# Shapes of inputs


def test_dynamic_dimension_is_fixed_or_refused():
    source = relu(["N", 3, "H"])
    way_out = r"fix it with batch=1 or input_shapes=\{'x': \(\?, 3, \?\)\}"
    fails(source, rf"input 'x': dimension 0 \('N'\) is dynamic; {way_out}")
    fails(source, r"input 'x': dimension 2 \('H'\) is dynamic; fix it with input_shapes", batch=2)
    assert shapes(load(source, input_shapes={"x": (4, 3, 5)}))["y"] == [4, 3, 5]
    assert shapes(load(relu([None, 3]), batch=7))["y"] == [7, 3]
    fails(relu(None), "input 'x': has no shape; give it one with input_shapes")
    assert shapes(load(relu(None), input_shapes={"x": (4, 3)}))["y"] == [4, 3]


def test_dimensions_of_one_name_have_one_size():
    inputs = [value("a", FLOAT, ["N", 3]), value("b", FLOAT, ["N", 3])]
    source = model([node("Add", ["a", "b"], ["y"])], inputs, [value("y", FLOAT, ["N", 3])])
    assert shapes(load(source, input_shapes={"a": (4, 3)}))["y"] == [4, 3]
    fails(source, "input 'b': dimension 0 is 4, not 5", input_shapes={"a": (4, 3), "b": (5, 3)})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input_shapes": {"z": (1, 3)}}, r"no input 'z' to give a shape to; its inputs are \['x'\]"),
        ({"input_shapes": {"x": (1, 4)}}, "input 'x': dimension 1 is 3, not 4"),
        ({"input_shapes": {"x": (1, 3, 1)}}, "input 'x': has 2 dimensions"),
        ({"input_shapes": {"x": (-1, 3)}}, "negative"),
        ({"batch": 0}, "batch has to be positive"),
    ],
)
def test_shapes_that_do_not_fit(arguments, message):
    fails(relu(["N", 3]), message, **arguments)


def test_shapes_computed_by_the_model_are_followed():
    """As exported for a dynamic batch: the size is read from the input and goes into a reshape."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["n"]),
        node("Concat", ["n", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = {"zero": np.array([0]), "rest": np.array([-1])}
    source = model(nodes, [value("x", FLOAT, ["N", 3, 4])], [value("y", FLOAT, ["N", 12])], constants)
    assert shapes(load(source, batch=5))["y"] == [5, 12]


# Operators


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (node("Foo", ["x"], ["y"], name="n"), r"^n \(Foo\): not an operator of ONNX opset 17$"),
        (node("Foo", ["x"], ["y"]), r"^Foo_0 \(Foo\): not an operator"),
        (node("Foo", ["x"], ["y"], name="n", domain="my"), r"^n \(my\.Foo\): the operator is not supported$"),
        (node("QAttention", ["x"], ["y"], name="n", **CONTRIB), r"^n \(com\.microsoft\.QAttention\): .*not supported$"),
        (node("MaxPool", ["x"], ["y"], name="n"), r"^n \(MaxPool\): .*'kernel_shape' is missing"),
        (node("Relu", ["x"], ["y"], name="n", slope=1), r"^n \(Relu\): Unrecognized attribute: slope"),
        (node("Relu", ["w", "w"], ["y"], name="n"), r"^n \(Relu\): .* input size 2"),
        (node("Relu", ["none"], ["y"], name="n"), r"^n \(Relu\): input 'none' is not the output of any previous node"),
        (node("Add", ["x", "w"], ["y"], name="n"), r"^n \(Add\): Incompatible dimensions"),
        (node("Add", ["x", "s8"], ["y"], name="n"), r"^n \(Add\): .*type"),
        (node("Constant", [], ["y"], name="n", value_string="a"), r"^n \(Constant\): .* tensor of numbers"),
    ],
)
def test_bad_node(bad, message):
    constants = {"w": np.zeros(7, np.float32), "s8": np.int8(1)}
    fails(model([bad], [value("x", FLOAT, [2, 3])], [value("y", FLOAT, None)], constants), message)


def test_zero_point_of_a_wrong_type():
    nodes = [node("QuantizeLinear", ["x", "s", "s"], ["y"], name="n")]
    source = model(nodes, [value("x", FLOAT, [2])], [value("y", UINT8, None)], {"s": SCALE})
    fails(source, r"^n \(QuantizeLinear\): .*tensor\(float\)")
    nodes = [node("DequantizeLinear", ["q", "s", "z"], ["y"], name="n")]
    source = model(nodes, [value("q", INT8, [2])], [value("y", FLOAT, None)], {"s": SCALE, "z": np.uint8(0)})
    fails(source, r"^n \(DequantizeLinear\): .*tensor\(uint8\)")


def test_values_that_are_no_tensors_of_numbers():
    nodes = [node("SplitToSequence", ["x"], ["s"], name="n"), node("SequenceLength", ["s"], ["y"])]
    outputs = [value("y", onnx.TensorProto.INT64, None)]
    fails(
        model(nodes, [value("x", FLOAT, [2])], outputs), r"^n \(SplitToSequence\): the type of 's' .* is not a tensor"
    )
    nodes = [node("Cast", ["x"], ["s"], name="n", to=onnx.TensorProto.STRING), node("Shape", ["s"], ["y"])]
    fails(model(nodes, [value("x", FLOAT, [2])], outputs), r"^n \(Cast\): element type string is not supported")


def test_control_flow_is_refused():
    then = helper.make_graph([node("Identity", ["x"], ["a"])], "then", [], [value("a", FLOAT, None)])
    other = helper.make_graph([node("Neg", ["x"], ["b"])], "else", [], [value("b", FLOAT, None)])
    branch = node("If", ["c"], ["y"], name="n", then_branch=then, else_branch=other)
    inputs = [value("x", FLOAT, [2]), value("c", BOOL, [])]
    fails(model([branch], inputs, [value("y", FLOAT, None)]), r"^n \(If\): control flow")


@pytest.mark.parametrize("element_type", ["STRING", "COMPLEX64"])
def test_element_types_without_arithmetic_are_refused(element_type):
    data_type = getattr(onnx.TensorProto, element_type)
    source = model([node("Identity", ["x"], ["y"])], [value("x", data_type, [2])], [value("y", data_type, None)])
    fails(source, f"input 'x': element type {element_type.lower()} is not supported")


def test_constant_of_the_wrong_size_is_refused():
    source = model([node("Add", ["x", "w"], ["y"])], [value("x", FLOAT, [2])], [value("y", FLOAT, None)])
    source.graph.initializer.add(name="w", data_type=FLOAT, dims=[2], raw_data=bytes(7))
    fails(source, "initializer 'w': 7 bytes of data where its shape needs 8")


def test_no_output():
    fails(model([node("Relu", ["x"], ["y"])], [value("x", FLOAT, [2])], []), "no output")


# Opsets


def test_old_opset_is_upgraded():
    """Squeeze had its axes in an attribute before opset 13, and Softmax flattened its input."""
    squeeze = node("Squeeze", ["x"], ["s"], axes=[0], name="squeeze")
    nodes = [squeeze, node("Softmax", ["s"], ["y"], axis=1, name="softmax")]
    loaded = load(model(nodes, [value("x", FLOAT, [1, 2, 3, 4])], [value("y", FLOAT, None)], opset=9))
    assert {entry.domain: entry.version for entry in loaded.opset_import}[""] == 17
    names = [n.name for n in loaded.graph.node]
    assert len(set(names)) == len(names)
    assert all(names)
    assert shapes(loaded)["y"] == [2, 3, 4]
    assert {"squeeze", "softmax"} <= set(names)


def test_old_opset_with_contrib_operators_is_upgraded():
    nodes = [node("QLinearSigmoid", ["x", "s", "", "s"], ["y"], **CONTRIB)]
    source = model(nodes, [value("x", INT8, [2, 3])], [value("y", INT8, None)], {"s": SCALE}, opset=11)
    assert shapes(load(source))["y"] == [2, 3]


def test_opsets_that_cannot_be_used():
    fails(relu(opset=99), r"opset 99 is not supported: the installed onnx package knows opsets up to \d+")
    missing = relu()
    del missing.opset_import[:]
    fails(missing, "0 versions of the ONNX opset")


# What the result looks like


def test_node_names_are_unique():
    names = ["", "a", "a", "", "Relu_0", "a_2"]
    values = ["x", *"bcdefg"]
    nodes = [node("Relu", [values[i]], [values[i + 1]], name=name) for i, name in enumerate(names)]
    loaded = load(model(nodes, [value("x", FLOAT, [2])], [value("g", FLOAT, None)]))
    found = [n.name for n in loaded.graph.node]
    assert len(set(found)) == len(found)
    assert found[1] == "a"
    assert found[3] == "Relu_3"
    assert found[4] == "Relu_0"
    assert found[5] == "a_2"


def test_constants_are_initializers():
    nodes = [
        node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([1.0, 2.0], np.float32))),
        node("Constant", [], ["k"], value_float=3.0),
        node("Constant", [], ["i"], value_ints=[-1]),
        node("Add", ["x", "c"], ["a"]),
        node("Mul", ["a", "k"], ["m"]),
        node("Reshape", ["m", "i"], ["y"]),
        node("Relu", ["x"], ["unused"]),
    ]
    source = model(nodes, [value("x", FLOAT, [2])], [value("y", FLOAT, None)])
    source.graph.initializer.append(numpy_helper.from_array(np.zeros(1000, np.float32), "unread"))
    loaded = load(source)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in loaded.graph.initializer}
    assert constants.keys() == {"c", "k", "i"}
    assert constants["k"] == np.float32(3)
    assert constants["i"].tolist() == [-1]
    assert [n.op_type for n in loaded.graph.node] == ["Add", "Mul", "Reshape"]
    assert [info.name for info in loaded.graph.input] == ["x"]


def test_constants_may_have_several_names():
    nodes = [
        node("Identity", ["s"], ["t"]),
        node("Identity", ["t"], ["u"]),
        node("QuantizeLinear", ["x", "u"], ["y"]),
        node("Identity", ["s"], ["z"]),
    ]
    outputs = [value("y", UINT8, None), value("z", FLOAT, None)]
    loaded = load(model(nodes, [value("x", FLOAT, [2])], outputs, {"s": SCALE}))
    assert [(n.op_type, list(n.input)) for n in loaded.graph.node] == [
        ("QuantizeLinear", ["x", "s"]),
        ("Identity", ["s"]),
    ]


def test_inputs_with_a_default_value_are_constants():
    inputs = [value("x", FLOAT, [2]), value("w", FLOAT, [2]), value("big", FLOAT, [1000])]
    nodes = [node("Add", ["x", "w"], ["a"]), node("ReduceSum", ["big"], ["b"]), node("Add", ["a", "b"], ["y"])]
    constants = {"w": np.ones(2, np.float32), "big": np.ones(1000, np.float32)}
    loaded = load(model(nodes, inputs, [value("y", FLOAT, None)], constants))
    assert [info.name for info in loaded.graph.input] == ["x"]
    assert {tensor.name for tensor in loaded.graph.initializer} == {"w", "big"}


def test_outputs_that_are_left_out_are_dropped():
    loaded = load(model([node("Dropout", ["x"], ["y", ""])], [value("x", FLOAT, [2])], [value("y", FLOAT, None)]))
    assert list(loaded.graph.node[0].output) == ["y"]


def test_local_functions_are_inlined():
    body = [node("Mul", ["a", "a"], ["b"]), node("Add", ["b", "a"], ["c"])]
    function = helper.make_function("local", "SquarePlus", ["a"], ["c"], body, [helper.make_opsetid("", 17)])
    nodes = [node("SquarePlus", ["x"], ["y"], domain="local"), node("SquarePlus", ["y"], ["z"], domain="local")]
    loaded = load(model(nodes, [value("x", FLOAT, [2])], [value("z", FLOAT, None)], functions=[function]))
    assert [n.op_type for n in loaded.graph.node] == ["Mul", "Add", "Mul", "Add"]


# Types of the operators that ONNX does not know


def test_contrib_operators_have_types():
    constants = {
        "s": SCALE,
        "z": np.uint8(3),
        "zw": np.int8(0),
        "b": np.ones((6, 1, 1), np.uint8),
        "w": np.ones((5, 12), np.int8),
        "c": np.zeros(5, np.int32),
        "flat": np.array([2, -1]),
    }
    window = {"kernel_shape": [2, 2], "strides": [2, 2], **CONTRIB}
    nodes = [
        node("QLinearAdd", ["x", "s", "z", "b", "s", "z", "s", "z"], ["add"], **CONTRIB),
        node("QLinearConcat", ["s", "z", "add", "s", "z", "x", "s", "z"], ["concat"], axis=1, **CONTRIB),
        node("QLinearAveragePool", ["concat", "s", "z", "s", "z"], ["pool"], **window),
        node("QLinearLeakyRelu", ["pool", "s", "z", "s", "z"], ["leaky"], alpha=0.1, **CONTRIB),
        node("MaxPool", ["leaky"], ["max"], kernel_shape=[2, 2]),
        node("QLinearGlobalAveragePool", ["max", "s", "z", "s", "z"], ["mean"], channels_last=0, **CONTRIB),
        node("Reshape", ["mean", "flat"], ["flattened"]),
        node("QGemm", ["flattened", "s", "z", "w", "s", "zw", "c", "s", "z"], ["gemm"], transB=1, **CONTRIB),
        node("QGemm", ["flattened", "s", "z", "w", "s", "zw"], ["real"], transB=1, **CONTRIB),
        node("QLinearSoftmax", ["gemm", "s", "z", "s", "z"], ["y"], axis=-1, opset=17, **CONTRIB),
    ]
    outputs = [value("y", UINT8, None), value("real", FLOAT, None)]
    loaded = load(model(nodes, [value("x", UINT8, [2, 6, 8, 8])], outputs, constants))
    assert shapes(loaded) == {
        "add": [2, 6, 8, 8],
        "concat": [2, 12, 8, 8],
        "pool": [2, 12, 4, 4],
        "leaky": [2, 12, 4, 4],
        "max": [2, 12, 3, 3],
        "mean": [2, 12, 1, 1],
        "flattened": [2, 12],
        "gemm": [2, 5],
        "y": [2, 5],
        "real": [2, 5],
    }
    assert {name for name, element in element_types(loaded).items() if element != UINT8} == {"real"}


def test_contrib_operator_with_operands_that_do_not_fit():
    nodes = [node("QLinearAdd", ["x", "s", "z", "b", "s", "z", "s", "z"], ["y"], name="n", **CONTRIB)]
    constants = {"s": SCALE, "z": np.int8(3), "b": np.ones(5, np.int8)}
    source = model(nodes, [value("x", INT8, [2, 3])], [value("y", INT8, None)], constants)
    fails(source, r"^n \(com\.microsoft\.QLinearAdd\): .*Incompatible dimensions")


def test_registry_of_onnx_is_left_as_it_was():
    nodes = [node("QLinearSigmoid", ["x", "s", "", "s"], ["y"], **CONTRIB)]
    load(model(nodes, [value("x", INT8, [2, 3])], [value("y", INT8, None)], {"s": SCALE}))
    assert not defs.has("QLinearSigmoid", "com.microsoft")
