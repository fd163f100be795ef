# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are taken apart before the import, because torch-mlir has no form of them, and what that leaves."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

_aten = torch.ops.aten


def _linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """A product of matrices, whatever the rank of the input: torch-mlir repeats the weights for a batch."""
    rows = input if input.dim() == 2 else input.reshape(-1, input.shape[-1])
    product = _aten.mm(rows, _aten.permute(weight, [1, 0]))
    if bias is not None:
        product = _aten.add.Tensor(product, bias)
    return product if input.dim() == 2 else product.reshape(*input.shape[:-1], weight.shape[0])


def _reciprocal(input: torch.Tensor) -> torch.Tensor:
    """A quotient: what torch-mlir makes of the operator ends the process where an element is zero."""
    return _aten.div.Tensor(_aten.full.default([], 1.0), input)


def _gelu(input: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    """The approximation, for which torch-mlir has another constant than PyTorch."""
    if approximate != "tanh":
        return NotImplemented
    inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
    return 0.5 * input * (1 + torch.tanh(inner))


# Operators of these namespaces are what the passes look for.
QUANTIZED_NAMESPACES = ("quantized_decomposed", "torchao")


@functools.cache
def decomposition_table() -> Mapping[torch._ops.OperatorBase, Callable]:
    """The decompositions that torch-mlir asks for, but those of products and of quantization, and some of its gaps.

    Those of products multiply by 1, and take an operator apart that torch-mlir lowers as it is.
    """
    table = {
        op: function for op, function in get_decomposition_table().items() if op.namespace not in QUANTIZED_NAMESPACES
    }
    table |= {_aten.linear.default: _linear, _aten.reciprocal.default: _reciprocal, _aten.gelu.default: _gelu}
    del table[_aten.matmul.default]
    return table


# What checks a type that the export has fixed.
_ASSERTIONS = (_aten._assert_tensor_metadata.default, _aten._assert_scalar.default, _aten._assert_async.msg)


def remove_assertions(graph: torch.fx.Graph) -> None:
    """Remove the nodes that compute nothing."""
    for node in reversed(graph.nodes):
        if node.target in _ASSERTIONS and not node.users:
            graph.erase_node(node)


def sink_views(graph: torch.fx.Graph) -> None:
    """Compute element by element before a view, not after it: next to the product of matrices that the view follows."""
    for node in list(graph.nodes):
        view = node.args[0] if _is_unary(node) else None
        if view is None or view.target is not _aten.view.default or len(view.users) > 1:
            continue
        source, rest = view.args[0], node.args[1:]
        with graph.inserting_before(node):
            value = graph.call_function(node.target, (source, *rest), node.kwargs)
            moved = graph.call_function(view.target, (value, *view.args[1:]))
        example = source.meta["val"]
        with example.fake_mode:
            value.meta = _described(node, node.target(example, *rest, **node.kwargs))
        moved.meta = _described(view, node.meta["val"])
        node.replace_all_uses_with(moved)
        graph.erase_node(node)
        graph.erase_node(view)


def _is_unary(node: torch.fx.Node) -> bool:
    """Whether a node computes each element from one of its first argument, and is no output of the program."""
    if not isinstance(node.target, torch._ops.OpOverload) or torch.Tag.pointwise not in node.target.tags:
        return False
    return node.all_input_nodes == [node.args[0]] and all(user.op != "output" for user in node.users)


def _described(node: torch.fx.Node, value: torch.Tensor) -> dict[str, Any]:
    """What is known of a node, for another one that gives `value`."""
    return {key: each for key, each in node.meta.items() if key != "tensor_meta"} | {"val": value}
