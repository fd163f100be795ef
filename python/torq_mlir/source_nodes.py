# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of a source model, as far as a report has to know them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx

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
    """The operators of `graph`, in order."""
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

    def describe(node: onnx.NodeProto) -> SourceNode:
        reading = [reader for name in node.output for reader in readers.get(name, ())]
        takes = all(producers.get(name) == "DequantizeLinear" for name in node.input if name in real)
        gives = outputs.isdisjoint(node.output) and all(reader.op_type == "QuantizeLinear" for reader in reading)
        integer = node.op_type.startswith("QLinear")
        return SourceNode(
            node.name,
            node.op_type,
            integer or takes,
            integer or gives,
            constants.issuperset(node.output),
            tuple(dict.fromkeys(reader.name for reader in reading)),
        )

    return [describe(node) for node in graph.node]


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
