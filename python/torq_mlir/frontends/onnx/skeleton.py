# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model without its large constants: what the tools of the onnx package, which serialize models, are given."""

from collections.abc import Iterable

import numpy as np
import onnx
from onnx import helper, numpy_helper

from torq_mlir.errors import ModelError

from . import subgraphs
from .naming import describe

# Shape inference and opset upgrades read the values of shapes, axes and pads; none is longer.
_LARGEST_KEPT = 256

_SCALAR_KINDS = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}


def take_constants(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    """Drop from `graph` what no output needs, make its constants initializers, and take out the large ones.

    Returns:
      The large constants, which are inputs of the graph until `put_back`.
    """
    _constants_to_initializers(graph)
    remove_unused(graph)
    large = [tensor for tensor in graph.initializer if np.prod(tensor.dims, dtype=np.int64) > _LARGEST_KEPT]
    small = [tensor for tensor in graph.initializer if np.prod(tensor.dims, dtype=np.int64) <= _LARGEST_KEPT]
    _assign(graph.initializer, small)
    graph.input.extend(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims) for tensor in large)
    return large


def put_back(graph: onnx.GraphProto, constants: list[onnx.TensorProto]) -> None:
    """Undo `take_constants`: large constants are initializers again."""
    names = {tensor.name for tensor in constants}
    _assign(graph.input, [value for value in graph.input if value.name not in names])
    graph.initializer.extend(constants)


def _constants_to_initializers(graph: onnx.GraphProto) -> None:
    initialized = {tensor.name for tensor in graph.initializer}
    if any(value.name in initialized for value in graph.input):  # with a default value: treated as constant
        _assign(graph.input, [value for value in graph.input if value.name not in initialized])
    kept = {value.name for value in graph.output}.union(*map(subgraphs.captured, graph.node))
    nodes, aliases = [], {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            if name in aliases:
                node.input[index] = aliases[name]
        if node.op_type == "Constant" and not node.domain:
            graph.initializer.append(_constant(node))
            initialized.add(node.output[0])
        elif node.op_type == "Identity" and node.input[0] in initialized and node.output[0] not in kept:
            aliases[node.output[0]] = node.input[0]  # how exporters of PyTorch share a parameter
        else:
            nodes.append(node)
    if len(nodes) != len(graph.node):
        _assign(graph.node, nodes)


def _constant(node: onnx.NodeProto) -> onnx.TensorProto:
    tensor = onnx.TensorProto()
    attribute = node.attribute[0] if len(node.attribute) == 1 else None
    if attribute is not None and attribute.name == "value":
        tensor.CopyFrom(attribute.t)
    elif attribute is not None and attribute.name in _SCALAR_KINDS:
        value = helper.get_attribute_value(attribute)
        tensor = numpy_helper.from_array(np.asarray(value, dtype=_SCALAR_KINDS[attribute.name]))
    else:
        raise ModelError(f"{describe(node)}: a constant that is not a tensor of numbers is not supported")
    tensor.name = node.output[0]
    return tensor


def remove_unused(graph: onnx.GraphProto) -> None:
    """Drop nodes and constants that no output needs."""
    needed = {output.name for output in graph.output}
    nodes = []
    for node in reversed(graph.node):
        if needed.isdisjoint(output for output in node.output if output):
            continue
        while not node.output[-1]:  # left out, as is every optional output that is not listed
            del node.output[-1]
        nodes.append(node)
        needed.update(node.input, subgraphs.captured(node))
    if len(nodes) != len(graph.node):
        _assign(graph.node, reversed(nodes))
    if any(tensor.name not in needed for tensor in graph.initializer):
        _assign(graph.initializer, [tensor for tensor in graph.initializer if tensor.name in needed])


def _assign(field, values: Iterable) -> None:
    kept = list(values)
    del field[:]
    field.extend(kept)
