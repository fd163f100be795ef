# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize ops on builtin tensors become linalg.generic on their elements.

Operations on `!torch.vtensor` stay: their storage has no signless form yet.
"""

from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements
from torq_mlir.rewriting.qdq_generics import dequantize_generic, quantize_generic

_NO_MATCH = True


def run(op: ir.Operation) -> None:
    patterns = rewrite.RewritePatternSet()
    patterns.add("quantized_decomposed.quantize_per_tensor", _convert_quantize)
    patterns.add("quantized_decomposed.quantize_per_channel", _convert_quantize)
    patterns.add("quantized_decomposed.dequantize_per_tensor", _convert_dequantize)
    patterns.add("quantized_decomposed.dequantize_per_channel", _convert_dequantize)
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _convert_quantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not _is_on_builtin_tensors(op):
        return _NO_MATCH
    input, scale, zero_point, *bounds = op.operation.operands
    attributes = op.operation.attributes
    quant_min, quant_max = bounds or (attributes["quant_min"].value, attributes["quant_max"].value)
    with rewriter.ip:
        result = quantize_generic(
            input,
            scale,
            _unless_zero(zero_point),
            axis=_axis(attributes),
            quant_min=quant_min,
            quant_max=quant_max,
            unsigned=_is_unsigned(attributes),
            divide="divide" in attributes,
            storage_type=ir.RankedTensorType(op.operation.results[0].type).element_type,
            loc=op.operation.location,
        )
    rewriter.replace_op(op, [result])
    return None


def _convert_dequantize(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not _is_on_builtin_tensors(op):
        return _NO_MATCH
    input, scale, zero_point = list(op.operation.operands)[:3]
    attributes = op.operation.attributes
    with rewriter.ip:
        result = dequantize_generic(
            input,
            scale,
            _unless_zero(zero_point),
            axis=_axis(attributes),
            unsigned=_is_unsigned(attributes),
            result_element_type=ir.RankedTensorType(op.operation.results[0].type).element_type,
            loc=op.operation.location,
        )
    rewriter.replace_op(op, [result])
    return None


def _is_on_builtin_tensors(op: ir.OpView) -> bool:
    values = [*op.operation.operands, *op.operation.results]
    return all(isinstance(v.type, (ir.RankedTensorType, ir.IntegerType, ir.FloatType)) for v in values)


def _unless_zero(zero_point: ir.Value) -> ir.Value | None:
    constant = elements.constant_value(zero_point)
    return None if constant is not None and not constant.any() else zero_point


def _axis(attributes: ir.OpAttributeMap) -> int | None:
    return attributes["axis"].value if "axis" in attributes else None


def _is_unsigned(attributes: ir.OpAttributeMap) -> bool:
    return ir.IntegerType(attributes["dtype"].value).is_unsigned
