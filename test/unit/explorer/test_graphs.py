# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs for Model Explorer of each level of the IR, and their node data."""

import json
import sys

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from graph_reading import CONTROL_FLOW, ORACLE, attributes, labelled, outputs, read, sources
from onnx import TensorProto, helper, numpy_helper

import torq_mlir
from torq_mlir import explorer
from torq_mlir.explorer import __main__ as command
from torq_mlir.tools import torq_compile

CONV = ORACLE / "conv3x3_same_zp.onnx"
QUANTIZED = torch.ops.quantized_decomposed


def test_a_model_has_a_graph_for_each_level():
    graphs = read(explorer.from_file(CONV, "conv"))
    assert list(graphs) == ["torq-hl", "linalg", "torch", "onnx"]
    names = {"onnx": "onnx.QuantizeLinear"} | dict.fromkeys(
        ("torch", "linalg"), "quantized_decomposed.quantize_per_tensor"
    )
    for level, name in names.items():
        (node,) = labelled(graphs[level], name)
        assert node["namespace"] == "quantizelinear_15_node"
        found = attributes(node)
        assert (found["scale"], found["zero point"], found["granularity"]) == ("0.544516444", "11", "per tensor")
        assert (found["executor"], found["remark"]) == ("nss", "in torq_hl.conv2d of conv_12_node")
        assert sources(graphs[level]["GraphOutputs"]) == [(node["id"], "0")]
    assert outputs(graphs["onnx"]["GraphInputs"]) == [{"shape": "1x8x8x8", "dtype": "si8", "tensor_name": "x0"}]


def test_an_operation_of_the_npu():
    nodes = read(explorer.from_file(CONV))["torq-hl"]
    (conv,) = labelled(nodes, "torq_hl.conv2d")
    assert conv["namespace"] == "conv_12_node"
    found = attributes(conv)
    assert found["source"] == "conv_12_node, quantizelinear_15_node"
    assert (found["scale"], found["zero point"], found["granularity"]) == ("0.544516444", "11", "per tensor")
    expected = {"executor": "nss", "input_zp": "-17", "pad": "[1, 1, 1, 1]", "weights": "constant i8 16x8x3x3"}
    assert expected.items() <= found.items()
    assert sources(conv)[-1] == ("GraphInputs", "0")
    assert outputs(conv) == [{"shape": "1x16x8x8", "dtype": "i8"}]
    (described,) = outputs(nodes["GraphInputs"])
    assert (described["tensor_name"], described["scale"], described["zero point"]) == ("x0", "0.0500000007", "-17")
    constants = [attributes(node) for node in labelled(nodes, "pseudo_const")]
    assert [each["operation"] for each in constants] == ["arith.constant", "arith.constant", "tensor.empty"]
    assert "constant i8 16x8x3x3" in [each["value"] for each in constants]


def test_regions_are_text_and_constants_are_elided():
    nodes = read(explorer.from_file(CONV))["linalg"]
    (conv,) = labelled(nodes, "linalg.conv_2d_nchw_fchw")
    assert [line.split(" = ")[-1] for line in attributes(conv)["body"].splitlines()] == [
        "(%arg0: f32, %arg1: f32, %arg2: f32)",
        "arith.mulf %arg0, %arg1",
        "arith.addf %arg2, %3",
        "linalg.yield %4",
    ]
    (pad,) = labelled(nodes, "tensor.pad")
    assert attributes(pad)["body"].splitlines()[-1] == "tensor.yield 0"
    assert len(sources(pad)) == 2  # the value of the padding comes from outside of the region


class Rounded(torch.nn.Module):
    def forward(self, x):
        q = QUANTIZED.quantize_per_tensor(x, 0.25, 3, -128, 127, torch.int8)
        return QUANTIZED.dequantize_per_tensor(q, 0.25, 3, -128, 127, torch.int8)


def test_a_program_of_dynamic_shapes_has_those_of_its_example(tmp_path):
    program = torch.export.export(Rounded(), (torch.zeros(2, 3),), dynamic_shapes={"x": {0: torch.export.Dim("n")}})
    torch.export.save(program, tmp_path / "model.pt2")
    for options, shape in (([], "2x3"), (["--batch", "5"], "5x3")):
        command_line = [str(tmp_path / "model.pt2"), *options, "--emit=explorer", "-o", str(tmp_path / "graph.json")]
        assert torq_compile.main(command_line) == 0
        nodes = read(json.loads((tmp_path / "graph.json").read_text()))["torq-hl"]
        assert outputs(nodes["GraphInputs"])[0]["shape"] == shape


def test_an_exported_program():
    compiled = torq_mlir.compile(torch.export.export(Rounded(), (torch.zeros(2, 3),)))
    graphs = read(explorer.from_compiled(compiled))
    assert list(graphs) == ["torq-hl", "linalg", "torch", "fx"]
    (quantize,) = labelled(graphs["fx"], "torch.quantized_decomposed.quantize_per_tensor")
    expected = {
        "scale": "0.25",
        "zero point": "3",
        "granularity": "per tensor",
        "operand 3": "-128",
        "executor": "host",
    }
    assert expected.items() <= attributes(quantize).items()
    (dequantize,) = labelled(graphs["fx"], "torch.quantized_decomposed.dequantize_per_tensor")
    assert sources(dequantize)[0] == (quantize["id"], "0")


@pytest.mark.parametrize(
    ("operation", "types", "expected"),
    [
        (
            'per_channel"(%x, %s4, %z4) {axis = 1 : i64, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}',
            "(tensor<4x4xi8>, tensor<4xf32>, tensor<4xi8>)",
            ("[0.5, 1, 2, 4]", "[128, 0, 1, 255]", "per channel, axis 1"),
        ),
        (
            'per_token"(%x, %s41, %z41) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}',
            "(tensor<4x4xi8>, tensor<4x1xf64>, tensor<4x1xi64>)",
            ("computed at run time", "computed at run time", "per token"),
        ),
        (
            'per_channel_group"(%x, %s42, %z42) '
            "{dtype = si8, group_size = 2 : i64, quant_max = 127 : i64, quant_min = -128 : i64}",
            "(tensor<4x4xi8>, tensor<4x2xf32>, tensor<4x2xi32>)",
            ("0.25", "0", "per channel group, groups of 2"),
        ),
    ],
)
def test_granularities(tmp_path, operation, types, expected):
    path = tmp_path / "module.mlir"
    path.write_text(f"""
func.func @main(%x: tensor<4x4xi8>, %s41: tensor<4x1xf64>, %z41: tensor<4x1xi64>) -> tensor<4x4xf32> {{
  %s4 = arith.constant dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>
  %z4 = arith.constant dense<[-128, 0, 1, -1]> : tensor<4xi8>
  %s42 = arith.constant dense<0.25> : tensor<4x2xf32>
  %z42 = arith.constant dense<0> : tensor<4x2xi32>
  %0 = "quantized_decomposed.dequantize_{operation} : {types} -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}}""")
    nodes = read(explorer.from_file(path))["main"]
    (node,) = [node for node in nodes.values() if "dequantize" in node["label"]]
    found = attributes(node)
    scale = "[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]" if expected[0] == "0.25" else expected[0]
    zero_point = "[0, 0, 0, 0, 0, 0, 0, 0]" if expected[1] == "0" else expected[1]
    assert (found["scale"], found["zero point"], found["granularity"]) == (scale, zero_point, expected[2])
    assert "executor" not in found  # nobody executes IR of an early level


def test_blocks_regions_and_calls(tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text(CONTROL_FLOW)
    graphs = read(explorer.from_file(path))
    assert list(graphs) == ["pair", "main"]
    nodes = graphs["main"]
    (call,) = labelled(nodes, "func.call")
    assert (call["subgraphIds"], len(call["outputsMetadata"])) == (["pair"], 2)
    (branch,) = labelled(nodes, "scf.if")
    call_id, inputs = call["id"], "GraphInputs"
    assert sources(branch) == [(inputs, "1"), (call_id, "1"), (inputs, "2"), (inputs, "0")]
    body = ["%0 = foreign.op %outer, %outer axis=1", "scf.yield %0", "scf.yield %outer"]
    assert attributes(branch)["body"].splitlines() == body
    assert [sources(node) for node in labelled(nodes, "GraphOutputs")] == [[("block 1", "0")], [(call_id, "0")]]


def test_assigned_executors_are_shown(tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text("""
func.func @a(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %0 = arith.addi %x, %y {"torq-executor" = "css"} : tensor<4xi8>
  %1 = arith.addi %0, %y : tensor<4xi8>
  return %1 : tensor<4xi8>
}""")
    first, second = labelled(read(explorer.from_file(path))["torq-hl"], "arith.addi")
    assert (attributes(first)["executor"], attributes(second)["executor"]) == ("css", "host")


def test_node_data_are_of_nodes_of_the_graphs():
    compiled = torq_mlir.compile(ORACLE / "cnn_residual.onnx")
    graphs = read(explorer.from_compiled(compiled))
    executors = json.loads(json.dumps(explorer.executor_data(compiled)))
    for level, nodes in graphs.items():
        assert executors[level]["results"].keys() <= nodes.keys()
        shown = {node_id: attributes(node).get("executor") for node_id, node in nodes.items()}
        assert {each: value["value"] for each, value in executors[level]["results"].items()} == {
            node_id: executor for node_id, executor in shown.items() if executor
        }
    deviations = compiled.deviations(every_layer=True)
    errors = explorer.error_data(compiled, deviations)
    by_label = {
        graphs["torq-hl"][each]["label"]: value["value"] for each, value in errors["torq-hl"]["results"].items()
    }
    (addition,) = [each for each in deviations if each.kind == "torq_hl.add"]
    assert by_label == {"torq_hl.conv2d": 0, "torq_hl.add": pytest.approx(10 ** (-addition.sqnr / 20))}


def test_torq_compile_writes_the_files(tmp_path):
    for kind in ("explorer", "explorer-executors", "explorer-errors"):
        assert torq_compile.main([str(CONV), f"--emit={kind}", "-o", str(tmp_path / kind)]) == 0
    graphs = read(json.loads((tmp_path / "explorer").read_text()))
    for kind in ("explorer-executors", "explorer-errors"):
        data = json.loads((tmp_path / kind).read_text())
        assert data["torq-hl"]["results"].keys() <= graphs["torq-hl"].keys()


def test_torq_hl_alone_has_no_errors(tmp_path, capsys):
    torq_mlir.compile(CONV).save(tmp_path / "model.mlirbc")
    assert torq_compile.main([str(tmp_path / "model.mlirbc"), "--emit=explorer-errors"]) == 1
    assert "a model loaded from torq_hl has no source model" in capsys.readouterr().err
    (nodes,) = read(explorer.from_file(tmp_path / "model.mlirbc")).values()
    (conv,) = labelled(nodes, "torq_hl.conv2d")
    assert (conv["namespace"], attributes(conv)["executor"]) == ("conv_12_node", "nss")


def test_what_is_not_mlir(tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text("func.func @f() {")
    with pytest.raises(torq_mlir.CompileError, match=r"module\.mlir: not a module of MLIR: ") as caught:
        explorer.from_file(path)
    assert "\n" not in str(caught.value)
    path.write_text("func.func private @declared()")
    with pytest.raises(torq_mlir.ModelError, match=r"module\.mlir: the module has no function with a body"):
        explorer.from_file(path)


def test_the_command_says_which_extra_it_needs(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "model_explorer", None)
    assert command.main([str(CONV)]) == 1
    assert capsys.readouterr().err.endswith("pip install 'torq-mlir[explorer]'\n")


def test_nodes_of_the_qoperator_format():
    initializers = {"s": np.float32(0.5), "z": np.int8(3), "b": np.ones((4, 2), np.int8), "t": np.float32(0.25)}
    node = helper.make_node("QLinearMatMul", ["a", "s", "z", "b", "s", "z", "t", "z"], ["y"], "product")
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("a", TensorProto.INT8, (1, 4))],
        [helper.make_tensor_value_info("y", TensorProto.INT8, (1, 2))],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in initializers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (product,) = labelled(read(explorer.from_compiled(torq_mlir.compile(model)))["onnx"], "onnx.QLinearMatMul")
    found = attributes(product)
    assert (found["scale"], found["zero point"], found["granularity"]) == ("0.25", "3", "per tensor")
    assert (found["operand 1"], found["operand 3"], "operand 6" in found) == ("0.5", "[1, 1, 1, 1, 1, 1, 1, 1]", False)
