# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows and means."""

from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_elementwise,
    build_generic,
    element_type,
    extend,
    projection,
    scalar_constant,
    sizes,
)

from .operands import Rescale, Unsupported, accumulator_type, require_constant, require_default
from .weighted import pad_with, rescaled, zeros


def lower_maxpool2d(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_default(attributes, "segment_output")
    require_constant(op.weights, "weights", [1])
    require_constant(op.scale_bias, "scale_bias", [0, 1])
    storage = element_type(op.input)
    if not isinstance(storage, ir.IntegerType):
        raise Unsupported(f"element type {storage}")
    left, right, top, bottom = attributes.pad
    padded = pad_with(op.input, [0, 0, top, left], [0, 0, bottom, right], attributes.input_zp)
    least, greatest = -(1 << (storage.width - 1)), (1 << (storage.width - 1)) - 1
    window = tensor.empty(list(attributes.kernel), storage)
    init = linalg.fill(scalar_constant(storage, least), outs=[op.init])
    pooled = linalg.pooling_nchw_max(padded, window, outs=[init], strides=list(attributes.stride), dilations=[1, 1])
    low, high = attributes.output_min, attributes.output_max
    if low <= least and high >= greatest:
        return pooled
    lower, upper = scalar_constant(storage, max(low, least)), scalar_constant(storage, min(high, greatest))
    return build_elementwise([pooled], op.init, lambda value: arith.minsi(arith.maxsi(value, lower), upper))


def lower_avg_pool2d(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_constant(op.weights, "weights", [1])
    rescale = Rescale.of(attributes, attributes.shift_factor)
    n, c, y, x = range(4)
    total = _sum(op, maps=[[n, y, x, c], [n, c]], kept=[0, 3])
    return rescaled(op, total, rescale, channel_dimension=3, accumulator_dimensions=[0, 3])


def lower_reduce_mean(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_constant(op.weights, "weights", [1])
    rescale = Rescale.of(attributes, attributes.shift_factor)
    rank = ir.RankedTensorType(op.input.type).rank
    kept = list(range(rank - 1))
    total = _sum(op, maps=[range(rank), kept], kept=kept)
    return rescaled(op, total, rescale, channel_dimension=rank - 1, accumulator_dimensions=kept)


def _sum(op: ir.OpView, maps: list, kept: list[int]) -> ir.Value:
    """The sum of the input over the dimensions that are not `kept`."""
    rank = ir.RankedTensorType(op.input.type).rank
    accumulator = accumulator_type(element_type(op.input), weight=element_type(op.weights))
    all_sizes = sizes(op.input)
    return build_generic(
        [op.input],
        zeros([all_sizes[d] for d in kept], accumulator),
        [projection(rank, dimensions) for dimensions in maps],
        [PARALLEL] * len(kept) + [REDUCTION] * (rank - len(kept)),
        lambda value, total: arith.addi(total, extend(value, accumulator)),
    )
