# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between f32 and bf16 that meet: values stay in bf16 from one operation of the NPU to the next."""

from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.uses import users

from .bf16 import is_conversion, narrow

_MOVEMENTS = "tensor.expand_shape", "tensor.collapse_shape", "tensor.extract_slice", "tensor.concat"
# What keeps all elements of one tensor.
_WHOLE = "tensor.expand_shape", "tensor.collapse_shape", "linalg.transpose"


def remove_conversions(operation: ir.Operation, rewriter) -> object:
    """What was bf16 before, moved or not, is moved in bf16."""
    if not is_conversion(operation, ir.BF16Type):
        return NOT_MINE
    source = _before_widening(operation.operands[1])
    if source is not None:
        rewriter.replace_op(operation, [source])
        return None
    if isinstance(operation.operands[1].owner, ir.Block):
        return NOT_MINE
    movement = operation.operands[1].owner.operation
    transposes = movement.name == "linalg.transpose"
    if not transposes and movement.name not in _MOVEMENTS:
        return NOT_MINE
    sources = [_before_widening(value) for value in list(movement.operands)[: 1 if transposes else None]]
    if movement.name in _WHOLE and len(users(movement.results[0])) == 1:  # half as much to move
        with ir.InsertionPoint(operation), operation.location:
            sources = [sources[0] or narrow(movement.operands[0])]
    if any(source is None for source in sources):
        return NOT_MINE
    with ir.InsertionPoint(operation), movement.location:
        if transposes:
            moved = torq_hl.transpose(sources[0], perm=list(ir.DenseI64ArrayAttr(movement.attributes["permutation"])))
        else:
            attributes = {name: movement.attributes[name] for name in movement.attributes}
            moved = ir.Operation.create(movement.name, [operation.results[0].type], sources, attributes).result
        rewriter.replace_op(operation, [moved])
    return None


def _before_widening(value: ir.Value) -> ir.Value | None:
    """The bf16 that a tensor of f32 was converted from."""
    if isinstance(value.owner, ir.Block) or not is_conversion(value.owner.operation, ir.F32Type):
        return None
    source = value.owner.operation.operands[1]
    return source if isinstance(ir.RankedTensorType(source.type).element_type, ir.BF16Type) else None
