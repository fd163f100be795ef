# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are taken apart before the import, because torch-mlir has no form of them."""

import functools
from collections.abc import Callable, Mapping

import torch
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

# Products that torch-mlir has itself. Taken apart, they are multiplied by 1, and a batch of rows by copies of weights.
_KEPT = (torch.ops.aten.linear, torch.ops.aten.matmul)


@functools.cache
def decomposition_table() -> Mapping[torch._ops.OperatorBase, Callable]:
    """The decompositions that torch-mlir asks for, but those of the products."""
    return {op: function for op, function in get_decomposition_table().items() if op._overloadpacket not in _KEPT}
