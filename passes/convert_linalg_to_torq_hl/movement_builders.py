# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What conversions of data movement share: builders of movements of integers, at the current insertion point."""

import math
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.qparams import match_dequantize
from torq_mlir.rewriting.structured import element_type, reshape

from .requantize import constant

# Each row of a gather from a reshaped tensor has an index; above this many, transposing is cheaper.
MOST_INDICES = 1 << 16
_WIDEST = 16


def dequantized_from(value: ir.Value) -> ir.Value | None:
    """The stored integers that a value is dequantized from; wider ones are numbers that a model counts with."""
    dequantize = match_dequantize(value)
    return dequantize.input if dequantize is not None and element_type(dequantize.input).width <= _WIDEST else None


def shape_of(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def transpose(value: ir.Value, permutation: Sequence[int]) -> ir.Value:
    """torq_hl.transpose; the value itself for no permutation."""
    permutation = [int(d) for d in permutation]
    return value if permutation == sorted(permutation) else torq_hl.transpose(value, perm=permutation)


def slice_of(value: ir.Value, dimension: int, offset: int, size: int, stride: int = 1) -> ir.Value:
    """tensor.extract_slice along one dimension."""
    shape = shape_of(value)
    offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    offsets[dimension], sizes[dimension], strides[dimension] = offset, size, stride
    result = ir.RankedTensorType.get(sizes, element_type(value))
    return tensor.ExtractSliceOp(result, value, [], [], [], offsets, sizes, strides).result


def pick(value: ir.Value, positions: Sequence[np.ndarray]) -> ir.Value:
    """The elements of `value` at some positions of each dimension."""
    factors = [_replication(each, size) for each, size in zip(positions, shape_of(value), strict=True)]
    if len(factors) == 4 and factors[2] == factors[3] and factors[2] not in (None, 1):
        value = torq_hl.resize_nearest_neighbor(value, scale_factor=factors[2])
        factors[2:] = 1, 1
    for dimension, (each, factor) in enumerate(zip(positions, factors, strict=True)):
        value = _pick_along(value, dimension, each, factor)
    return value


def arrange(value: ir.Value, dimensions: Sequence[Sequence[int]], shape: Sequence[int]) -> ir.Value:
    """The dimensions of `value` where they are in a result of `shape`; those that it does not have are repeated.

    Args:
      dimensions: for each dimension of `value` its place in the result, none for one of size 1, several for indices.
    """
    places = [place for each in dimensions for place in each]
    value = reshape(value, [shape[place] for place in places])
    value = transpose(value, [places.index(place) for place in sorted(places)])
    new = [d for d in range(len(shape)) if d not in places and shape[d] != 1]
    if new:
        kept = [shape[d] for d in range(len(shape)) if d not in new]
        value = torq_hl.broadcast(reshape(value, kept), dimensions=new, shape=shape)
    return reshape(value, shape)


def _replication(positions: np.ndarray, size: int) -> int | None:
    """How often each position occurs, in order, if all occur alike."""
    factor = len(positions) // size
    return factor if factor and np.array_equal(positions, np.repeat(np.arange(size), factor)) else None


def _pick_along(value: ir.Value, dimension: int, positions: np.ndarray, factor: int | None) -> ir.Value:
    shape = shape_of(value)
    if factor == 1:
        return value
    if factor is not None:
        repeated = [*shape[: dimension + 1], factor, *shape[dimension + 1 :]]
        value = torq_hl.broadcast(value, dimensions=[dimension + 1], shape=repeated)
        return reshape(value, [*shape[:dimension], shape[dimension] * factor, *shape[dimension + 1 :]])
    steps = np.unique(np.diff(positions))
    if len(steps) == 0 or (len(steps) == 1 and steps[0] > 0):
        return slice_of(value, dimension, int(positions[0]), len(positions), int(steps[0]) if len(steps) else 1)
    return _gather(value, dimension, positions)


def _gather(value: ir.Value, dimension: int, positions: np.ndarray) -> ir.Value:
    """Rows of the tensor that has the dimensions before in the first one; or of the transposed one."""
    shape = shape_of(value)
    outer, size = math.prod(shape[:dimension]), shape[dimension]
    if outer * len(positions) > MOST_INDICES:
        order = [dimension, *(d for d in range(len(shape)) if d != dimension)]
        picked = torq_hl.gather(transpose(value, order), constant(positions.astype(np.int32)))
        return transpose(picked, np.argsort(order))
    rows = (np.arange(outer)[:, None] * size + positions).reshape(-1)
    flat = reshape(value, [outer * size, *shape[dimension + 1 :]])
    picked = torq_hl.gather(flat, constant(rows.astype(np.int32)))
    return reshape(picked, [*shape[:dimension], len(positions), *shape[dimension + 1 :]])
