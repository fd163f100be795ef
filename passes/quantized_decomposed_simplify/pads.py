# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize change places with a pad, whose value becomes an integer."""

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.numerics.quantize import dequantize, quantize
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern

from .operations import DEQUANTIZE, QUANTIZE, QuantizationOp, defining_op
from .selections import build_pad, pad_amounts, pad_value

PADS = "tensor.pad", "torch.aten.constant_pad_nd"
# Operations that read a padded image: its padding is theirs, and conversions look for it there.
_WINDOWS = "linalg.conv_", "linalg.depthwise_conv", "linalg.pooling_"


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`pad(dequantize(x), v)` becomes `dequantize(pad(x, i))` where the integer i stands for exactly v."""
    producer = defining_op(operation.operands[0], DEQUANTIZE)
    if producer is None or _pads_a_window(operation):
        return NOT_MINE
    dequantization = QuantizationOp(producer)
    integer = _integer(operation, dequantization, exact=True)
    if integer is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        padded = build_pad(operation, dequantization.input, integer)
        rewriter.replace_op(operation, [dequantization.rebuild(padded, dequantization.axis)])
    return None


def move_quantize_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(pad(x, v))` becomes `pad(quantize(x), quantize(v))`, unless the real values are needed elsewhere."""
    quantization = QuantizationOp(operation)
    pad = defining_op(quantization.input, PADS)
    if pad is None or len(list(pad.results[0].uses)) != 1:
        return NOT_MINE
    integer = _integer(pad, quantization, exact=False)
    if integer is None:
        return NOT_MINE
    with ir.InsertionPoint(operation):
        quantized = quantization.rebuild(pad.operands[0], quantization.axis)
        with pad.location:
            rewriter.replace_op(operation, [build_pad(pad, quantized, integer)])
    return None


def _pads_a_window(pad: ir.Operation) -> bool:
    return any(use.owner.operation.name.startswith(_WINDOWS) for use in pad.results[0].uses)


def _integer(pad: ir.Operation, quantization: QuantizationOp, *, exact: bool) -> int | None:
    """What the pad value is quantized to, the same in all channels; None if there is no such integer.

    Args:
      exact: whether it has to stand for the value itself, not only for what it is rounded to.
    """
    value, parameters, bounds = pad_value(pad), quantization.constants(), quantization.bounds
    shape, axis = tensor_types.shape(pad.operands[0].type), quantization.axis
    if value is None or parameters is None or bounds is None or shape is None or not np.isfinite(value):
        return None
    amounts = pad_amounts(pad, len(shape))
    if amounts is None or (axis is not None and (amounts[0][axis] or amounts[1][axis])):
        return None
    scale, zero_point = (array.reshape(-1) for array in parameters)
    real = np.full(scale.shape, value, np.float32)
    dtype = elements.numpy_dtype(quantization.storage)
    divide = exact or "divide" in quantization.operation.attributes
    integers = quantize(real, scale, zero_point, *bounds, dtype, axis=0, divide=divide)
    if exact and not np.array_equal(dequantize(integers, scale, zero_point, axis=0), real):
        return None
    return int(integers[0]) if np.all(integers == integers[0]) else None


PATTERNS = (
    *(Pattern(root, move_dequantize_down) for root in PADS),
    *(Pattern(root, move_quantize_up) for root in QUANTIZE),
)
