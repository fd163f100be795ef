# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per tensor and per channel."""

from torch_mlir import ir, rewrite

from torq_mlir.rewriting.qdq_generics import dequantize_generic, quantize_generic

from .operations import NO_MATCH, is_on_builtin_tensors, is_unsigned, replace, result_element_type, unless_zero


def convert_quantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    input, scale, zero_point, *bounds = op.operation.operands
    attributes = op.operation.attributes
    quant_min, quant_max = bounds or (attributes["quant_min"].value, attributes["quant_max"].value)
    with rewriter.ip:
        result = quantize_generic(
            input,
            scale,
            unless_zero(zero_point),
            axis=_axis(attributes),
            quant_min=quant_min,
            quant_max=quant_max,
            unsigned=is_unsigned(attributes),
            divide="divide" in attributes,
            storage_type=result_element_type(op),
            loc=op.operation.location,
        )
    replace(op, rewriter, [result])
    return None


def convert_dequantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    input, scale, zero_point = list(op.operation.operands)[:3]
    attributes = op.operation.attributes
    with rewriter.ip:
        result = dequantize_generic(
            input,
            scale,
            unless_zero(zero_point),
            axis=_axis(attributes),
            unsigned=is_unsigned(attributes),
            result_element_type=result_element_type(op),
            loc=op.operation.location,
        )
    replace(op, rewriter, [result])
    return None


def _axis(attributes: ir.OpAttributeMap) -> int | None:
    return attributes["axis"].value if "axis" in attributes else None
