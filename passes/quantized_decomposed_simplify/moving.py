# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize change places with operations that move or pick elements of one tensor."""

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.tensor_types import Shape
from torq_mlir.rewriting import structured
from torq_mlir.rewriting.patterns import NOT_MINE

from .movements import MOVEMENTS, RESHAPES, Movement, view
from .operations import DEQUANTIZE, DEQUANTIZE_GROUPS, QuantizationOp, constant_like, defining_op
from .selections import BROADCASTS, SELECTIONS, Selection

# Wider integers are accumulators and biases, which a contraction takes as they are, broadcast.
_WIDEST_BROADCAST = 16


def _movement(operation: ir.Operation) -> Movement:
    return Selection(operation) if operation.name in SELECTIONS else Movement(operation)


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`movement(dequantize(x))` becomes `dequantize(movement(x))`, with the channel axis where it is then."""
    movement = _movement(operation)
    dequantize = defining_op(movement.source, DEQUANTIZE)
    if dequantize is None:
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    if not movement.moves(dequantization):
        return NOT_MINE
    if operation.name == "linalg.broadcast" and dequantization.storage.width > _WIDEST_BROADCAST:
        return NOT_MINE
    axis, picked = dequantization.axis, None
    if axis is not None and (axis := movement.result_axis(dequantization.axis)) is None:
        return NOT_MINE
    if axis is not None and movement.picks_along(dequantization.axis):
        picked = [elements.constant_value(parameter) for parameter in dequantization.parameters]
        if any(array is None for array in picked):
            return NOT_MINE
        picked = [movement.picked_parameter(dequantization.axis, array) for array in picked]
    with ir.InsertionPoint(operation), operation.location:
        moved = movement.rebuild(dequantization.input)
        parameters = dequantization.parameters
        if picked is not None:
            parameters = [constant_like(array, old) for array, old in zip(picked, parameters, strict=True)]
        rewriter.replace_op(operation, [dequantization.rebuild(moved, axis, parameters)])
    return None


def move_quantize_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(movement(x))` becomes `movement(quantize(x))`, unless the real values are needed elsewhere."""
    quantization = QuantizationOp(operation)
    source = defining_op(quantization.input, MOVEMENTS + BROADCASTS)
    if source is None or len(list(source.results[0].uses)) != 1 or _belongs_to_convolution(source):
        return NOT_MINE
    movement = _movement(source)
    axis = quantization.axis
    if axis is not None and (axis := movement.source_axis(axis)) is None:
        return NOT_MINE
    with ir.InsertionPoint(operation):
        quantized = quantization.rebuild(movement.source, axis)
        with source.location:
            rewriter.replace_op(operation, [movement.rebuild(quantized)])
    rewriter.erase_op(source)  # views of the torch dialect are not pure, so nobody else removes them
    return None


def _belongs_to_convolution(movement: ir.Operation) -> bool:
    """The result of a grouped convolution has a dimension for the groups; its channels are what is quantized."""
    if movement.name != "tensor.collapse_shape" or isinstance(movement.operands[0].owner, ir.Block):
        return False
    return movement.operands[0].owner.operation.name.startswith(("linalg.conv", "linalg.depthwise_conv"))


def move_groups_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """As `move_dequantize_down`, per token and per group: the parameters, of the rank of the tensor, move along."""
    movement = _movement(operation)
    dequantize = defining_op(movement.source, DEQUANTIZE_GROUPS)
    source, result = movement.source_shape, movement.result_shape
    if dequantize is None or source is None or result is None or None in (*source, *result):
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    per_token = dequantization.axis is None
    axis = len(source) - 1 if per_token else dequantization.axis
    moved_axis = movement.result_axis(axis)
    if moved_axis is None or (per_token and moved_axis != len(result) - 1):
        return NOT_MINE
    picks = movement.picks_along(axis)
    if operation.name in SELECTIONS and not _picks_whole_rows(movement, axis) and not (picks and per_token):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        parameters = dequantization.parameters
        if not picks:
            parameters = [_moved_parameter(movement, value, axis, moved_axis) for value in parameters]
        moved = movement.rebuild(dequantization.input)
        rewriter.replace_op(operation, [dequantization.rebuild(moved, None if per_token else moved_axis, parameters)])
    return None


def _picks_whole_rows(movement: Movement, axis: int) -> bool:
    """Whether the selection is a slice of torch that can be applied to the parameters as it is."""
    slices = movement.slices() if movement.operation.name.startswith("torch.") else None
    return slices is not None and not movement.picks_along(axis)


def _moved_parameter(movement: Movement, value: ir.Value, axis: int, moved_axis: int) -> ir.Value:
    """A parameter whose shape is that of the source, but for `axis`."""
    shape = list(movement.result_shape)
    shape[moved_axis] = tensor_types.shape(value.type)[axis]
    if movement.operation.name not in RESHAPES:
        return movement.rebuild(value, tuple(shape))
    return _reshaped(value, tuple(shape))


def _reshaped(value: ir.Value, shape: Shape) -> ir.Value:
    constant = elements.constant_value(value)
    if constant is not None:
        return constant_like(np.ascontiguousarray(constant.reshape(shape)), value)
    return view(value, shape) if tensor_types.is_torch_tensor(value.type) else structured.reshape(value, shape)


def move_constant(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A reshape or permutation of an integer constant is a constant: contractions see their weights directly."""
    movement = Movement(operation)
    if not isinstance(tensor_types.element_type(movement.source.type), ir.IntegerType):
        return NOT_MINE
    constant = elements.constant_value(movement.source)
    if constant is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), movement.source.owner.location:
        moved = movement.rebuild_constant(constant)
        if moved is None:
            return NOT_MINE
        rewriter.replace_op(operation, [moved])
    return None
