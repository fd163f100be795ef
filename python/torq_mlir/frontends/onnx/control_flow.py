# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""If, Loop and Scan whose course is known at compile time, as the nodes that they run."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from . import naming, subgraphs

# Nodes that loops may become in all.
_MOST_NODES = 20_000


class Unroller:
    """Adds the nodes of subgraphs.

    Args:
      constants: values that are known, by name; they grow with the nodes that are added.
      add: takes one node.
      add_constant: gives a constant a name.
    """

    def __init__(
        self,
        constants: Mapping[str, np.ndarray],
        add: Callable[[onnx.NodeProto], None],
        add_constant: Callable[[np.ndarray], str],
    ) -> None:
        self._constants, self._add, self._add_constant = constants, add, add_constant
        self._left = _MOST_NODES

    def choose(self, node: onnx.NodeProto) -> bool:
        """Add the branch that an If takes; False where that is not known."""
        condition = self._constants.get(node.input[0])
        if condition is None:
            return False
        attributes = _attributes(node)
        branch = attributes["then_branch" if condition.item() else "else_branch"]
        results = self._run(branch, (), node, node.name)
        for value, result in zip(results, node.output, strict=True):
            if result:
                self._add(subgraphs.identity(value, result, node))
        return True

    def repeat(self, node: onnx.NodeProto) -> bool:
        """Add the iterations of a Loop; False where their number is not known."""
        body = _attributes(node)["body"]
        count, condition, *carried = [*node.input, *[""] * (2 - len(node.input))]
        limit = self._constants.get(count)
        states = len(carried)
        if limit is None or limit.item() < 1 or not self._holds(condition) or not self._has_room(body, limit.item()):
            return False
        if any(value.type.WhichOneof("value") not in (None, "tensor_type") for value in (*body.input, *body.output)):
            return False
        if not _passes_on(body):
            return False
        scanned: list[list[str]] = [[] for _ in node.output[states:]]
        for iteration in range(limit.item()):
            position = self._add_constant(np.array(iteration, np.int64))
            given = (position, condition or self._add_constant(np.array(True)), *carried)
            results = self._run(body, given, node, f"{node.name}/{iteration}")
            carried = results[1 : 1 + states]
            for values, value in zip(scanned, results[1 + states :], strict=True):
                values.append(value)
        self._finish(node, carried, scanned, [0] * len(scanned))
        return True

    def scan(self, node: onnx.NodeProto, shapes: Mapping[str, Sequence[int | None]]) -> bool:
        """Add the iterations of a Scan; False where their number is not known."""
        attributes = _attributes(node)
        body, count = attributes["body"], attributes["num_scan_inputs"]
        states, sources = node.input[: len(node.input) - count], node.input[len(node.input) - count :]
        axes = attributes.get("scan_input_axes", [0] * count)
        outputs = len(node.output) - len(states)
        known = [shapes.get(name) for name in sources]
        if any(shape is None or shape[axis] is None for shape, axis in zip(known, axes, strict=True)):
            return False
        length = known[0][axes[0]]
        if length < 1 or not self._has_room(body, length):
            return False
        backwards = attributes.get("scan_input_directions", [0] * count)
        scanned: list[list[str]] = [[] for _ in range(outputs)]
        for step in range(length):
            given = list(states)
            for name, axis, reverse in zip(sources, axes, backwards, strict=True):
                given.append(self._element(node, name, length - 1 - step if reverse else step, axis, step))
            results = self._run(body, given, node, f"{node.name}/{step}")
            states = results[: len(states)]
            for values, value in zip(scanned, results[len(states) :], strict=True):
                values.append(value)
        reversed_ = attributes.get("scan_output_directions", [0] * outputs)
        scanned = [values[::-1] if turned else values for values, turned in zip(scanned, reversed_, strict=True)]
        self._finish(node, states, scanned, attributes.get("scan_output_axes", [0] * outputs))
        return True

    def _holds(self, condition: str) -> bool:
        return not condition or (condition in self._constants and bool(self._constants[condition].item()))

    def _has_room(self, body: onnx.GraphProto, iterations: int) -> bool:
        self._left -= iterations * len(body.node)
        return self._left >= 0

    def _run(self, graph: onnx.GraphProto, given: Sequence[str], node: onnx.NodeProto, prefix: str) -> list[str]:
        """Add the nodes of a subgraph; the names of its results."""
        bindings = dict(zip((value.name for value in graph.input), given, strict=True))
        for tensor in graph.initializer:
            bindings[tensor.name] = self._add_constant(onnx.numpy_helper.to_array(tensor))
        for each in subgraphs.inlined(graph.node, bindings, prefix, node):
            self._add(each)
        computed = {name for each in graph.node for name in each.output}
        names = (value.name for value in graph.output)
        return [f"{prefix}/{name}" if name in computed else bindings.get(name, name) for name in names]

    def _element(self, node: onnx.NodeProto, name: str, position: int, axis: int, step: int) -> str:
        result = f"{node.name}/{step}/{name}"
        index = self._add_constant(np.array(position, np.int64))
        self._append(node, "Gather", [name, index], result, axis=axis)
        return result

    def _append(self, node: onnx.NodeProto, op_type: str, inputs: Sequence[str], result: str, **attributes) -> None:
        new = helper.make_node(op_type, inputs, [result], name=f"{result}/{op_type}", **attributes)
        naming.stand_for(new, node)
        self._add(new)

    def _finish(
        self, node: onnx.NodeProto, states: Sequence[str], scanned: Sequence[Sequence[str]], axes: Sequence[int]
    ) -> None:
        """Give the results of the last iteration, and those of all, the names of the outputs."""
        for value, result in zip(states, node.output, strict=False):
            if result:
                self._add(subgraphs.identity(value, result, node))
        for values, axis, result in zip(scanned, axes, node.output[len(states) :], strict=True):
            if not result:
                continue
            rows = []
            for index, value in enumerate(values):
                rows.append(f"{result}/{index}")
                where = self._add_constant(np.array([axis], np.int64))
                self._append(node, "Unsqueeze", [value, where], rows[-1])
            self._append(node, "Concat", rows, result, axis=axis)


def _attributes(node: onnx.NodeProto) -> dict:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def _passes_on(body: onnx.GraphProto) -> bool:
    """Whether the condition of a loop stays what it is."""
    name = body.output[0].name
    producers = {output: node for node in body.node for output in node.output}
    while name in producers and producers[name].op_type == "Identity":
        name = producers[name].input[0]
    if name == body.input[1].name:
        return True
    node = producers.get(name)
    if node is not None and node.op_type == "Constant" and node.attribute[0].name == "value":
        return bool(onnx.numpy_helper.to_array(node.attribute[0].t).all())
    return any(t.name == name and onnx.numpy_helper.to_array(t).all() for t in body.initializer)
