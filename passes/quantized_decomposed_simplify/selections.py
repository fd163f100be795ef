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
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import tensor_types
from torq_mlir.dialects.tensor_types import Shape

from .movements import Movement, constant_int, int_list
from .operations import QuantizationOp

_SLICES = "tensor.extract_slice", "torch.aten.select.int", "torch.aten.slice.Tensor"
BROADCASTS = "linalg.broadcast", "torch.aten.broadcast_to", "torch.aten.expand"
_NEAREST = "torch.aten.upsample_nearest2d", "torch.aten.upsample_nearest2d.vec"
_MAXIMA = "linalg.pooling_nchw_max", "torch.aten.max_pool2d"
_SHUFFLES = ("torch.aten.pixel_shuffle",)
SELECTIONS = _SLICES + BROADCASTS + _NEAREST + _MAXIMA + _SHUFFLES

# What has the shape of its result, or of an image in it, for an operand.
_SIZED = "torch.aten.broadcast_to", "torch.aten.expand", "torch.aten.upsample_nearest2d"

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

    def single_index(self, axis: int) -> int | None:
        slices = self.slices()
        if slices is not None and isinstance(slices[axis], int):
            return slices[axis]
        return super().single_index(axis)

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
        element, name = tensor_types.element_type(value.type), self.operation.name
        shape = self.result_shape if shape is None else shape
        result = tensor_types.with_shape(self.result.type, shape, element)
        if name == "linalg.broadcast":
            dimensions = list(ir.DenseI64ArrayAttr(self.operation.attributes["dimensions"]))
            return linalg.broadcast(value, outs=[self._init(result)], dimensions=dimensions).operation.results[0]
        if name == "linalg.pooling_nchw_max":
            return self._rebuild_maximum(value, result)
        if shape != self.result_shape and name in _SIZED:
            sizes = int_list(shape[_BEFORE_IMAGE:] if name in _NEAREST else shape)
            operands = [value, sizes, *list(self.operation.operands)[2:]]
            return ir.Operation.create(name, [result], operands).result
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
