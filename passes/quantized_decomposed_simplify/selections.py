# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that pick or repeat elements of one tensor: slices, broadcasts, nearest neighbours and maxima of windows.

A dequantize moves behind them, so that they work on integers. A quantize moves before a broadcast alone: before the
others it would have to quantize what is not picked, which is nearly all of a cache that one row is read from.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.tensor_types import Shape

from .movements import Movement, constant_int, constant_ints
from .operations import QuantizationOp

_SLICES = "tensor.extract_slice", "torch.aten.select.int", "torch.aten.slice.Tensor"
BROADCASTS = "linalg.broadcast", "torch.aten.broadcast_to", "torch.aten.expand"
_NEAREST = "torch.aten.upsample_nearest2d", "torch.aten.upsample_nearest2d.vec"
_MAXIMA = "linalg.pooling_nchw_max", "torch.aten.max_pool2d"
_SHUFFLES = ("torch.aten.pixel_shuffle",)
SELECTIONS = _SLICES + BROADCASTS + _NEAREST + _MAXIMA + _SHUFFLES

# Dimensions that a window, or its counterpart, leaves alone: batch and channels.
_BEFORE_IMAGE = 2


class Selection(Movement):
    """An operation of SELECTIONS."""

    def moves(self, dequantization: QuantizationOp) -> bool:
        """Whether the selection of integers, dequantized, is that of the real values, and has a lowering."""
        if self.operation.name not in _MAXIMA:
            return True
        # Signless integers are compared as signed ones. Greater integers are greater values if the scale is positive.
        constants = dequantization.constants()
        return not dequantization.storage.is_unsigned and constants is not None and bool(np.all(constants[0] > 0))

    def result_axis(self, axis: int) -> int | None:
        name, source, result = self.operation.name, self.source_shape, self.result_shape
        if source is None or result is None:
            return None
        if name in _SLICES:
            slices = self.slices()
            return None if slices is None or isinstance(slices[axis], int) else _without_selected(axis, slices)
        if name in BROADCASTS:
            target = self._broadcast_axes()[axis]
            return target if source[axis] == result[target] is not None else None
        if name in _SHUFFLES:
            return axis if axis < len(source) - 3 else None
        return axis if axis < len(source) - _BEFORE_IMAGE else None

    def source_axis(self, axis: int) -> int | None:
        if self.source_shape is None or self.result_shape is None:
            return None
        for candidate in range(len(self.source_shape)):
            if self.result_axis(candidate) == axis:
                return candidate
        return None

    def _broadcast_axes(self) -> list[int]:
        """Where each dimension of the source is in the result of a broadcast."""
        rank = len(self.result_shape)
        if self.operation.name == "linalg.broadcast":
            added = list(ir.DenseI64ArrayAttr(self.operation.attributes["dimensions"]))
            return [d for d in range(rank) if d not in added]
        return list(range(rank - len(self.source_shape), rank))

    def slices(self) -> list[slice | int] | None:
        """What is picked of each dimension of the source; None when that is not known, or is not a slice."""
        shape = self.source_shape
        if self.operation.name not in _SLICES or shape is None or None in shape:
            return None
        if self.operation.name == "tensor.extract_slice":
            return _extracted(self.operation, shape, self.result_shape)
        dimension, *bounds = (_bound(value) for value in list(self.operation.operands)[1:])
        if dimension is None or _UNKNOWN in (dimension, *bounds):
            return None
        picked: list[slice | int] = [slice(None)] * len(shape)
        if self.operation.name == "torch.aten.select.int":
            picked[dimension] = bounds[0] % shape[dimension]
        else:
            picked[dimension] = slice(*slice(*bounds).indices(shape[dimension]))
        return picked

    def picked_parameter(self, axis: int, values: np.ndarray) -> np.ndarray:
        """The parameters along dimension `axis` that remain, of a selection that `result_axis` knows."""
        slices = self.slices()
        return values if slices is None else np.ascontiguousarray(values.reshape(-1)[slices[axis]])

    def picks_along(self, axis: int) -> bool:
        """Whether dimension `axis` of the source loses elements."""
        slices = self.slices()
        if slices is None:
            return False
        size, picked = self.source_shape[axis], slices[axis]
        return isinstance(picked, int) or len(range(size)[picked]) != size

    def rebuild(self, value: ir.Value, shape: Shape | None = None) -> ir.Value:
        element = tensor_types.element_type(value.type)
        result = tensor_types.with_element(self.result.type, element)
        if self.operation.name == "linalg.broadcast":
            dimensions = list(ir.DenseI64ArrayAttr(self.operation.attributes["dimensions"]))
            return linalg.broadcast(value, outs=[self._init(result)], dimensions=dimensions).operation.results[0]
        if self.operation.name == "linalg.pooling_nchw_max":
            return self._rebuild_maximum(value, result)
        return super().rebuild(value, shape)

    def _rebuild_maximum(self, value: ir.Value, result: ir.RankedTensorType) -> ir.Value:
        window = self.operation.operands[1]
        least = ir.IntegerAttr.get(result.element_type, -(1 << (result.element_type.width - 1)))
        init = linalg.fill(arith.constant(result.element_type, least), outs=[self._init(result, position=2)])
        attributes = {name: self.operation.attributes[name] for name in ("strides", "dilations")}
        return linalg.pooling_nchw_max(value, window, outs=[init], **attributes)

    def rebuild_constant(self, array: np.ndarray) -> ir.Value | None:
        """None: a constant that is picked from may serve several; MLIR folds slices of constants where it pays."""
        return None


_UNKNOWN = object()


def _bound(value: ir.Value) -> object:
    """A constant int, None for `none`, _UNKNOWN for what is computed."""
    if str(value.type) == "!torch.none":
        return None
    constant = constant_int(value)
    return _UNKNOWN if constant is None else constant


def _without_selected(axis: int, slices: Sequence[slice | int]) -> int:
    return axis - sum(isinstance(each, int) for each in slices[:axis])


def _extracted(operation: ir.Operation, source: Shape, result: Shape | None) -> list[slice | int] | None:
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(operation.attributes[f"static_{name}"])) for name in ("offsets", "sizes", "strides")
    )
    dynamic = ir.ShapedType.get_dynamic_size()
    if dynamic in (*offsets, *sizes, *strides) or result is None or len(result) != len(source):
        return None
    return [
        slice(offset, offset + (size - 1) * stride + 1, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    ]


def pad_amounts(operation: ir.Operation, rank: int) -> tuple[list[int], list[int]] | None:
    """Elements that are added before and after each dimension; None when they are not known, or negative."""
    if operation.name == "tensor.pad":
        low, high = (list(ir.DenseI64ArrayAttr(operation.attributes[f"static_{side}"])) for side in ("low", "high"))
    else:
        pairs = constant_ints(operation.operands[1])
        if pairs is None:
            return None
        low, high = [0] * rank, [0] * rank
        for index in range(len(pairs) // 2):
            low[rank - 1 - index], high[rank - 1 - index] = pairs[2 * index : 2 * index + 2]
    return None if min(low + high, default=0) < 0 else (low, high)


def build_pad(operation: ir.Operation, value: ir.Value, integer: int) -> ir.Value:
    """A pad of `value` by the amounts of another, with an integer, at the current insertion point."""
    element = tensor_types.element_type(value.type)
    result = tensor_types.with_element(operation.results[0].type, element)
    if operation.name == "torch.aten.constant_pad_nd":
        i64 = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), integer)
        kind = ir.Type.parse("!torch.int")
        fill = ir.Operation.create("torch.constant.int", [kind], [], {"value": i64}).result
        return ir.Operation.create(operation.name, [result], [value, operation.operands[1], fill]).result
    low, high = pad_amounts(operation, result.rank)
    signed = integer - (1 << element.width) if integer >= 1 << (element.width - 1) else integer
    fill = arith.constant(element, ir.IntegerAttr.get(element, signed))
    pad = tensor.PadOp(result, value, [], [], low, high)
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * result.rank)
    with ir.InsertionPoint(block):
        tensor.yield_(fill)
    return pad.result


def pad_value(operation: ir.Operation) -> float | None:
    """The number that is padded with, if it is constant."""
    if operation.name == "torch.aten.constant_pad_nd":
        owner = operation.operands[2].owner
        known = ("torch.constant.float", "torch.constant.int")
        if isinstance(owner, ir.Block) or owner.operation.name not in known:
            return None
        return float(owner.operation.attributes["value"].value)
    yielded = operation.regions[0].blocks[0].operations[-1].operation.operands[0]
    constant = elements.constant_value(yielded)
    return None if constant is None else float(constant)
