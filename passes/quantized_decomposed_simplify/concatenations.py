# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dequantizes move behind a concatenation.

A quantize stays there: backends requantize the inputs of a concatenation, and report it as one operation of the model.
"""

from collections.abc import Sequence

from torch_mlir import ir, rewrite

from torq_mlir.dialects import tensor_types
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern

from .movements import constant_int
from .operations import DEQUANTIZE, QuantizationOp, defining_op

CONCATENATIONS = "tensor.concat", "torch.aten.cat"
_LIST = "torch.prim.ListConstruct"


def _inputs(operation: ir.Operation) -> list[ir.Value] | None:
    if operation.name == "tensor.concat":
        return list(operation.operands)
    construct = defining_op(operation.operands[0], (_LIST,))
    return None if construct is None else list(construct.operands)


def _dimension(operation: ir.Operation) -> int | None:
    if operation.name == "tensor.concat":
        return ir.IntegerAttr(operation.attributes["dim"]).value
    dimension, shape = constant_int(operation.operands[1]), tensor_types.shape(operation.results[0].type)
    return None if dimension is None or shape is None else dimension % len(shape)


def _rebuild(operation: ir.Operation, values: Sequence[ir.Value]) -> ir.Value:
    """The concatenation of other values of the same shapes, at the current insertion point."""
    element = tensor_types.element_type(values[0].type)
    result = tensor_types.with_element(operation.results[0].type, element)
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    if operation.name == "tensor.concat":
        return ir.Operation.create(operation.name, [result], list(values), attributes).result
    construct = ir.Operation.create(_LIST, [ir.Type.parse("!torch.list<vtensor>")], list(values))
    return ir.Operation.create(operation.name, [result], [construct.result, operation.operands[1]], attributes).result


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A concatenation of tensors that are dequantized alike is a dequantized concatenation."""
    inputs = _inputs(operation)
    dequantizes = [defining_op(value, DEQUANTIZE) for value in inputs or ()]
    if not dequantizes or any(each is None for each in dequantizes):
        return NOT_MINE
    first, *others = (QuantizationOp(dequantize) for dequantize in dequantizes)
    element = tensor_types.element_type(first.result.type)
    if any(
        not other.has_parameters_of(first) or tensor_types.element_type(other.result.type) != element
        for other in others
    ):
        return NOT_MINE
    axis = first.axis
    # Along the channels, each input has those of its own.
    if axis is not None and _dimension(operation) in (None, axis):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        concatenated = _rebuild(operation, [QuantizationOp(dequantize).input for dequantize in dequantizes])
        rewriter.replace_op(operation, [first.rebuild(concatenated, axis)])
    return None


PATTERNS = tuple(Pattern(root, move_dequantize_down) for root in CONCATENATIONS)
