# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenation, reshapes and transposition between dequantizations and a quantization, on the integers."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.clamp import match_clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, match_dequantize, match_quantize

from .elementwise import check_requantizable, check_storage, constant, locations_of, requantize, result_element

_RESHAPES = "tensor.collapse_shape", "tensor.expand_shape"


def convert_concat(operation: ir.Operation, rewriter) -> object:
    """`quantize(concat(dequantize(x) ...))`: inputs in other parameters than the output's are requantized."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    concat = _producer(clamped.value, "tensor.concat")
    if concat is None:
        return NOT_MINE
    inputs = [match_dequantize(value) for value in concat.operands]
    if any(dequantize is None for dequantize in inputs):
        raise NoMatch("an input of the concatenation is not dequantized with constant parameters")
    check_storage(quantize, inputs)
    check_requantizable(quantize, inputs)
    with ir.InsertionPoint(operation), locations_of([], clamped, quantize, concat):
        values = [requantize(dequantize, quantize, clamped) for dequantize in inputs]
        rewriter.replace_op(operation, [_with_element(concat, values, result_element(quantize))])
    return None


def convert_reshape(operation: ir.Operation, rewriter) -> object:
    """`quantize(reshape or transpose(dequantize(x)))`: the integers are moved, then requantized if need be."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    movement = _producer(clamped.value, *_RESHAPES, "linalg.transpose")
    dequantize = match_dequantize(movement.operands[0]) if movement is not None else None
    if dequantize is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(operation), locations_of([], clamped, quantize, movement):
        element = ir.RankedTensorType(dequantize.input.type).element_type
        if movement.name == "linalg.transpose":
            permutation = list(ir.DenseI64ArrayAttr(movement.attributes["permutation"]))
            moved = torq_hl.transpose(dequantize.input, perm=permutation)
        else:
            moved = _with_element(movement, [dequantize.input], element)
        parameters = Dequantize(dequantize.operation, moved, dequantize.scale, dequantize.zero_point, None, False)
        rewriter.replace_op(operation, [requantize(parameters, quantize, clamped)])
    return None


def convert_integer_transpose(operation: ir.Operation, rewriter) -> object:
    """A transposition of stored integers, at once when they are constant."""
    element = ir.RankedTensorType(operation.operands[0].type).element_type
    if not isinstance(element, ir.IntegerType) or element.width not in (8, 16):
        return NOT_MINE
    permutation = list(ir.DenseI64ArrayAttr(operation.attributes["permutation"]))
    values = elements.constant_value(operation.operands[0])
    with ir.InsertionPoint(operation), operation.location:
        if values is None:
            moved = torq_hl.transpose(operation.operands[0], perm=permutation)
        else:
            moved = constant(np.ascontiguousarray(values.transpose(permutation)))
        rewriter.replace_op(operation, [moved])
    return None


def _producer(value: ir.Value, *names: str) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in names:
        return None
    return value.owner.operation


def _with_element(operation: ir.Operation, values: list[ir.Value], element: ir.Type) -> ir.Value:
    """The same operation on `values`, with their element type."""
    result = ir.RankedTensorType.get(ir.RankedTensorType(operation.results[0].type).shape, element)
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    return ir.Operation.create(operation.name, [result], values, attributes).result
