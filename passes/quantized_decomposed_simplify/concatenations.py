# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dequantizes move behind a concatenation.

A quantize stays there: backends requantize the inputs of a concatenation, and report it as one operation of the model.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern

from .movements import constant_int, int_constant
from .operations import DEQUANTIZE, DEQUANTIZE_GROUPS, QuantizationOp, constant_like, defining_op

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


def _rebuild(operation: ir.Operation, values: Sequence[ir.Value], dimension: int) -> ir.Value:
    """The concatenation of other values along a dimension, at the current insertion point."""
    element, shapes = tensor_types.element_type(values[0].type), [tensor_types.shape(value.type) for value in values]
    shape, sizes = list(shapes[0]), [each[dimension] for each in shapes]
    shape[dimension] = None if None in sizes else sum(sizes)
    result = tensor_types.with_shape(operation.results[0].type, tuple(shape), element)
    if operation.name == "tensor.concat":
        attributes = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)}
        return ir.Operation.create(operation.name, [result], list(values), attributes).result
    construct = ir.Operation.create(_LIST, [ir.Type.parse("!torch.list<vtensor>")], list(values))
    return ir.Operation.create(operation.name, [result], [construct.result, int_constant(dimension)]).result


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A concatenation of tensors that are dequantized alike is a dequantized concatenation.

    Their parameters are joined too where each of them has its own: of channels along the axis, of tokens, of groups.
    """
    inputs, dimension = _inputs(operation), _dimension(operation)
    dequantizes = [defining_op(value, DEQUANTIZE + DEQUANTIZE_GROUPS) for value in inputs or ()]
    if dimension is None or not dequantizes or any(each is None for each in dequantizes):
        return NOT_MINE
    if any(tensor_types.shape(value.type) is None for value in inputs):
        return NOT_MINE
    first, *others = dequantizations = [QuantizationOp(dequantize) for dequantize in dequantizes]
    if any(not _computes_alike(first, other) for other in others):
        return NOT_MINE
    shared = _share_parameters(first, dimension)
    if shared and not all(other.has_parameters_of(first) for other in others):
        return NOT_MINE
    if not shared and not _have_whole_groups(dequantizations, dimension):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        concatenated = _rebuild(operation, [each.input for each in dequantizations], dimension)
        parameters = first.parameters if shared else _joined_parameters(operation, dequantizations, dimension)
        rewriter.replace_op(operation, [first.rebuild(concatenated, first.axis, parameters)])
    return None


def _computes_alike(first: QuantizationOp, other: QuantizationOp) -> bool:
    """Whether two operations differ in the values of their parameters at most."""
    types = [
        [tensor_types.element_type(value.type) for value in (*each.parameters, each.result)] for each in (first, other)
    ]
    return (
        first.operation.name == other.operation.name
        and first.storage == other.storage
        and first.axis == other.axis
        and first.group_size == other.group_size
        and types[0] == types[1]
    )


def _share_parameters(dequantization: QuantizationOp, dimension: int) -> bool:
    """Whether tensors that are joined along `dimension` need the same parameters."""
    if dequantization.operation.name in DEQUANTIZE:
        return dequantization.axis != dimension
    per_token = dequantization.group_size is None
    return per_token and dimension == len(tensor_types.shape(dequantization.result.type)) - 1


def _have_whole_groups(dequantizations: Sequence[QuantizationOp], dimension: int) -> bool:
    """Whether no group is cut short along `dimension`."""
    group_size = dequantizations[0].group_size
    if group_size is None or dequantizations[0].axis != dimension:
        return True
    sizes = [tensor_types.shape(each.input.type)[dimension] for each in dequantizations]
    return all(size is not None and size % group_size == 0 for size in sizes)


def _joined_parameters(
    operation: ir.Operation, dequantizations: Sequence[QuantizationOp], dimension: int
) -> list[ir.Value]:
    joined, axis = [], 0 if dequantizations[0].operation.name in DEQUANTIZE else dimension
    for values in zip(*(each.parameters for each in dequantizations), strict=True):
        constants = [elements.constant_value(value) for value in values]
        if all(constant is not None for constant in constants):
            joined.append(constant_like(np.concatenate(constants, axis), values[0]))
        else:
            joined.append(_rebuild(operation, values, axis))
    return joined


PATTERNS = tuple(Pattern(root, move_dequantize_down) for root in CONCATENATIONS)
