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
    rows = input.reshape(-1, input.shape[-1])
    product = _aten.mm(rows, _aten.permute(weight, [1, 0]))
    if bias is not None:
        product = _aten.add.Tensor(product, bias)
    return product.reshape(*input.shape[:-1], weight.shape[0])


@functools.cache
def decomposition_table() -> Mapping[torch._ops.OperatorBase, Callable]:
    """The decompositions that torch-mlir asks for, but those of products.

    Theirs multiply by 1, and take an operator apart that torch-mlir lowers as it is.
    """
    table = dict(get_decomposition_table())
    table[_aten.linear.default] = _linear
    del table[_aten.matmul.default]
    return table
