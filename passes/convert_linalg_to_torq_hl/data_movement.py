# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenation, reshapes, slices, transposition and repetition of quantized values, on the integers."""

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import reshape

from .requantize import (
    at_quantize,
    check_requantizable,
    check_storage,
    constant,
    locations_of,
    requantize,
    result_element,
)

_RESHAPES = "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice"


@at_quantize
def convert_concat(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(concat(dequantize(x) ...))`: inputs in other parameters than the output's are requantized."""
    concat = _producer(clamped.value, "tensor.concat")
    if concat is None:
        return NOT_MINE
    inputs = [match_dequantize(value) for value in concat.operands]
    if any(dequantize is None for dequantize in inputs):
        raise NoMatch("an input of the concatenation is not dequantized with constant parameters")
    check_storage(quantize, inputs)
    check_requantizable(quantize, inputs)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, concat):
        values = [requantize(dequantize, quantize, clamped) for dequantize in inputs]
        rewriter.replace_op(quantize.operation, [_with_element(concat, values, result_element(quantize))])
    return None


@at_quantize
def convert_movement(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(movement(dequantize(x)))`: the integers are moved, then requantized if need be."""
    owner = clamped.value.owner
    build = None if isinstance(owner, ir.Block) else _match_movement(owner.operation)
    dequantize = None if build is None else match_dequantize(owner.operation.operands[0])
    if dequantize is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, owner.operation):
        moved = build(dequantize.input)
        parameters = Dequantize(dequantize.operation, moved, dequantize.scale, dequantize.zero_point, None, False)
        rewriter.replace_op(quantize.operation, [requantize(parameters, quantize, clamped)])
    return None


def _match_movement(movement: ir.Operation) -> Callable[[ir.Value], ir.Value] | None:
    """The same movement of other values of the shape of its operand."""
    if movement.name in _RESHAPES:
        return lambda value: _with_element(movement, [value], value.type.element_type)
    if movement.name == "linalg.transpose":
        permutation = list(ir.DenseI64ArrayAttr(movement.attributes["permutation"]))
        return lambda value: torq_hl.transpose(value, perm=permutation)
    shape = ir.RankedTensorType(movement.results[0].type).shape if len(movement.results) == 1 else []
    if movement.name == "linalg.broadcast":
        dimensions = list(ir.DenseI64ArrayAttr(movement.attributes["dimensions"]))
        return lambda value: torq_hl.broadcast(value, dimensions=dimensions, shape=shape)
    if movement.name == "linalg.generic" and len(movement.operands) == 2 and body_expression(movement) == ("arg", 0):
        return _match_repetition(movement, shape)
    return None


def _match_repetition(generic: ir.Operation, shape: list[int]) -> Callable[[ir.Value], ir.Value] | None:
    """A generic that repeats its operand along new dimensions, and along those of size 1."""
    source, target = (ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"]))
    if target != ir.AffineMap.get_identity(target.n_dims):
        return None
    kept = [e.position for e in source.results if isinstance(e, ir.AffineDimExpr)]
    if kept != sorted(set(kept)) or len(kept) == target.n_dims:
        return None
    dimensions = [d for d in range(target.n_dims) if d not in kept]

    def build(value: ir.Value) -> ir.Value:
        return torq_hl.broadcast(reshape(value, [shape[d] for d in kept]), dimensions=dimensions, shape=shape)

    return build


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


def convert_integer_repetition(operation: ir.Operation, rewriter) -> object:
    """A tensor of stored integers repeated along some dimensions."""
    element = ir.RankedTensorType(operation.results[0].type).element_type if len(operation.results) == 1 else None
    if not isinstance(element, ir.IntegerType) or element.width not in (8, 16):
        return NOT_MINE
    build = _match_movement(operation)
    if build is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [build(operation.operands[0])])
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
