# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes of subgraphs and of functions, as nodes of the graph around them."""

from collections.abc import Iterator, Mapping, Sequence

import onnx
from onnx import AttributeProto, helper

from . import naming


def inlined(
    nodes: Sequence[onnx.NodeProto],
    bindings: Mapping[str, str],
    prefix: str,
    source: onnx.NodeProto,
    attributes: Mapping[str, AttributeProto] | None = None,
) -> Iterator[onnx.NodeProto]:
    """Copies of nodes under names of their own, which stand for `source`.

    Args:
      bindings: names that stand for values of the nodes; those of all others that they compute get the prefix.
      attributes: what the attributes of a function, which its nodes refer to, are; without those that are absent.
    """
    names = {name: name and f"{prefix}/{name}" for node in nodes for name in node.output} | dict(bindings)
    for index, node in enumerate(nodes):
        copy = _renamed(node, names, prefix, attributes or {})
        copy.name = f"{prefix}/{node.name or f'{node.op_type}_{index}'}"
        naming.stand_for(copy, source)
        yield copy


def _renamed(
    node: onnx.NodeProto, names: Mapping[str, str], prefix: str, attributes: Mapping[str, AttributeProto]
) -> onnx.NodeProto:
    copy = helper.make_node(
        node.op_type,
        [names.get(name, name) for name in node.input],
        [names.get(name, name) for name in node.output],
        domain=node.domain,
    )
    copy.metadata_props.extend(node.metadata_props)
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in attributes:
                continue
            copy.attribute.add().CopyFrom(attributes[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
        else:
            copy.attribute.add().CopyFrom(attribute)
        if attribute.type == AttributeProto.GRAPH:
            _rename_body(copy.attribute[-1].g, names, prefix, attributes)
    return copy


def _rename_body(
    graph: onnx.GraphProto, names: Mapping[str, str], prefix: str, attributes: Mapping[str, AttributeProto]
) -> None:
    own = [value.name for value in (*graph.input, *graph.initializer)]
    own += [name for node in graph.node for name in node.output if name]
    inner = dict(names) | {name: f"{prefix}/{name}" for name in own}
    nodes = [_renamed(node, inner, prefix, attributes) for node in graph.node]
    for node, copy in zip(graph.node, nodes, strict=True):
        copy.name = node.name
    for value in (*graph.input, *graph.output, *graph.initializer):
        value.name = inner.get(value.name, value.name)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)


def captured(node: onnx.NodeProto) -> set[str]:
    """Values around a node that its subgraphs read, and perhaps others."""
    graphs = [attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH]
    graphs += [graph for attribute in node.attribute for graph in attribute.graphs]
    names: set[str] = set()
    for graph in graphs:
        names.update(value.name for value in graph.output)
        names.update(*(each.input for each in graph.node), *map(captured, graph.node))
    return names


def identity(value: str, result: str, source: onnx.NodeProto) -> onnx.NodeProto:
    """A node that gives a value another name."""
    node = helper.make_node("Identity", [value], [result], name=f"{source.name}/{result}")
    naming.stand_for(node, source)
    return node
