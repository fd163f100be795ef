# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dequantizes per token and per group move behind what moves or picks elements, and their parameters with them.

The parameters have the rank of the tensor, and one element along the last dimension or one for each group along the
axis: what happens along other dimensions happens to them too.
"""

import math
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.tensor_types import Shape
from torq_mlir.rewriting import structured
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern

from .movements import MOVEMENTS, RESHAPES, Movement, int_constant, view
from .operations import DEQUANTIZE_GROUPS, QuantizationOp, constant_like, defining_op
from .selections import BROADCASTS, SELECTIONS, Selection

_SLICE = "torch.aten.slice.Tensor"
# Those whose parameters are moved by the same operation on torch tensors.
_REPEATABLE = (
    *BROADCASTS,
    _SLICE,
    "torch.aten.pixel_shuffle",
    "torch.aten.select.int",
    "torch.aten.upsample_nearest2d",
)


def move_groups_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`movement(dequantize(x, scales))` becomes `dequantize(movement(x), movement(scales))`."""
    picks = operation.name in SELECTIONS
    movement = Selection(operation) if picks else Movement(operation)
    dequantize = defining_op(movement.source, DEQUANTIZE_GROUPS)
    source, result = movement.source_shape, movement.result_shape
    if dequantize is None or source is None or result is None or None in (*source, *result):
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    per_token = dequantization.axis is None
    axis = len(source) - 1 if per_token else dequantization.axis
    moved_axis = _row_axis(movement) if per_token else _group_axis(movement, axis, dequantization.group_size)
    if moved_axis is None or (picks and not _moves_parameters(movement, axis, dequantization.group_size)):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        size = dequantization.group_size
        parameters = [_moved(movement, each, axis, moved_axis, size) for each in dequantization.parameters]
        moved = movement.rebuild(dequantization.input)
        rewriter.replace_op(operation, [dequantization.rebuild(moved, None if per_token else moved_axis, parameters)])
    return None


def _row_axis(movement: Movement) -> int | None:
    """The last dimension of the result if each of its rows comes from one row of the source."""
    last = len(movement.result_shape) - 1
    if movement.operation.name in (*BROADCASTS, "torch.aten.upsample_nearest2d"):
        return last if movement.operation.name != "linalg.broadcast" or _keeps_rows(movement) else None
    return last if movement.result_axis(len(movement.source_shape) - 1) == last else None


def _group_axis(movement: Movement, axis: int, group_size: int) -> int | None:
    """The dimension of the result that the groups are along, if each of them is a group there too.

    A reshape may split the dimension between groups, or merge it with those before it.
    """
    source, result = movement.source_shape, movement.result_shape
    if movement.operation.name not in RESHAPES or source[axis] % group_size:
        return movement.result_axis(axis)
    inner = math.prod(source[axis + 1 :])
    candidates = [
        d for d, size in enumerate(result) if size and size % group_size == 0 and math.prod(result[d + 1 :]) == inner
    ]
    return max(candidates, key=lambda d: result[d], default=None)


def _keeps_rows(broadcast: Movement) -> bool:
    added = list(ir.DenseI64ArrayAttr(broadcast.operation.attributes["dimensions"]))
    return len(broadcast.result_shape) - 1 not in added


def _moves_parameters(selection: Selection, axis: int, group_size: int | None) -> bool:
    """Whether a selection can be applied to the parameters, with whole groups along `axis`."""
    if selection.operation.name not in _REPEATABLE:
        return False
    slices = selection.slices()
    if slices is None or group_size is None or not selection.picks_along(axis):
        return slices is not None or selection.operation.name not in (_SLICE, "torch.aten.select.int")
    picked, size = slices[axis], selection.source_shape[axis]
    ends = (picked.start, picked.stop)
    return picked.step == 1 and size % group_size == 0 and all(end % group_size == 0 for end in ends)


def _moved(movement: Movement, value: ir.Value, axis: int, moved_axis: int, group_size: int | None) -> ir.Value:
    """A parameter whose shape is that of the source, but for `axis`."""
    shape = list(movement.result_shape)
    shape[moved_axis] = 1 if group_size is None else -(-shape[moved_axis] // group_size)
    slices = _parameter_slices(movement, axis, group_size)
    constant = elements.constant_value(value)
    if constant is not None and (moved := _moved_constant(movement, constant, slices, shape)) is not None:
        return constant_like(np.ascontiguousarray(moved), value)
    if movement.operation.name in RESHAPES:
        is_torch = tensor_types.is_torch_tensor(value.type)
        return view(value, tuple(shape)) if is_torch else structured.reshape(value, shape)
    if slices is not None and movement.picks_along(axis):
        return value if group_size is None else _sliced(value, axis, slices[axis], tuple(shape))
    return movement.rebuild(value, tuple(shape))


def _parameter_slices(movement: Movement, axis: int, group_size: int | None) -> list[slice | int] | None:
    """What a selection picks of the parameters."""
    slices = movement.slices() if isinstance(movement, Selection) else None
    if slices is None:
        return None
    whole = group_size is None or not movement.picks_along(axis)
    groups = slice(None) if whole else slice(slices[axis].start // group_size, slices[axis].stop // group_size)
    return [*slices[:axis], groups, *slices[axis + 1 :]]


def _moved_constant(
    movement: Movement, array: np.ndarray, slices: list[slice | int] | None, shape: Sequence[int]
) -> np.ndarray | None:
    if movement.operation.name in RESHAPES:
        return array.reshape(shape)
    if slices is not None:
        return array[tuple(slices)]
    permutation = movement.permutation()
    return None if permutation is None else array.transpose(permutation)


def _sliced(value: ir.Value, axis: int, picked: slice, shape: Shape) -> ir.Value:
    """The parameters of the groups that a slice along `axis` picks."""
    result = tensor_types.torch_tensor(shape, tensor_types.element_type(value.type))
    bounds = [int_constant(number) for number in (axis, picked.start, picked.stop, 1)]
    return ir.Operation.create(_SLICE, [result], [value, *bounds]).result


PATTERNS = tuple(Pattern(root, move_groups_down) for root in MOVEMENTS + SELECTIONS)
