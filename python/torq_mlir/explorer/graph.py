# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function as a graph of Model Explorer: one node for each operation, one edge for each operand.

The graphs are dictionaries of the form that Model Explorer reads from JSON files, see its `graph_builder`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch_mlir import ir

from torq_mlir.dialects import ods, quantized_decomposed, torq_hl
from torq_mlir.dialects.locations import source_names
from torq_mlir.explorer import qparams, text

Attributes = Mapping[str, str]

# What Model Explorer hides, unless its settings say otherwise.
CONSTANT_LABEL = "pseudo_const"
INPUTS, OUTPUTS = "GraphInputs", "GraphOutputs"
EXECUTOR = "executor"

_RETURN = "func.return"

_DEFINITIONS = {**quantized_decomposed.OPERATIONS, **torq_hl.OPERATIONS}
_EXECUTOR_ATTRIBUTE = "torq-executor"
# Attributes that a node shows in another way, or that say nothing about the operation.
_LEFT_OUT = (_EXECUTOR_ATTRIBUTE, "name", "operandSegmentSizes", "resultSegmentSizes", "linalg.memoized_indexing_maps")
_ARGUMENT_ATTRIBUTES = {
    "torq_hl.dtype": "dtype of the model",
    "torq_hl.scale": "scale",
    "torq_hl.zero_point": "zero point",
}


def function_graph(
    function: ir.Operation,
    graph_id: str,
    *,
    annotate: Callable[[ir.Operation], Attributes] | None = None,
    callees: Mapping[str, str] | None = None,
) -> dict:
    """The graph of a function.

    Args:
      graph_id: its name, unique in a collection.
      annotate: gives further attributes for the node of an operation.
      callees: ids of the graphs of functions that are called, by name.
    """
    return _Graph(function, annotate or (lambda operation: {}), callees or {}).build(graph_id)


def node_ids(function: ir.Operation) -> Iterator[tuple[str, ir.Operation]]:
    """The operations of a function with the ids of their nodes."""
    operations = (operation.operation for block in function.regions[0].blocks for operation in block.operations)
    for number, operation in enumerate(operations):
        returns = operation.name == _RETURN
        yield OUTPUTS if returns and len(function.regions[0].blocks) == 1 else str(number), operation


class _Graph:
    def __init__(
        self, function: ir.Operation, annotate: Callable[[ir.Operation], Attributes], callees: Mapping[str, str]
    ) -> None:
        self._function, self._annotate, self._callees = function, annotate, callees
        # What defines a value: a node, and the number of its result.
        self._sources: dict[ir.Value, tuple[str, str]] = {}

    def build(self, graph_id: str) -> dict:
        blocks = list(self._function.regions[0].blocks)
        nodes = [self._arguments(block, number) for number, block in enumerate(blocks) if len(block.arguments)]
        operations = list(node_ids(self._function))
        for node_id, operation in operations:
            for number, result in enumerate(operation.results):
                self._sources[result] = (node_id, str(number))
        nodes += [self._node(node_id, operation) for node_id, operation in operations]
        attributes = {name: text.attribute(self._function.attributes[name]) for name in ("sym_name", "function_type")}
        return {"id": graph_id, "nodes": nodes, "groupNodeAttributes": {"": attributes}}

    def _arguments(self, block: ir.Block, number: int) -> dict:
        """The node whose outputs are the arguments of a block: of the first one the inputs of the function."""
        node_id = f"block {number}" if number else INPUTS
        described = _argument_attributes(self._function) if number == 0 else {}
        outputs = []
        for index, argument in enumerate(block.arguments):
            self._sources[argument] = (node_id, str(index))
            attributes = _type_attributes(argument.type)
            names = source_names(argument.location) or [f"arg{index}"]
            attributes |= {"tensor_name": names[0]} | described.get(index, {})
            outputs.append(_metadata(index, attributes))
        return _node(node_id, node_id, outputs=outputs)

    def _node(self, node_id: str, operation: ir.Operation) -> dict:
        name = text.operator_name(operation)
        constant = text.is_constant(operation)
        names = source_names(operation.location)
        attributes = {"operation": name} if constant else {}
        if names:
            attributes["source"] = ", ".join(names)
        attributes |= self._annotate(operation)
        parameters = qparams.parameters(operation)
        if parameters is not None:
            attributes |= {"scale": parameters.scale, "zero point": parameters.zero_point}
            attributes["granularity"] = parameters.granularity
        if constant:
            attributes["value"] = text.constant(operation.results[0]) or ""
        else:
            attributes |= _own_attributes(operation) | _constant_operands(
                operation, parameters.operands if parameters else ()
            )
        if len(operation.regions):
            attributes["body"] = text.body(operation)
        if _EXECUTOR_ATTRIBUTE in operation.attributes:
            attributes.setdefault(EXECUTOR, text.attribute(operation.attributes[_EXECUTOR_ATTRIBUTE]))
        return _node(
            node_id,
            CONSTANT_LABEL if constant else OUTPUTS if operation.name == _RETURN else name,
            namespace="" if operation.name == _RETURN else _namespace(names),
            attributes=attributes,
            edges=self._edges(operation),
            outputs=[_metadata(index, _type_attributes(each.type)) for index, each in enumerate(operation.results)],
            subgraphs=self._called(operation),
        )

    def _edges(self, operation: ir.Operation) -> list[dict]:
        """An edge for each operand, and one for each value from outside that a region uses."""
        used = [*operation.operands, *dict.fromkeys(_captured(operation))]
        return [
            {"sourceNodeId": source, "sourceNodeOutputId": output, "targetNodeInputId": str(index)}
            for index, (source, output) in enumerate(map(self._sources.__getitem__, used))
        ]

    def _called(self, operation: ir.Operation) -> list[str]:
        if "callee" not in operation.attributes:
            return []
        name = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
        return [self._callees[name]] if name in self._callees else []


def _captured(operation: ir.Operation) -> Iterator[ir.Value]:
    """The values from outside of an operation that its regions use."""
    inner: set[ir.Value] = set()
    nested = [each for region in operation.regions for block in region.blocks for each in _all(block, inner)]
    for each in nested:
        yield from (operand for operand in each.operands if operand not in inner)


def _all(block: ir.Block, defined: set[ir.Value]) -> Iterator[ir.Operation]:
    """The operations of a block and of what is in them; what they define is added to `defined`."""
    defined.update(block.arguments)
    for each in block.operations:
        defined.update(each.operation.results)
        yield each.operation
        for region in each.operation.regions:
            for inner in region.blocks:
                yield from _all(inner, defined)


def _namespace(names: list[str]) -> str:
    """The group of a node: its source node, in the groups that the name of that has."""
    return re.sub(r"/+", "/", names[0]).strip("/") if names else ""


def _own_attributes(operation: ir.Operation) -> Attributes:
    names = [name for name in operation.attributes if name not in _LEFT_OUT]
    return {name.removeprefix("torch.onnx."): text.attribute(operation.attributes[name]) for name in names}


def _constant_operands(operation: ir.Operation, shown: Sequence[int]) -> Attributes:
    """The constants among the operands but those `shown`, by the names of operands where the dialect is one of ours."""
    constants = {index: text.constant(value) for index, value in enumerate(operation.operands) if index not in shown}
    return {
        _operand_name(operation, index) or f"operand {index}": value
        for index, value in constants.items()
        if value is not None
    }


def _operand_name(operation: ir.Operation, index: int) -> str:
    """The name of an operand in the definition of an operation; empty for operations of other dialects."""
    definition = _DEFINITIONS.get(operation.name)
    if definition is None:
        return ""
    grouped = ods.group("operand", range(len(operation.operands)), definition.operands)
    return next((name for name, value in grouped.items() if value == index), "")


def _argument_attributes(function: ir.Operation) -> dict[int, dict[str, str]]:
    """How arguments are called in the source model and how they are quantized, where it is known."""
    if "arg_attrs" not in function.attributes:
        return {}
    described = {}
    for index, attributes in enumerate(ir.ArrayAttr(function.attributes["arg_attrs"])):
        attributes = ir.DictAttr(attributes)
        known = {
            short: text.attribute(attributes[name])
            for name, short in _ARGUMENT_ATTRIBUTES.items()
            if name in attributes
        }
        if "torq_hl.name" in attributes:
            known["tensor_name"] = ir.StringAttr(attributes["torq_hl.name"]).value
        described[index] = known
    return described


def _type_attributes(type_: ir.Type) -> dict[str, str]:
    return {"shape": text.dimensions(type_), "dtype": text.element(type_)}


def _metadata(index: int, attributes: Attributes) -> dict:
    return {"id": str(index), "attrs": _pairs(attributes)}


def _node(
    node_id: str,
    label: str,
    *,
    namespace: str = "",
    attributes: Attributes | None = None,
    edges: list[dict] | None = None,
    outputs: list[dict] | None = None,
    subgraphs: list[str] | None = None,
) -> dict:
    return {
        "id": node_id,
        "label": label,
        "namespace": namespace,
        "subgraphIds": subgraphs or [],
        "attrs": _pairs(attributes or {}),
        "incomingEdges": edges or [],
        "outputsMetadata": outputs or [],
    }


def _pairs(attributes: Attributes) -> list[dict]:
    return [{"key": name, "value": value} for name, value in attributes.items()]
