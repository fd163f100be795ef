# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of Model Explorer, read back from JSON."""

import json
from pathlib import Path

ORACLE = Path(__file__).parents[2] / "data" / "oracle"

# Two functions, several results, branches, regions that use values from outside, and an operation nobody knows.
CONTROL_FLOW = """
func.func private @pair(%a: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = tensor.empty() : tensor<4xi8>
  return %a, %0 : tensor<4xi8>, tensor<4xi8>
}
func.func @main(%x: tensor<4xi8>, %c: i1, %s: f32) -> tensor<4xi8> {
  %0:2 = call @pair(%x) : (tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>)
  %1 = scf.if %c -> tensor<4xi8> {
    %b = "foreign.op"(%0#1, %s) {axis = 1 : i64} : (tensor<4xi8>, f32) -> tensor<4xi8>
    scf.yield %b : tensor<4xi8>
  } else {
    scf.yield %x : tensor<4xi8>
  }
  cf.cond_br %c, ^a(%1 : tensor<4xi8>), ^b
^a(%y: tensor<4xi8>):
  return %y : tensor<4xi8>
^b:
  return %0#0 : tensor<4xi8>
}
func.func private @declared(tensor<4xi8>)
"""


def read(collection: dict) -> dict[str, dict[str, dict]]:
    """The nodes of each graph of a collection that was written as JSON, by their ids; its form is checked.

    Ids are unique, edges lead from outputs that exist, and all values are text.
    """
    graphs = json.loads(json.dumps(collection))["graphs"]
    assert len({graph["id"] for graph in graphs}) == len(graphs)
    for graph in graphs:
        _check(graph, {each["id"] for each in graphs})
    return {graph["id"]: {node["id"]: node for node in graph["nodes"]} for graph in graphs}


def _check(graph: dict, graph_ids: set[str]) -> None:
    nodes = graph["nodes"]
    assert len({node["id"] for node in nodes}) == len(nodes)
    outputs = {(node["id"], output["id"]) for node in nodes for output in node["outputsMetadata"]}
    for node in nodes:
        assert set(node["subgraphIds"]) <= graph_ids
        assert [edge["targetNodeInputId"] for edge in node["incomingEdges"]] == [
            str(index) for index in range(len(node["incomingEdges"]))
        ]
        assert set(sources(node)) <= outputs
        for pairs in (node["attrs"], *(output["attrs"] for output in node["outputsMetadata"])):
            assert len({pair["key"] for pair in pairs}) == len(pairs)
            assert all(isinstance(pair["value"], str) and pair["value"] is not None for pair in pairs)


def attributes(node: dict) -> dict[str, str]:
    return {pair["key"]: pair["value"] for pair in node["attrs"]}


def outputs(node: dict) -> list[dict[str, str]]:
    return [{pair["key"]: pair["value"] for pair in output["attrs"]} for output in node["outputsMetadata"]]


def sources(node: dict) -> list[tuple[str, str]]:
    """The nodes and outputs that the inputs of a node come from."""
    return [(edge["sourceNodeId"], edge["sourceNodeOutputId"]) for edge in node["incomingEdges"]]


def labelled(nodes: dict[str, dict], label: str) -> list[dict]:
    return [node for node in nodes.values() if node["label"] == label]
