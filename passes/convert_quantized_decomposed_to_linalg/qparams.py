# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters chosen at run time."""

from torch_mlir import ir, rewrite

from torq_mlir.rewriting import choose_qparams

from .operations import NO_MATCH, is_on_builtin_tensors, replace


def convert_choose_qparams(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    quant_min, quant_max, eps = (op.operation.attributes[name].value for name in ("quant_min", "quant_max", "eps"))
    with rewriter.ip, op.operation.location:
        parameters = choose_qparams.choose_qparams(op.operation.operands[0], quant_min, quant_max, eps)
    replace(op, rewriter, parameters)
    return None


def convert_choose_qparams_symmetric(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    quant_min, quant_max, eps = (op.operation.attributes[name].value for name in ("quant_min", "quant_max", "eps"))
    dtype = ir.IntegerType(op.operation.attributes["dtype"].value)
    with rewriter.ip, op.operation.location:
        parameters = choose_qparams.choose_qparams_symmetric(op.operation.operands[0], quant_min, quant_max, eps, dtype)
    replace(op, rewriter, parameters)
    return None


def convert_choose_qparams_per_token(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    with rewriter.ip, op.operation.location:
        parameters = choose_qparams.choose_qparams_per_token(op.operation.operands[0])
    replace(op, rewriter, parameters)
    return None


def convert_choose_qparams_per_token_asymmetric(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool | None:
    if not is_on_builtin_tensors(op):
        return NO_MATCH
    with rewriter.ip, op.operation.location:
        parameters = choose_qparams.choose_qparams_per_token_asymmetric(op.operation.operands[0])
    replace(op, rewriter, parameters)
    return None
