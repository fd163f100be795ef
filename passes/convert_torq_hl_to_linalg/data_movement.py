# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move or repeat elements."""

from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import linalg

from torq_mlir.rewriting.structured import build_elementwise, element_type, scalar_constant


def lower_transpose(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.transpose(op.input, outs=[op.init], permutation=list(attributes.perm)).operation.results[0]


def lower_broadcast(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.broadcast(op.input, outs=[op.init], dimensions=list(attributes.dimensions)).operation.results[0]


def lower_fill(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.fill(scalar_constant(element_type(op.init), attributes.value), outs=[op.init])


def lower_identity(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return build_elementwise([op.input], op.init, lambda value: value)
