# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json

import numpy as np
import pytest
from onnx import helper
from small_models import ORACLE, quantized_conv, quantized_node

import torq_mlir
from torq_mlir.report import Report, Row

STATIC = (1, 3, 6, 6)


def report(model):
    return torq_mlir.compile(model).report()


def rows(model):
    return {row.name: row for row in report(model).rows}


def test_fused_operators_share_an_operation():
    found = report(quantized_conv(shape=STATIC, full_integer=True))
    assert found.rows == (
        Row("conv", "Conv", ("torq_hl.conv2d",), "nss"),
        Row("relu", "Relu", ("torq_hl.conv2d",), "nss"),
    )
    assert (found.dialects, found.executors) == ({"torq_hl": 1}, {"nss": 1})


def test_float_input_and_output_are_converted_on_the_host():
    found = report(quantized_conv(shape=STATIC))
    assert [(row.name, row.executor, row.reason) for row in found.rows] == [
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
    assert found["softmax"].reason == "torq_hl has no form of Softmax with these operands"
    assert "linalg.generic" in found["softmax"].operations
    assert found["dequantize"].reason == "its result is used in float"
    assert found["y_quantize"].reason == "quantizes a value that is computed in float"


def test_a_condition_need_not_be_quantized():
    model = quantized_node("Where", np.arange(6) > 2, (1, 8, 6, 6), (1, 8, 6, 6))
    assert rows(model)["node"].reason == "torq_hl has no form of Where with these operands"


def test_weights_that_are_not_quantized():
    model = quantized_conv(shape=STATIC, full_integer=True)
    float_weights = helper.make_tensor("w_float", 1, (8, 3, 3, 3), [0.5] * 216)
    kept = [node for node in model.graph.node if node.name != "w_dequantize"]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.graph.initializer.append(float_weights)
    found = rows(model)
    assert found["conv"].executor == "host"
    assert (
        "the weights of linalg.conv_2d_nchw_fchw are not dequantized with constant parameters" in found["conv"].reason
    )


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
    assert found.rows == tuple(Row(name, "", ("torq_hl.conv2d",), "nss") for name in ("conv", "relu", "y_quantize"))


@pytest.fixture(autouse=True)
def _directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load_text(text):
    with open("model.mlir", "w") as file:
        file.write(text)
    return torq_mlir.CompiledModel.load("model.mlir").report()


def test_json():
    found = report(quantized_conv(shape=STATIC))
    values = json.loads(json.dumps(found.to_dict()))
    assert values["rows"][1] == {
        "name": "conv",
        "op_type": "Conv",
        "operations": ["torq_hl.conv2d"],
        "executor": "nss",
        "reason": "",
    }
    assert Report.from_dict(values) == found


def test_text():
    found = report(quantized_conv(shape=STATIC))
    assert str(found).splitlines() == [
        "node          operator          executor  operations      why not on the NPU",
        "x_quantize    QuantizeLinear    host      linalg.generic  quantizes a float input of the model",
        "conv          Conv              nss       torq_hl.conv2d",
        "relu          Relu              nss       torq_hl.conv2d",
        "y_dequantize  DequantizeLinear  host      linalg.generic  gives a float output of the model",
        "",
        "operations: 2 linalg, 1 torq_hl",
        "executors: 2 host, 1 nss",
    ]
    assert str(Report((), {}, {})) == ""
