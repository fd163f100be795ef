# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a graph is computed, and what is a view: tensors that share memory in PyTorch share it here too.

A compiled function returns new arrays. So it returns each tensor that owns memory once, and the views of those, and of
the inputs, are made by the nodes that make them in PyTorch.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from torq_mlir.errors import ModelError
from torq_mlir.frontends import fx as fx_frontend

Values = Mapping[fx.Node, Any]


@dataclass(frozen=True)
class Outputs:
    """How the outputs of a graph come about.

    Attributes:
      computed: nodes that own memory, in order: what a compiled function has to return.
      given: inputs that outputs are views of.
      views: takes `computed` and `given`, as tensors, and returns the outputs of the graph.
    """

    computed: tuple[fx.Node, ...]
    given: tuple[fx.Node, ...]
    views: fx.GraphModule


def split_outputs(graph: fx.Graph, values: Values) -> Outputs:
    """Find out what the outputs are views of.

    Args:
      values: of each node, a tensor (fake ones will do), a number, or a structure of them, from one run.

    Raises:
      ModelError: an output is a view in a way that cannot be repeated.
    """
    result = graph.output_node().args[0]
    wanted = [leaf for leaf in pytree.tree_leaves(result) if isinstance(values.get(leaf), torch.Tensor)]
    views = _Views(graph, values)
    for node in wanted:
        views.add(node)
    return views.finish(result)


class _Views:
    """A graph of the nodes that make views, from the ones that own memory."""

    def __init__(self, graph: fx.Graph, values: Values) -> None:
        self._graph, self._values = graph, values
        self._owners: dict[int, fx.Node] = {}
        for node in graph.nodes:
            if isinstance(values.get(node), torch.Tensor):
                self._owners.setdefault(_storage(values[node]), node)
        self._views: set[fx.Node] = set()
        self._used: dict[fx.Node, None] = {}

    def add(self, node: fx.Node) -> None:
        """Take up a node that has a tensor, or several, and what it is a view of."""
        if node in self._used or node in self._views:
            return
        value = self._values[node]
        if isinstance(value, torch.Tensor) and self._owners[_storage(value)] is node:
            self._used[node] = None
            return
        self._views.add(node)
        for source in self._sources(node):
            self.add(source)

    def _sources(self, node: fx.Node) -> list[fx.Node]:
        """What a node is a view of."""
        if (same := self._same(node)) is not None:
            return [same]
        shared = self._storages(node)
        sources = [source for source in node.all_input_nodes if self._storages(source)]
        if node.target is operator.getitem and not isinstance(self._values[sources[0]], torch.Tensor):
            return sources
        if not sources or any(self._storages(source) - shared for source in sources):
            raise ModelError(f"{node.name} ({fx_frontend.operator_name(node)}): it is not known what this is a view of")
        return sources

    def _same(self, node: fx.Node) -> fx.Node | None:
        """The argument that a node returns, as what computes in place does. It has its last value by the end."""
        return next((each for each in node.all_input_nodes if self._values[each] is self._values[node]), None)

    def _storages(self, node: fx.Node) -> set[int]:
        leaves = pytree.tree_leaves(self._values[node])
        return {_storage(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)}

    def finish(self, result: Any) -> Outputs:
        made, copies = fx.Graph(), {}
        owners = [node for node in self._graph.nodes if node in self._used]
        given = [node for node in owners if node.op in ("placeholder", "get_attr")]
        computed = [node for node in owners if node not in given]
        for node in (*computed, *given):
            copies[node] = made.placeholder(node.name)
        for node in self._graph.nodes:
            if node in self._views:
                same = self._same(node)
                copies[node] = copies[same] if same else made.node_copy(node, lambda each: self._argument(each, copies))
        made.output(fx.map_arg(result, lambda each: self._argument(each, copies)))
        return Outputs(tuple(computed), tuple(given), fx.GraphModule(torch.nn.Module(), made))

    def _argument(self, node: fx.Node, copies: Mapping[fx.Node, fx.Node]) -> Any:
        """The copy of a node; what is no tensor is a constant for these shapes."""
        return copies[node] if node in copies else self._values[node]


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
