# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant weights of a matrix product that share parameters in groups along the dimension that is summed over.

They are brought to `[groups, elements, columns]`, with two elements of 4 bits in a byte, the first in the low half: a
byte holds neighbours along the summed dimension, and the columns of a row of bytes are contiguous.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from ..dialects import elements
from .contraction import Contraction
from .integer_chain import MOVEMENTS, move_array
from .patterns import NoMatch
from .qparams import match_dequantize
from .structured import element_type, integer_type, scalar_constant

_PREFIX = "quantized_decomposed.dequantize_per_"
_GRANULARITIES = {f"{_PREFIX}{name}": name for name in ("channel_group", "channel", "tensor")}


@dataclass(frozen=True)
class GroupedWeights:
    """Weights `(values - zero_points) * scales`.

    Attributes:
      values: integers, [rows, columns]; the rows are summed over.
      scales: floats, [groups, columns], or [groups, 1] for one of all columns; those that are known at run time as they
        are given, along `run_time_dims`.
      zero_points: integers or floats, [groups, columns] or [groups, 1]; None for 0.
      group_size: rows of a group; the last one may have fewer.
      storage: signless type of the elements.
      unsigned: it stores unsigned integers.
      run_time_dims: whether each dimension of such scales is that of the groups, or that of the columns.
    """

    values: np.ndarray
    scales: np.ndarray | ir.Value
    zero_points: np.ndarray | None
    group_size: int
    storage: ir.IntegerType
    unsigned: bool
    run_time_dims: tuple[bool, ...] = ()

    @property
    def groups(self) -> int:
        return -(-self.values.shape[0] // self.group_size)

    @property
    def missing_rows(self) -> int:
        """How many rows the last group lacks."""
        return self.groups * self.group_size - self.values.shape[0]

    @cached_property
    def is_packed(self) -> bool:
        """Whether two elements fit in a byte."""
        low, high = (0, 15) if self.unsigned else (-8, 7)
        return self.group_size % 2 == 0 and low <= self.values.min() and self.values.max() <= high

    @property
    def lanes(self) -> int:
        """Elements in a byte."""
        return 2 if self.is_packed else 1

    @cached_property
    def centered(self) -> np.ndarray | None:
        """Values less integer zero points, i32; None for zero points that are floats."""
        values = self.values.astype(np.int32)
        if self.zero_points is None:
            return values
        if self.zero_points.dtype.kind not in "iu":
            return None
        return values - np.repeat(self.zero_points.astype(np.int32), self.group_size, axis=0)[: len(values)]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of rows [rows, columns] over each group, [groups, columns]."""
        whole, left = divmod(len(values), self.group_size)
        end = whole * self.group_size
        sums = values[:end].reshape(whole, self.group_size, -1).sum(1, dtype=np.int32)
        return np.concatenate([sums, values[end:].sum(0, dtype=np.int32, keepdims=True)]) if left else sums

    def stored(self) -> np.ndarray:
        """int8 `[groups, group_size / lanes, columns]`; what the last group lacks is 0."""
        filled = np.pad(self.values.astype(np.uint8), ((0, self.missing_rows), (0, 0)))
        grouped = filled.reshape(self.groups, -1, self.lanes, filled.shape[1])
        return pack(grouped) if self.is_packed else grouped[:, :, 0].view(np.int8)

    def unpacked(self, byte: ir.Value) -> list[ir.Value]:
        """The elements of a byte, i8, at the current insertion point."""
        if not self.is_packed:
            return [byte]
        four = scalar_constant(integer_type(8), 4)
        if self.unsigned:
            return [arith.andi(byte, scalar_constant(integer_type(8), 15)), arith.shrui(byte, four)]
        return [arith.shrsi(arith.shli(byte, four), four), arith.shrsi(byte, four)]


def pack(values: np.ndarray) -> np.ndarray:
    """Pairs of integers `[.., 2, n]` as bytes `[.., n]`, the first in the low half; int8."""
    low, high = (values[..., lane, :].astype(np.uint8) & 15 for lane in (0, 1))
    return (low | high << 4).view(np.int8)


@dataclass(frozen=True)
class _Source:
    """A dequantization of weights.

    Attributes:
      granularity: "channel_group", "channel" or "tensor".
      parameters: scales, and zero points if there are any; None for one that is not constant.
      axis: dimension of the groups or channels.
    """

    operation: ir.Operation
    granularity: str
    parameters: list[np.ndarray | None]
    axis: int | None
    unsigned: bool


def match_grouped_weights(contraction: Contraction, per_channel: bool) -> GroupedWeights | None:
    """The weights of a matrix product, if they are dequantized in groups.

    Args:
      per_channel: weights per channel or tensor count too: all rows are one group, or each is one.

    Raises:
      NoMatch: they are, and something stands in the way.
    """
    source, steps = _dequantization(contraction.weights)
    if source is None:
        return None
    name, is_grouped = contraction.operation.name, source.granularity == "channel_group"
    values = elements.constant_value(source.operation.operands[0])
    is_matrix = values is not None and values.ndim == 2 and len(contraction.reduced_weight_dims) == 1
    if not is_grouped and not (per_channel and is_matrix):
        return None
    if not is_matrix:
        raise NoMatch(f"the weights of {name} are not a constant matrix")
    parameters = list(source.parameters)
    run_time_scales = _run_time_scales(source)
    if any(each is None for each in parameters[1:]) or (parameters[0] is None and run_time_scales is None):
        raise NoMatch(f"scales or zero points of the weights of {name} are not constant")
    storage = element_type(source.operation.operands[0])
    if not 2 <= storage.width <= 8:
        raise NoMatch(f"the weights of {name} have {storage.width} bits")
    summed = _source_dimension(steps, contraction.reduced_weight_dims[0], name)
    if source.unsigned:
        values, parameters[1:] = _unsigned(values, storage), [_unsigned(each, storage) for each in parameters[1:]]
    if run_time_scales is not None:  # whatever they are, the zero points are placed as they would be
        parameters[0] = np.ones(ir.RankedTensorType(run_time_scales.type).shape, np.float32)
    scales, zero_points = _along_groups(source, parameters, summed, name)
    values = values if summed == 0 else values.T
    size = -(-len(values) // scales.shape[0])
    if is_grouped:
        size = ir.IntegerAttr(source.operation.attributes["group_size"]).value
    rows = ir.RankedTensorType(contraction.weights.type).shape[contraction.reduced_weight_dims[0]]
    groups = -(-rows // size)
    zero_points = None if zero_points is None or not zero_points.any() else zero_points[:groups]
    parts = values[:rows], scales[:groups], zero_points, size, storage, source.unsigned
    if run_time_scales is None:
        return GroupedWeights(*parts)
    dims = [source.axis] if source.granularity == "channel" else [0, 1]
    return GroupedWeights(parts[0], run_time_scales, *parts[2:], tuple(d == summed for d in dims))


def _run_time_scales(source: _Source) -> ir.Value | None:
    """Scales for each group or channel that are not constant, if their number is known."""
    scales = source.operation.operands[1] if source.parameters[0] is None else None
    if scales is None or source.granularity == "tensor" or not ir.RankedTensorType(scales.type).has_static_shape:
        return None
    return scales


def _dequantization(value: ir.Value) -> tuple[_Source | None, list[ir.Operation]]:
    """The dequantization behind transpositions and slices, and these, first to last."""
    steps: list[ir.Operation] = []
    while not isinstance(value.owner, ir.Block):
        source = _match_source(value)
        operation = value.owner.operation
        if source is not None or operation.name not in ("linalg.transpose", "tensor.extract_slice"):
            return source, steps
        steps.insert(0, operation)
        value = operation.operands[0]
    return None, steps


def _match_source(value: ir.Value) -> _Source | None:
    operation = value.owner.operation
    if operation.name in _GRANULARITIES:
        parameters = [_constant(each) for each in list(operation.operands)[1:3]]
        rank = ir.RankedTensorType(value.type).rank
        axis = ir.IntegerAttr(operation.attributes["axis"]).value % rank if "axis" in operation.attributes else rank - 1
        unsigned = ir.IntegerType(ir.TypeAttr(operation.attributes["dtype"]).value).is_unsigned
        return _Source(operation, _GRANULARITIES[operation.name], parameters, axis, unsigned)
    found = match_dequantize(value)  # as a linalg.generic; integers that are converted have the scale 1
    if found is None or not isinstance(element_type(found.input), ir.IntegerType):
        return None
    granularity = "tensor" if found.axis is None else "channel"
    parameters = [found.scale.astype(np.float32), found.zero_point]
    return _Source(operation, granularity, parameters, found.axis, found.unsigned)


def _source_dimension(steps: list[ir.Operation], dimension: int, name: str) -> int:
    """The dimension of the stored weights that became `dimension`; the steps may cut off the end of it, of no other."""
    for step in reversed(steps):
        if step.name == "linalg.transpose":
            dimension = list(ir.DenseI64ArrayAttr(step.attributes["permutation"]))[dimension]
            continue
        source, result = (ir.RankedTensorType(value.type) for value in (step.operands[0], step.results[0]))
        offsets, strides = (
            list(ir.DenseI64ArrayAttr(step.attributes[f"static_{what}"])) for what in ("offsets", "strides")
        )
        others = [d for d in range(source.rank) if d != dimension]
        is_cut = result.rank == source.rank and all(result.shape[d] == source.shape[d] for d in others)
        if not is_cut or any(offsets) or any(stride != 1 for stride in strides):
            raise NoMatch(f"the weights of {name} are a slice of their groups")
    return dimension


def _along_groups(
    source: _Source, parameters: list[np.ndarray], summed: int, name: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Scales and zero points as [groups, columns], or [groups, 1]."""
    if source.granularity == "tensor":
        # PyTorch computes with one scale in the type of the result.
        parameters = [parameters[0].astype(np.float32), *parameters[1:]]
        placed = [each.reshape(1, 1) for each in parameters]
    elif source.granularity == "channel":
        placed = [each.reshape((-1, 1) if source.axis == summed else (1, -1)) for each in parameters]
    else:
        if source.axis != summed:
            raise NoMatch(f"the groups of the weights of {name} are not along the summed dimension")
        placed = [each if summed == 0 else each.T for each in parameters]
    return placed[0], placed[1] if len(placed) > 1 else None


def _constant(value: ir.Value) -> np.ndarray | None:
    """The constant that a value is, moved or not."""
    constant = elements.constant_value(value)
    if constant is not None or isinstance(value.owner, ir.Block) or value.owner.operation.name not in MOVEMENTS:
        return constant
    source = _constant(value.owner.operation.operands[0])
    return None if source is None else move_array(value.owner.operation, source)


def _unsigned(values: np.ndarray, storage: ir.IntegerType) -> np.ndarray:
    """Stored integers that are unsigned; those of a wider type, and floats, as they are."""
    if values.dtype.kind != "i" or values.dtype.itemsize > 1:
        return values
    return values.view(np.uint8) & np.uint8((1 << storage.width) - 1)
