# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Zero-point corrections in the IR, for weights that are known at run time only.

The arithmetic is that of numerics.zero_points; the results fold to it when the weights turn out to be constant.
"""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from ..dialects import elements
from .structured import PARALLEL, REDUCTION, build_elementwise, build_generic, empty_like, extend, projection, reshape


def build_weight_with_zero_point(weights: ir.Value, zero_point: int) -> ir.Value:
    """`weights - zero_point` in i16; the weights themselves for zero."""
    if zero_point == 0:
        return weights
    i16 = ir.IntegerType.get_signless(16)

    def centered(weight: ir.Value) -> ir.Value:
        return arith.subi(extend(weight, i16), arith.constant(i16, zero_point))

    return build_elementwise([weights], empty_like(weights, i16), centered)


def build_input_zero_point_correction(weights: ir.Value, input_zp: int, channel_dim: int) -> ir.Value:
    """`-input_zp * sum(weights)` over all dimensions but `channel_dim`, i32 of one element per channel."""
    i32 = ir.IntegerType.get_signless(32)
    shaped = ir.RankedTensorType(weights.type)
    channels = ir.RankedTensorType.get([shaped.shape[channel_dim]], i32)
    empty = ir.Operation.create("tensor.empty", results=[channels]).result
    init = linalg.fill(arith.constant(i32, 0), outs=[empty])
    maps = [ir.AffineMap.get_identity(shaped.rank), projection(shaped.rank, [channel_dim])]
    kinds = [PARALLEL if d == channel_dim else REDUCTION for d in range(shaped.rank)]
    total = build_generic([weights], init, maps, kinds, lambda w, acc: arith.addi(acc, extend(w, i32)))
    return build_elementwise(
        [total], empty_like(total, i32), lambda value: arith.muli(value, arith.constant(i32, -input_zp))
    )


def build_bias_sum(lhs: ir.Value, rhs: np.ndarray) -> ir.Value:
    """The sum of a run-time and a constant i32 bias; the run-time one itself when the constant is zero."""
    if not rhs.any():
        return lhs
    constant = arith.constant(None, elements.from_numpy(rhs.astype(np.int32)))
    return build_elementwise([lhs, constant], empty_like(lhs, ir.IntegerType.get_signless(32)), arith.addi)


def build_scale_bias(bias: ir.Value, multiplier: np.ndarray) -> ir.Value:
    """`[bias_0, multiplier_0, bias_1, multiplier_1, ...]` of an i32 bias (C,) and constant multipliers (C,)."""
    i32 = ir.IntegerType.get_signless(32)
    channels = multiplier.size
    multipliers = arith.constant(None, elements.from_numpy(multiplier.reshape(channels, 1).astype(np.int32)))
    dim = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}
    pairs = ir.RankedTensorType.get([channels, 2], i32)
    interleaved = ir.Operation.create("tensor.concat", [pairs], [reshape(bias, [channels, 1]), multipliers], dim)
    return reshape(interleaved.result, [2 * channels])
