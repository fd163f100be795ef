# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are taken apart before the import, because torch-mlir has no form of them."""

import functools
from collections.abc import Callable, Mapping

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


# Operators of these namespaces are what the passes look for.
_RAISED = ("quantized_decomposed", "torchao")


@functools.cache
def decomposition_table() -> Mapping[torch._ops.OperatorBase, Callable]:
    """The decompositions that torch-mlir asks for, but those of products and of quantization.

    Those of products multiply by 1, and take an operator apart that torch-mlir lowers as it is.
    """
    table = {op: function for op, function in get_decomposition_table().items() if op.namespace not in _RAISED}
    table[_aten.linear.default] = _linear
    del table[_aten.matmul.default]
    return table


# What checks a type that the export has fixed.
_ASSERTIONS = (_aten._assert_tensor_metadata.default, _aten._assert_scalar.default, _aten._assert_async.msg)


def remove_assertions(graph: torch.fx.Graph) -> None:
    """Remove the nodes that compute nothing."""
    for node in reversed(graph.nodes):
        if node.target in _ASSERTIONS and not node.users:
            graph.erase_node(node)
