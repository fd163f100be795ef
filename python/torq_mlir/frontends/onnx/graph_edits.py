# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes to a graph whose values all have a type, that keep it so."""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from . import naming

Shape = tuple[int | None, ...]


class Rewriting:
    """One pass over the nodes of a graph. Nodes are inserted before the one that the pass is at.

    Args:
      graph: with a type for every value and with its constants; modified.
      opset: version of the ONNX operators, where that matters.
    """

    def __init__(self, graph: onnx.GraphProto, opset: int = 0) -> None:
        self._graph, self.opset = graph, opset
        self._types = {value.name: value.type.tensor_type for value in (*graph.input, *graph.value_info, *graph.output)}
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._producers = {name: node for node in graph.node for name in node.output if name}
        self._nodes: list[onnx.NodeProto] = []
        self._count = 0

    def __iter__(self):
        """The nodes of the graph, which has those that were inserted too when the iteration ends."""
        before = list(self._graph.node)
        for node in before:
            yield node
            self._nodes.append(node)
        if len(self._nodes) != len(before):
            del self._graph.node[:]
            self._graph.node.extend(self._nodes)

    def type(self, name: str) -> int:
        """The element type of a value."""
        return self._constants[name].data_type if name in self._constants else self._types[name].elem_type

    def shape(self, name: str) -> Shape:
        """The shape of a value, None for sizes that are not known."""
        if name in self._constants:
            return tuple(self._constants[name].dims)
        dimensions = self._types[name].shape.dim
        return tuple(d.dim_value if d.HasField("dim_value") else None for d in dimensions)

    def constant(self, name: str) -> onnx.TensorProto | None:
        """The constant of that name, if there is one."""
        return self._constants.get(name)

    def producer(self, name: str) -> onnx.NodeProto | None:
        """The node that computes a value; None for constants and inputs."""
        return self._producers.get(name)

    def add_constant(self, tensor: onnx.TensorProto) -> str:
        """The name of a constant, which is added unless there is one of that name."""
        if tensor.name not in self._constants:
            self._graph.initializer.append(tensor)
            self._constants[tensor.name] = tensor
        return tensor.name

    def insert(self, node: onnx.NodeProto, element_type: int, shape: Sequence[int]) -> None:
        """Insert a node with one result of a type and shape."""
        value = helper.make_tensor_value_info(node.output[0], element_type, shape)
        self._graph.value_info.append(value)
        self._types[value.name] = value.type.tensor_type
        self._producers[value.name] = node
        self._nodes.append(node)

    def compute(
        self,
        node: onnx.NodeProto,
        op_type: str,
        inputs: Sequence[str],
        shape: Sequence[int],
        *,
        element_type: int | None = None,
        **attributes,
    ) -> str:
        """The result of an operator on inputs of `node`, of the type of the first one unless another is given."""
        self._count += 1
        name = f"{node.name}/{op_type}_{self._count}"
        new = helper.make_node(op_type, list(inputs), [name], name=name, **attributes)
        naming.stand_for(new, node)
        self.insert(new, element_type or self.type(inputs[0]), shape)
        return name

    def integers(self, node: onnx.NodeProto, values: Sequence[int]) -> str:
        """A constant vector, as operators have for shapes and axes."""
        self._count += 1
        return self.add_constant(numpy_helper.from_array(np.array(values, np.int64), f"{node.name}/{self._count}"))

    def reshape(self, node: onnx.NodeProto, name: str, shape: Sequence[int]) -> str:
        """A value in another shape."""
        return self.compute(node, "Reshape", [name, self.integers(node, shape)], shape)

    def set(self, node: onnx.NodeProto, **attributes: Sequence[int]) -> None:
        """Give attributes of a node these values."""
        self.drop(node, *attributes)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())

    def drop(self, node: onnx.NodeProto, *names: str) -> None:
        """Remove attributes of a node, where it has them."""
        kept = [attribute for attribute in node.attribute if attribute.name not in names]
        del node.attribute[:]
        node.attribute.extend(kept)
