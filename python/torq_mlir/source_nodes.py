# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of a source model, as far as a report has to know them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx

from torq_mlir.frontends.onnx import naming

if TYPE_CHECKING:
    import torch

QUANTIZE = ("QuantizeLinear", "quantized_decomposed.quantize_")
DEQUANTIZE = ("DequantizeLinear", "quantized_decomposed.dequantize_")
_REAL_TYPES = frozenset(onnx.TensorProto.DataType.Value(name) for name in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"))
# How a graph of PyTorch takes one of several results.
_ITEM = "getitem"


@dataclass(frozen=True)
class SourceNode:
    """An operator of the source model.

    Attributes:
      takes_quantized: all its inputs that are real numbers and not constant are quantized.
      gives_quantized: all that reads its results quantizes them.
      is_constant: all its inputs are constant, and its results with them.
      readers: names of the nodes that read its results.
    """

    name: str
    op_type: str
    takes_quantized: bool = True
    gives_quantized: bool = True
    is_constant: bool = False
    readers: tuple[str, ...] = ()

    @property
    def quantizes(self) -> bool:
        return self.op_type.startswith(QUANTIZE)

    @property
    def dequantizes(self) -> bool:
        return self.op_type.startswith(DEQUANTIZE)


def source_nodes(graph: onnx.GraphProto) -> list[SourceNode]:
    """The operators of the source model of `graph`, in order.

    Several nodes of the graph can stand for one of them (`naming.stand_for`).
    """
    constants = {tensor.name for tensor in graph.initializer}
    values = [*graph.input, *graph.value_info]
    real = {value.name for value in values if value.type.tensor_type.elem_type in _REAL_TYPES} - constants
    outputs = {output.name for output in graph.output}
    producers = {output: node.op_type for node in graph.node for output in node.output}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
        if all(name in constants for name in node.input if name):
            constants.update(node.output)

    parts: dict[tuple[str, str], list[onnx.NodeProto]] = {}
    for node in graph.node:
        parts.setdefault(naming.source_of(node), []).append(node)

    def describe(name: str, op_type: str, nodes: Sequence[onnx.NodeProto]) -> SourceNode:
        results = dict.fromkeys(result for node in nodes for result in node.output)
        taken = {operand for node in nodes for operand in node.input} - results.keys()
        reading = [reader for result in results for reader in readers.get(result, ()) if reader not in nodes]
        takes = all(producers.get(operand) == "DequantizeLinear" for operand in taken & real)
        gives = outputs.isdisjoint(results) and all(reader.op_type == "QuantizeLinear" for reader in reading)
        integer = op_type.startswith("QLinear")
        names = tuple(dict.fromkeys(naming.source_of(reader)[0] for reader in reading))
        return SourceNode(name, op_type, integer or takes, integer or gives, constants.issuperset(results), names)

    return [describe(*source, nodes) for source, nodes in parts.items()]


def exported_nodes(
    program: "torch.export.ExportedProgram", operator_name: Callable[["torch.fx.Node"], str]
) -> list[SourceNode]:
    """The operators of an exported program, in order; `operator_name` gives what a node calls."""
    signature, nodes = program.graph_signature, program.graph.nodes
    constants = {
        *signature.inputs_to_parameters,
        *signature.inputs_to_buffers,
        *signature.inputs_to_lifted_tensor_constants,
    }
    names = {node: operator_name(node) if node.op == "call_function" else node.op for node in nodes}
    updated = set(signature.buffers_to_mutate.values())
    kept = {name for name, buffer in signature.inputs_to_buffers.items() if buffer in updated}
    constant = {node for node in nodes if node.name in constants - kept}
    for node in nodes:
        if node.op == "call_function" and constant.issuperset(node.all_input_nodes):
            constant.add(node)

    def describe(node: "torch.fx.Node") -> SourceNode:
        takes = all(names[each].startswith(DEQUANTIZE) for each in node.all_input_nodes if each.name not in constants)
        users = [user for each in node.users for user in (each.users if names[each] == _ITEM else (each,))]
        gives = all(names[user].startswith(QUANTIZE) for user in users)
        readers = tuple(dict.fromkeys(user.name for user in users if user.op == "call_function"))
        return SourceNode(node.name, names[node], takes, gives, node in constant, readers)

    return [describe(node) for node in nodes if node.op == "call_function" and names[node] != _ITEM]
