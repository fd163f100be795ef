# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites of a quantization together with what defines its input."""

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, locations, tensor_types
from torq_mlir.numerics.quantize import quantize
from torq_mlir.rewriting.patterns import NOT_MINE

from .concatenations import CONCATENATIONS
from .movements import MOVEMENTS
from .operations import DEQUANTIZE, DEQUANTIZE_GROUPS, QUANTIZE, QuantizationOp, defining_op
from .pads import PADS
from .selections import SELECTIONS

_COMPUTING = SELECTIONS + CONCATENATIONS + PADS

# q(dq(x)) gives back integers of this width: f32 holds them, and their products with a scale, closely enough.
_WIDEST_EXACT = 16


def fold_quantized_constant(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(constant)` becomes an integer constant. A dequantize of it stays: it is how a weight is written."""
    quantization = QuantizationOp(operation)
    values, parameters = elements.constant_value(quantization.input), quantization.constants()
    if values is None or parameters is None or quantization.bounds is None:
        return NOT_MINE
    scale, zero_point = parameters
    integers = quantize(
        values,
        scale,
        zero_point,
        *quantization.bounds,
        elements.numpy_dtype(quantization.storage),
        axis=quantization.axis,
        divide="divide" in operation.attributes,
    )
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_constant(integers, quantization.result.type)])
    return None


def _constant(integers: np.ndarray, type_: ir.Type) -> ir.Value:
    element = tensor_types.element_type(type_)
    if tensor_types.is_torch_tensor(type_):
        return elements.torch_literal(elements.from_numpy(integers, element), type_)
    signless = integers.view(elements.numpy_dtype(element))
    return arith.constant(None, elements.from_numpy(signless, element))


def cancel_dequantize_quantize(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(dequantize(x))` with the same parameters is x, when x is inside the range of the quantize."""
    return _cancel(operation, rewriter, DEQUANTIZE)


def cancel_groups(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """As `cancel_dequantize_quantize`, per token and per group with constant parameters and integer zero points.

    Real zero points are added before the rounding, or after it, of numbers of any size.
    """
    quantization = QuantizationOp(operation)
    zero_points = quantization.parameters[1:]
    if any(not isinstance(tensor_types.element_type(each.type), ir.IntegerType) for each in zero_points):
        return NOT_MINE
    scales = elements.constant_value(quantization.parameters[0])
    if scales is None or not _are_normal(scales):
        return NOT_MINE
    return _cancel(operation, rewriter, DEQUANTIZE_GROUPS)


def _cancel(operation: ir.Operation, rewriter: rewrite.PatternRewriter, names: tuple[str, ...]) -> object:
    quantization = QuantizationOp(operation)
    dequantize = defining_op(quantization.input, names)
    if dequantize is None:
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    if not quantization.has_parameters_of(dequantization) or dequantization.input.type != quantization.result.type:
        return NOT_MINE
    if quantization.storage.width > _WIDEST_EXACT or not _is_f32_or_wider(quantization.input.type):
        return NOT_MINE
    constants = quantization.constants()
    if constants is not None and not _are_normal(constants[0]):
        return NOT_MINE
    if not _is_inside(dequantization.input, quantization):
        return NOT_MINE
    _keep_location(operation, dequantization.input)
    rewriter.replace_op(operation, [dequantization.input])
    return None


def _keep_location(quantize: ir.Operation, value: ir.Value) -> None:
    """What computed real values, and computes the quantized ones of `quantize` now, stands for that node as well."""
    producer = defining_op(value, _COMPUTING)
    if producer is not None:
        producer.location = locations.fuse([producer.location, quantize.location])


def _is_f32_or_wider(type_: ir.Type) -> bool:
    return isinstance(tensor_types.element_type(type_), ir.F32Type | ir.F64Type)


def _are_normal(scales: np.ndarray) -> bool:
    """Whether no product of a scale and a 17-bit integer, nor a reciprocal, overflows or loses precision."""
    magnitudes = np.abs(scales.astype(np.float64))
    return bool(np.all((magnitudes >= 2.0**-120) & (magnitudes <= 2.0**100)))


def _is_inside(value: ir.Value, quantization: QuantizationOp) -> bool:
    """Whether `value` is known to be in the range of `quantization`: all of its type, or that of its own quantize."""
    if quantization.bounds is None:
        return False
    low, high = quantization.bounds
    storage = np.iinfo(elements.numpy_dtype(quantization.storage))
    if low <= storage.min and high >= storage.max:
        return True
    constant = elements.constant_value(value)
    if constant is not None:
        constant = constant.view(storage.dtype) if constant.dtype.itemsize == storage.dtype.itemsize else constant
        return bool(np.all((constant >= low) & (constant <= high)))
    while (movement := defining_op(value, MOVEMENTS)) is not None:
        value = movement.operands[0]
    producer = defining_op(value, QUANTIZE)
    bounds = QuantizationOp(producer).bounds if producer is not None else None
    return bounds is not None and low <= bounds[0] and bounds[1] <= high
