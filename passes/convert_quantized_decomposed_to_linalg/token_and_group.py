# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per token and per channel group."""

from torch_mlir import ir, rewrite

from torq_mlir.rewriting.group_generics import dequantize_groups_generic, quantize_groups_generic

from .operations import NO_MATCH, is_on_builtin_tensors, is_unsigned, replace, result_element_type, unless_zero

_LAST = -1


def convert_quantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    input, scales, zero_points = _operands(op)
    attributes = op.operation.attributes
    axis, group_size = _groups(attributes)
    with rewriter.ip:
        result = quantize_groups_generic(
            input,
            scales,
            zero_points,
            axis=axis,
            group_size=group_size,
            quant_min=attributes["quant_min"].value,
            quant_max=attributes["quant_max"].value,
            unsigned=is_unsigned(attributes),
            divide="divide" in attributes,
            round_first="round_first" in attributes,
            storage_type=result_element_type(op),
            loc=op.operation.location,
        )
    replace(op, rewriter, [result])
    return None


def convert_dequantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    input, scales, zero_points = _operands(op)
    attributes = op.operation.attributes
    axis, group_size = _groups(attributes)
    with rewriter.ip:
        result = dequantize_groups_generic(
            input,
            scales,
            zero_points,
            axis=axis,
            group_size=group_size,
            unsigned=is_unsigned(attributes),
            result_element_type=result_element_type(op),
            loc=op.operation.location,
        )
    replace(op, rewriter, [result])
    return None


def _operands(op: ir.OpView) -> tuple[ir.Value, ir.Value, ir.Value | None]:
    input, scales, *zero_points = op.operation.operands
    return input, scales, unless_zero(zero_points[0]) if zero_points else None


def _groups(attributes: ir.OpAttributeMap) -> tuple[int, int | None]:
    """Axis and group size; None for a token, which is all of the last dimension."""
    axis = attributes["axis"].value if "axis" in attributes else _LAST
    return axis, attributes["group_size"].value if "group_size" in attributes else None
