# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer contractions as weighted operations, with all that follows up to the quantization of the result."""

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.bias import is_accumulator_scale, requantize_bias
from torq_mlir.rewriting.accumulator import match_bias_add
from torq_mlir.rewriting.clamp import Clamped, match_clamped
from torq_mlir.rewriting.constant_folding import fold_floats
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize, match_quantize
from torq_mlir.rewriting.uses import only_user, users

from .accumulation import Accumulation, Output, match_accumulation
from .convolution import infer_window, match_convolution
from .product import match_product
from .requantize import at_quantize, check_output, result_element


@at_quantize
def convert_weighted(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """contraction -> [bias] -> dequantize -> [bias] -> [clamp] -> quantize, each with one consumer."""
    added = match_bias_add(clamped.value)
    dequantize = match_dequantize(clamped.value if added is None else added[0])
    accumulation = None if dequantize is None else match_accumulation(dequantize.input)
    if accumulation is None:
        return NOT_MINE
    check_output(quantize)
    dequantized = dequantize.operation.results[0]
    if any(only_user(value) is None for value in [*accumulation.values(), dequantized, clamped.value, quantize.input]):
        raise NoMatch("an intermediate result has several consumers")
    low, high = clamped.integer_bounds(quantize)
    output = Output(
        dequantize.scale / quantize.scale,
        {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high},
        result_element(quantize),
        0 if added is None else _float_bias(added[1], dequantize),
    )
    build = _match(accumulation, output, [dequantize.axis] if added is None else [dequantize.axis, added[2]])
    between = [] if added is None else [clamped.value.owner.operation]
    sources = [
        accumulation.contraction.operation,
        dequantize.operation,
        *between,
        *clamped.operations,
        quantize.operation,
    ]
    with ir.InsertionPoint(quantize.operation), fuse_locations([source.location for source in sources]):
        rewriter.replace_op(quantize.operation, [build()])
    return None


def convert_shared_accumulator(operation: ir.Operation, rewriter) -> object:
    """A dequantization whose accumulator or result has several consumers: the contraction gives i32, once."""
    dequantize = match_dequantize(operation.results[0]) if len(operation.results) == 1 else None
    accumulation = None if dequantize is None else match_accumulation(dequantize.input)
    if accumulation is None or not _is_shared(operation.results[0], accumulation):
        return NOT_MINE
    limits = np.iinfo(np.int32)
    attributes = {"output_zp": 0, "output_min": int(limits.min), "output_max": int(limits.max)}
    build = _match(accumulation, Output(None, attributes, ir.IntegerType.get_signless(32)), [])
    last = accumulation.value.owner.operation
    with ir.InsertionPoint(last), accumulation.contraction.operation.location:
        rewriter.replace_op(last, [build()])
    return None


def _is_shared(value: ir.Value, accumulation: Accumulation) -> bool:
    """Whether convert_weighted refuses for several consumers, on the way from the contraction to the quantization."""
    chain = [*accumulation.values(), value]
    while (user := only_user(chain[-1])) is not None and len(user.results) == 1 and match_quantize(user) is None:
        if match_clamped(user.results[0]).value == user.results[0]:
            return False
        chain.append(user.results[0])
    return any(len(users(value)) > 1 for value in chain)


def _match(accumulation: Accumulation, output: Output, axes: list[int | None]) -> Callable[[], ir.Value]:
    """A builder of the weighted operation; raises NoMatch where the NPU has none.

    Args:
      axes: dimensions that scales and biases after the accumulation run along.
    """
    accumulation.check_range(output)
    window = infer_window(accumulation.contraction)
    if window is None:
        build, channels = match_product(accumulation, output)
    else:
        build, channels = match_convolution(accumulation, output, window)
    if any(axis not in (None, channels) for axis in [accumulation.bias_axis, *axes]):
        raise NoMatch("scales or bias run along another dimension than the output channels")
    return build


def _float_bias(bias: ir.Value, dequantize: Dequantize) -> np.ndarray:
    """A bias that is added after the dequantization, in units of the accumulator."""
    stored = match_dequantize(bias)
    if stored is not None and is_accumulator_scale(stored.scale, dequantize.scale) and not stored.zero_point.any():
        integers = elements.constant_value(stored.input)
        if integers is not None:
            return integers.reshape(-1)
    values = fold_floats(bias)
    if values is None:
        raise NoMatch("the bias is not constant")
    try:
        return requantize_bias(values.reshape(-1), dequantize.scale)
    except (ValueError, OverflowError) as error:
        raise NoMatch(str(error)) from error
