# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of nodes: every diagnostic, report and location of the compiler refers to them."""

import onnx

# Metadata of nodes that a rewriting of the graph has made or changed: the node of the source model that they stand for.
_SOURCE_NAME, _SOURCE_OPERATOR = "torq_mlir.source_name", "torq_mlir.source_operator"


def name_nodes(graph: onnx.GraphProto) -> None:
    """Give each node of `graph` a name of its own: a node without one becomes `<op type>_<index>`."""
    taken: set[str] = set()
    given = {node.name for node in graph.node}
    for index, node in enumerate(graph.node):
        name = node.name
        if not name or name in taken:
            stem = name or node.op_type
            name = f"{stem}_{index}"
            while name in given or name in taken:
                name += f"_{index}"
            node.name = name
        taken.add(name)


def describe(node: onnx.NodeProto) -> str:
    """The node as errors name it."""
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return f"{node.name} ({operator})"


def stand_for(node: onnx.NodeProto, source: onnx.NodeProto) -> None:
    """Record that `node` is part of what `source` computes; a node that becomes another operator stands for itself."""
    source_name, operator = source_of(source)
    for key, value in ((_SOURCE_NAME, source_name), (_SOURCE_OPERATOR, operator)):
        if _recorded(node, key) is None:
            node.metadata_props.add(key=key, value=value)


def source_of(node: onnx.NodeProto) -> tuple[str, str]:
    """Name and operator of the node of the source model that a node stands for."""
    return _recorded(node, _SOURCE_NAME) or node.name, _recorded(node, _SOURCE_OPERATOR) or node.op_type


def _recorded(node: onnx.NodeProto, key: str) -> str | None:
    return next((entry.value for entry in node.metadata_props if entry.key == key), None)
