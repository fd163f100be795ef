# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of nodes: every diagnostic, report and location of the compiler refers to them."""

import onnx


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
