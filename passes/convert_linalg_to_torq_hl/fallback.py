# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization and dequantization that nothing better takes in, in bf16 on the NPU.

bf16 has 8 bits of precision: a quantized value can be off by one where f32 is exact. That is why these patterns are
asked for with `float=bf16`, and have the least benefit.
"""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize, match_quantize

from .bf16 import act, narrow, scaled, widen
from .requantize import check_output, constant, result_element

_IDENTITY_RESCALE = np.array([0, 1], np.int32)


def convert_quantize(operation: ir.Operation, rewriter) -> object:
    """act f2f (to bf16), mul by 1 / scale plus the zero point, act f2i, fma that clamps and narrows."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    check_output(quantize)
    if not isinstance(ir.RankedTensorType(quantize.input.type).element_type, ir.F32Type):
        raise NoMatch("the quantized value is not f32")
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_quantize(quantize)])
    return None


def convert_dequantize(operation: ir.Operation, rewriter) -> object:
    """act i2f (less the zero point, to bf16), mul by the scale, act f2f."""
    dequantize = match_dequantize(operation.results[0]) if len(operation.results) == 1 else None
    if dequantize is None:
        return NOT_MINE
    if elements.constant_value(dequantize.input) is not None:
        raise NoMatch("a constant is no value to dequantize at run time")
    width = ir.RankedTensorType(dequantize.input.type).element_type.width
    if dequantize.unsigned or width not in (8, 16) or not dequantize.per_tensor:
        raise NoMatch("only signed values of 8 or 16 bits with one scale are dequantized on the NPU")
    if not isinstance(ir.RankedTensorType(operation.results[0].type).element_type, ir.F32Type):
        raise NoMatch("the dequantized value is not f32")
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_dequantize(dequantize)])
    return None


def _quantize(quantize: Quantize) -> ir.Value:
    value = narrow(quantize.input)
    value = scaled(value, 1.0 / float(quantize.scale), float(quantize.zero_point))
    value = act("f2i", value, ir.IntegerType.get_signless(32))
    return torq_hl.fma(
        constant(np.ones(1, np.int8)),
        constant(_IDENTITY_RESCALE),
        value,
        output_zp=0,
        output_min=quantize.minimum,
        output_max=quantize.maximum,
        shift_factor=0,
        element_type=result_element(quantize),
    )


def _dequantize(dequantize: Dequantize) -> ir.Value:
    value = act("i2f", dequantize.input, ir.BF16Type.get(), input_zp=int(dequantize.zero_point))
    return widen(scaled(value, float(dequantize.scale), 0.0))
