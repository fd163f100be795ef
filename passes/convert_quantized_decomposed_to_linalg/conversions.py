# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fake quantization and conversion of element types."""

from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith, math

from torq_mlir.rewriting.float_steps import convert_element
from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    convert_float,
    empty_like,
    extend,
    projection,
    scalar_constant,
)

from .operations import NO_MATCH, is_on_builtin_tensors, replace, result_element_type


def convert_fake_quant_per_channel(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    """Everything is f32; scales and zero points are converted ahead of the loop."""
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    input, scales, zero_points = op.operation.operands
    attributes = op.operation.attributes
    rank, f32 = ir.RankedTensorType(input.type).rank, ir.F32Type.get()
    with rewriter.ip, op.operation.location:
        low, high, one = (
            scalar_constant(f32, value) for value in (attributes["quant_min"].value, attributes["quant_max"].value, 1)
        )
        scales = _elementwise(scales, f32, lambda scale: convert_float(scale, f32))
        factors = _elementwise(scales, f32, lambda scale: arith.divf(one, scale))
        zero_points = _elementwise(zero_points, f32, _zero_point_in_f32)

        def body(value: ir.Value, scale: ir.Value, factor: ir.Value, zero_point: ir.Value, _: ir.Value) -> ir.Value:
            shifted = arith.addf(math.roundeven(arith.mulf(value, factor)), zero_point)
            clamped = arith.minimumf(arith.maximumf(shifted, low), high)
            return arith.mulf(arith.subf(clamped, zero_point), scale)

        identity, channel = ir.AffineMap.get_identity(rank), projection(rank, [attributes["axis"].value % rank])
        result = build_generic(
            [input, scales, factors, zero_points],
            empty_like(input, f32),
            [identity, channel, channel, channel, identity],
            [PARALLEL] * rank,
            body,
        )
    replace(op, rewriter, [result])
    return None


def _zero_point_in_f32(zero_point: ir.Value) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    narrow = arith.trunci(i32, zero_point) if zero_point.type.width > 32 else extend(zero_point, i32)
    return arith.sitofp(ir.F32Type.get(), narrow)


def _elementwise(values: ir.Value, target: ir.Type, body) -> ir.Value:
    return build_elementwise([values], empty_like(values, target), body)


def convert_convert_element_type(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    (input,) = op.operation.operands
    source, target = (op.operation.attributes[name].value for name in ("input_dtype", "dtype"))
    with rewriter.ip, op.operation.location:
        result = input
        if source != target:
            result = _elementwise(input, result_element_type(op), lambda value: convert_element(value, source, target))
    replace(op, rewriter, [result])
    return None
