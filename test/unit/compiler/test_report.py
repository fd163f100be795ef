# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import re

import numpy as np
import pytest
from onnx import helper
from small_models import ORACLE, quantized_conv, quantized_node

import torq_mlir
from e2e.models.catalog import quantized_model
from torq_mlir.report import Report, Row
from torq_mlir.source_nodes import SourceNode, source_nodes

STATIC = (1, 3, 6, 6)


def report(model):
    return torq_mlir.compile(model).report()


def rows(model):
    return {row.name: row for row in report(model).rows}


def test_fused_operators_share_an_operation():
    found = report(quantized_conv(shape=STATIC, full_integer=True))
    fused = "in torq_hl.conv2d of conv"
    assert found.listed == (
        Row("conv", "Conv", ("torq_hl.conv2d",), "nss"),
        Row("relu", "Relu", ("torq_hl.conv2d",), "nss", note=fused),
    )
    assert {row.name: row.note for row in found.rows if row.is_part} == {
        "x_dequantize": "conv takes the integers",
        "w_dequantize": "constant: computed at compile time",
        "b_dequantize": "constant: computed at compile time",
        "y_quantize": fused,
    }
    assert (found.dialects, found.executors) == ({"torq_hl": 1}, {"nss": 1})


def test_float_input_and_output_are_converted_on_the_host():
    found = report(quantized_conv(shape=STATIC))
    assert [(row.name, row.executor, row.reason) for row in found.listed] == [
        ("x_quantize", "host", "quantizes a float input of the model"),
        ("conv", "nss", ""),
        ("relu", "nss", ""),
        ("y_dequantize", "host", "gives a float output of the model"),
    ]
    assert (found.dialects, found.executors) == ({"linalg": 2, "torq_hl": 1}, {"host": 2, "nss": 1})


def test_float_operator_between_quantized_ones():
    nodes = [
        helper.make_node("QuantizeLinear", ["relu", "y_scale", "y_zero_point"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "y_scale", "y_zero_point"], ["dq"], "dequantize"),
        helper.make_node("Softmax", ["dq"], ["probabilities"], "softmax"),
    ]
    found = rows(quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes))
    assert found["conv"].executor == "nss"
    assert found["softmax"].executor == "host"
    assert "linalg.generic" in found["softmax"].operations
    for name in ("dequantize", "softmax", "y_quantize"):
        assert "softmax" in found[name].reason
        assert found[name].pattern == "convert softmax"


def test_a_condition_need_not_be_quantized():
    model = quantized_node("Where", np.arange(6) > 2, (1, 8, 6, 6), (1, 8, 6, 6))
    (node,) = (node for node in source_nodes(model.graph) if node.name == "node")
    assert node == SourceNode("node", "Where", takes_quantized=True, gives_quantized=True, readers=("y_quantize",))


def test_weights_that_are_not_quantized():
    model = quantized_conv(shape=STATIC, full_integer=True)
    float_weights = helper.make_tensor("w_float", 1, (8, 3, 3, 3), [0.5] * 216)
    kept = [node for node in model.graph.node if node.name != "w_dequantize"]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.graph.initializer.append(float_weights)
    found = rows(model)
    assert found["conv"].executor == "host"
    weights = "the weights of linalg.conv_2d_nchw_fchw are not dequantized"
    assert (found["conv"].reason.startswith(weights), found["conv"].pattern) == (True, "fuse")


def test_operations_of_the_npu_have_no_reason():
    for path in sorted(ORACLE.glob("*.onnx")):
        for row in report(path).rows:
            assert bool(row.reason) == ("host" in row.executor), (path.name, row)


def test_an_assigned_executor_wins():
    compiled = torq_mlir.compile(quantized_conv(shape=STATIC, full_integer=True))
    text = compiled.mlir(debug_info=True).replace("{dilation", '{"torq-executor" = "css", dilation')
    assert '"torq-executor" = "css"' in text
    found = load_text(text)
    assert {row.executor for row in found.rows} == {"css"}
    assert found.executors == {"css": 1}


def test_without_a_source_model_the_locations_name_the_rows():
    compiled = torq_mlir.compile(quantized_conv(shape=STATIC, full_integer=True))
    found = load_text(compiled.mlir(debug_info=True))
    assert [(row.name, row.op_type, row.operations, row.executor) for row in found.rows] == [
        (name, "", ("torq_hl.conv2d",), "nss") for name in ("conv", "relu", "y_quantize")
    ]


@pytest.fixture(autouse=True)
def _directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load_text(text):
    with open("model.mlir", "w") as file:
        file.write(text)
    return torq_mlir.CompiledModel.load("model.mlir").report()


def test_json():
    found = report(quantized_conv(shape=STATIC))
    values = json.loads(found.to_json())
    assert values["rows"][0] == {
        "name": "x_quantize",
        "op_type": "QuantizeLinear",
        "operations": ["linalg.generic"],
        "executor": "host",
        "reason": "quantizes a float input of the model",
        "pattern": "",
        "note": "",
    }
    assert Report.from_dict(values) == found
    values["rows"] = [row | {"since": "later"} for row in values["rows"]]
    del values["rows"][0]["note"]
    assert Report.from_dict(values) == found


def test_text():
    found = report(quantized_conv(shape=STATIC))
    assert str(found).splitlines() == [
        "node          operator          executor  operations      remark",
        "x_quantize    QuantizeLinear    host      linalg.generic  quantizes a float input of the model",
        "conv          Conv              nss       torq_hl.conv2d",
        "relu          Relu              nss       torq_hl.conv2d  in torq_hl.conv2d of conv",
        "y_dequantize  DequantizeLinear  host      linalg.generic  gives a float output of the model",
        "",
        "4 quantizations are part of these operations",
        "operations: 2 linalg, 1 torq_hl",
        "executors: 2 host, 1 nss",
    ]
    assert found.text(200) == str(found)
    assert str(Report((), {}, {})) == ""


def test_narrow_text():
    row = Row(
        "gemm", "Gemm", ("linalg.matmul", "linalg.fill"), "host", "its weights are not constant", "convert weighted"
    )
    assert Report((row,), {"linalg": 2}, {"host": 2}).text(30).splitlines() == [
        "gemm (Gemm): host",
        "  linalg.matmul, linalg.fill",
        "  its weights are not constant",
        "    (convert weighted)",
        "",
        "operations: 2 linalg",
        "executors: 2 host",
    ]


def test_movements_that_leave_nothing():
    nodes = [
        helper.make_node("QuantizeLinear", ["relu", "y_scale", "y_zero_point"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "y_scale", "y_zero_point"], ["dq"], "dequantize"),
        helper.make_node("Transpose", ["dq"], ["there"], "there", perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["there"], ["back"], "back", perm=[0, 3, 1, 2]),
        helper.make_node("Flatten", ["back"], ["flat"], "flat"),
    ]
    found = rows(quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes))
    moved = "moves values only: what reads it takes them from where they are"
    assert {name: (found[name].executor, found[name].note) for name in ("there", "back", "flat")} == {
        "there": ("-", moved),
        "back": ("-", moved),
        "flat": ("-", "another shape of the same values"),
    }


def test_nodes_that_the_front_end_writes_otherwise_are_listed_as_they_are():
    nodes = [
        helper.make_node("QuantizeLinear", ["relu", "y_scale", "y_zero_point"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "y_scale", "y_zero_point"], ["dq"], "dequantize"),
        helper.make_node("Pad", ["dq", "pads"], ["padded"], "pad", mode="reflect"),
        helper.make_node("DepthToSpace", ["padded"], ["image"], "blocks", blocksize=2, mode="CRD"),
    ]
    model = quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes)
    model.graph.initializer.append(helper.make_tensor("pads", 7, (8,), [0, 0, 1, 2, 0, 0, 1, 0]))
    found = report(model)
    assert [(row.name, row.op_type) for row in found.rows] == [(node.name, node.op_type) for node in model.graph.node]
    listed = {row.name: row for row in found.rows}
    assert (listed["pad"].executor, "torq_hl.gather" in listed["pad"].operations) == ("nss", True)
    assert (listed["blocks"].executor, listed["blocks"].operations) == ("nss", ("torq_hl.DepthToSpace",))
    check_rows(found.rows)


def test_a_maximum_of_floats_is_one_of_integers():
    """Not quantized before it, as ONNX Runtime leaves pooling after an operator that it does not quantize."""
    nodes = [
        helper.make_node("LRN", ["relu"], ["normalized"], "normalize", size=3, alpha=0.5),
        helper.make_node("MaxPool", ["normalized"], ["pooled"], "pool", kernel_shape=[2, 3]),
    ]
    x = np.random.default_rng(0).integers(-128, 128, STATIC).astype(np.int8)
    before = torq_mlir.compile(quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes[:1]))
    compiled = torq_mlir.compile(quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes))
    row = {row.name: row for row in compiled.report().rows}["pool"]
    assert (row.operations, row.executor) == (("torq_hl.maxpool2d",), "nss")
    windows = np.lib.stride_tricks.sliding_window_view(before(x)[0], (2, 3), axis=(2, 3))
    np.testing.assert_array_equal(compiled(x)[0], windows.max(axis=(4, 5)))


def test_copies_of_integers_compute_nothing():
    nodes = [
        helper.make_node("QuantizeLinear", ["relu", "y_scale", "y_zero_point"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "y_scale", "y_zero_point"], ["dq"], "dequantize"),
        helper.make_node("Concat", ["dq", "dq"], ["joined"], "join", axis=1),
    ]
    found = rows(quantized_conv(shape=STATIC, full_integer=True, extra_nodes=nodes))["join"]
    note = "moves integers only: tensor.concat"
    assert (found.operations, found.executor, found.reason, found.note) == (("tensor.concat",), "-", "", note)


# A transformer, a QOperator model with a softmax, squeeze and excitation, and 53 convolutions.
MODELS = ("bert_tiny.full-integer", "cnn_softmax.qoperator")
LARGE_MODELS = ("mobilenet_v3_small.full-integer", "resnet50.qdq-per-channel")


@pytest.mark.parametrize("name", [*MODELS, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE_MODELS)])
def test_every_node_of_a_model_is_accounted_for(name):
    model = quantized_model(*name.split("."))
    found = report(model)
    assert [(row.name, row.op_type) for row in found.rows] == [(node.name, node.op_type) for node in model.graph.node]
    check_rows(found.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encoder_layer.per-channel", "small_cnn.u8", "mlp.dynamic"])
def test_every_node_of_an_exported_program_is_accounted_for(name):
    from e2e.models.pt2e import catalog

    program = catalog.quantized(*name.split("."))
    called = [node.name for node in program.graph.nodes if node.op == "call_function" and "getitem" not in node.name]
    found = report(program)
    assert [row.name for row in found.rows] == called
    check_rows(found.rows)


def check_rows(found):
    """Each operator has an operation of its own, or a note; a reason is given for the host, and for nothing else."""
    for row in found:
        assert row.operations or row.note, row
        assert bool(row.reason) == ("host" in row.executor), row
        if row.note.startswith("in "):
            computing = {name for name in row.operations if name.startswith("torq_hl.")}
            assert computing <= set(re.split(",? ", row.note)), row
