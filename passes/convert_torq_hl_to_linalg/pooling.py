# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows and means."""

import math
from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_elementwise,
    build_generic,
    build_generics,
    convert_float,
    element_type,
    extend,
    pad_with,
    projection,
    scalar_constant,
    sizes,
)

from .operands import Rescale, Unsupported, accumulator_type, require_constant, require_default, weight_values
from .weighted import biased, rescaled


def lower_maxpool2d(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_default(attributes, "segment_output")
    require_constant(op.weights, "weights", [1])
    storage = element_type(op.input)
    if isinstance(storage, ir.FloatType):
        return _lower_maxpool2d_bf16(op, attributes)
    require_constant(op.scale_bias, "scale_bias", [0, 1])
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


def _lower_maxpool2d_bf16(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_constant(op.scale_bias, "scale_bias", [0])
    storage = element_type(op.input)
    if storage != ir.BF16Type.get():
        raise Unsupported(f"element type {storage}")
    left, right, top, bottom = attributes.pad
    padded = pad_with(op.input, [0, 0, top, left], [0, 0, bottom, right], -math.inf)
    window = tensor.empty(list(attributes.kernel), storage)
    init = linalg.fill(scalar_constant(storage, -math.inf), outs=[op.init])
    return linalg.pooling_nchw_max(padded, window, outs=[init], strides=list(attributes.stride), dilations=[1, 1])


def lower_avg_pool2d(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    n, c, y, x = range(4)
    if isinstance(element_type(op.input), ir.FloatType):
        return _lower_mean_bf16(op, [[n, y, x, c], [n, c]], [0, 3])
    require_constant(op.weights, "weights", [1])
    rescale = Rescale.of(attributes, attributes.shift_factor)
    total = _sum(op, maps=[[n, y, x, c], [n, c]], kept=[0, 3])
    return rescaled(op, total, rescale, channel_dimension=3, accumulator_dimensions=[0, 3])


def lower_reduce_mean(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    rank = ir.RankedTensorType(op.input.type).rank
    kept = list(range(rank - 1))
    if isinstance(element_type(op.input), ir.FloatType):
        return _lower_mean_bf16(op, [range(rank), kept], kept)
    require_constant(op.weights, "weights", [1])
    rescale = Rescale.of(attributes, attributes.shift_factor)
    total = _sum(op, maps=[range(rank), kept], kept=kept)
    return rescaled(op, total, rescale, channel_dimension=rank - 1, accumulator_dimensions=kept)


def _lower_mean_bf16(op: ir.OpView, maps: list, kept: list[int]) -> ir.Value:
    """`bf16(f32(sum) * weight + bias)`, the sum in f32."""
    single = ir.F32Type.get()
    if element_type(op.input) != ir.BF16Type.get() or element_type(op.weights) != single:
        raise Unsupported("a mean of floats takes bf16 and a weight of f32")
    rank, all_sizes = ir.RankedTensorType(op.input.type).rank, sizes(op.input)
    shape = [all_sizes[d] for d in kept]
    total = build_generic(
        [op.input],
        linalg.fill(scalar_constant(single, 0), outs=[tensor.empty(shape, single)]),
        [projection(rank, dimensions) for dimensions in maps],
        [PARALLEL] * len(kept) + [REDUCTION] * (rank - len(kept)),
        lambda value, total: arith.addf(total, convert_float(value, single)),
    )
    weight = weight_values(op.weights, 1)[0]
    mean = build_elementwise([total], tensor.empty(shape, single), lambda value: arith.mulf(value, weight))
    return biased(op, mean, rank - 1, kept)


def lower_reduce(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_constant(op.weights, "weights", [1])
    rescale = Rescale.of(attributes, attributes.shift_factor)
    rank, axis = ir.RankedTensorType(op.input.type).rank, attributes.axis
    others = [d for d in range(rank) if d != axis]
    loops = {d: loop for loop, d in enumerate([*others, axis])}  # the reduced dimension is the last loop
    maps = [[loops[d] for d in range(rank)], range(rank - 1)]
    total = _reduced(op, maps, others, _REDUCTIONS[attributes.name])
    return rescaled(op, total, rescale, channel_dimension=rank - 2)


def lower_argmax(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    """From position 0 at the least value of the type: it stays where nothing is greater."""
    require_constant(op.scale_bias, "scale_bias", [0, 1])
    storage, position = element_type(op.input), element_type(op.init)
    rank, axis = ir.RankedTensorType(op.input.type).rank, attributes.axis
    others = [d for d in range(rank) if d != axis]
    loops = {d: loop for loop, d in enumerate([*others, axis])}
    all_sizes = sizes(op.input)
    least = scalar_constant(storage, -(1 << (storage.width - 1)))
    greatest = linalg.fill(least, outs=[tensor.empty([all_sizes[d] for d in others], storage)])
    positions = linalg.fill(scalar_constant(position, 0), outs=[op.init])
    maps = [projection(rank, [loops[d] for d in range(rank)]), *[projection(rank, range(rank - 1))] * 2]

    def body(value: ir.Value, best: ir.Value, at: ir.Value) -> list[ir.Value]:
        here = arith.index_cast(position, linalg.IndexOp(rank - 1).result)
        better = arith.cmpi(arith.CmpIPredicate.sgt, value, best)
        return [arith.select(better, value, best), arith.select(better, here, at)]

    kinds = [PARALLEL] * (rank - 1) + [REDUCTION]
    return build_generics([op.input], [greatest, positions], maps, kinds, body)[1]


def _sum(op: ir.OpView, maps: list, kept: list[int]) -> ir.Value:
    """The sum of the input over the dimensions that are not `kept`."""
    return _reduced(op, maps, kept, (arith.addi, lambda width: 0))


def _reduced(op: ir.OpView, maps: list, kept: list[int], reduction: tuple) -> ir.Value:
    """A reduction of the input, as (function, initial value), over the dimensions that are not `kept`."""
    combine, initial = reduction
    rank = ir.RankedTensorType(op.input.type).rank
    accumulator = accumulator_type(element_type(op.input), weight=element_type(op.weights))
    all_sizes = sizes(op.input)
    empty = tensor.empty([all_sizes[d] for d in kept], accumulator)
    return build_generic(
        [op.input],
        linalg.fill(scalar_constant(accumulator, initial(accumulator.width)), outs=[empty]),
        [projection(rank, dimensions) for dimensions in maps],
        [PARALLEL] * len(kept) + [REDUCTION] * (rank - len(kept)),
        lambda value, total: combine(total, extend(value, accumulator)),
    )


_REDUCTIONS = {
    "reduce_sum": (arith.addi, lambda width: 0),
    "reduce_max": (arith.maxsi, lambda width: -(1 << (width - 1))),
    "reduce_min": (arith.minsi, lambda width: (1 << (width - 1)) - 1),
}
