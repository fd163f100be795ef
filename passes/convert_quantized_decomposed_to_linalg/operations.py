# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the conversions share: reading an operation and replacing it."""

from collections.abc import Sequence

from torch_mlir import ir, rewrite
from torch_mlir.dialects import tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import element_type

NO_MATCH = True


def is_on_builtin_tensors(op: ir.OpView) -> bool:
    """Whether no operand or result is of a type of the torch dialect, nor without a rank."""
    values = [*op.operation.operands, *op.operation.results]
    return all(isinstance(v.type, (ir.RankedTensorType, ir.IntegerType, ir.FloatType)) for v in values)


def is_unsigned(attributes: ir.OpAttributeMap) -> bool:
    """Whether the storage type is unsigned."""
    return ir.IntegerType(attributes["dtype"].value).is_unsigned


def result_element_type(op: ir.OpView) -> ir.Type:
    """The element type of the first result."""
    return ir.RankedTensorType(op.operation.results[0].type).element_type


def unless_zero(zero_point: ir.Value) -> ir.Value | None:
    """The zero point, or None for an integer constant of zero; a float of zero still promotes what it is added to."""
    if isinstance(element_type(zero_point), ir.FloatType):
        return zero_point
    constant = elements.constant_value(zero_point)
    return None if constant is not None and not constant.any() else zero_point


def replace(op: ir.OpView, rewriter: rewrite.PatternRewriter, values: Sequence[ir.Value]) -> None:
    """Replaces an operation; where its results know more or less of their shape, by casts."""
    with ir.InsertionPoint(op), op.operation.location:
        replacements = [
            value if value.type == result.type else tensor.cast(result.type, value)
            for value, result in zip(values, op.operation.results, strict=True)
        ]
    rewriter.replace_op(op, replacements)
