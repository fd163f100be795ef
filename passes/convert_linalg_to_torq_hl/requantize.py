# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized values in other parameters, and what every conversion to integers checks."""

import functools
from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.rewrite import PatternRewriter

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.quantize import quantize as quantize_array
from torq_mlir.numerics.rescale import multiplier_and_shift
from torq_mlir.numerics.zero_points import INT32_MAX
from torq_mlir.rewriting.clamp import Clamped, match_clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize, match_quantize


def at_quantize(rewrite: Callable[[Quantize, Clamped, PatternRewriter], object]):
    """A pattern of `rewrite(quantize, clamped, rewriter)`: rooted at a quantization, with the clamp before it."""

    @functools.wraps(rewrite)
    def pattern(operation: ir.Operation, rewriter) -> object:
        quantize = match_quantize(operation)
        return NOT_MINE if quantize is None else rewrite(quantize, match_clamped(quantize.input), rewriter)

    return pattern


@at_quantize
def convert_requantize(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(x)))`: the same values in another scale or range, by an fma."""
    dequantize = match_dequantize(clamped.value)
    if dequantize is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(quantize.operation), locations_of([dequantize], clamped, quantize):
        rewriter.replace_op(quantize.operation, [requantize(dequantize, quantize, clamped)])
    return None


@at_quantize
def convert_requantize_accumulator(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(accumulator)))` of an i32 that a weighted operation leaves to several consumers."""
    dequantize = match_dequantize(clamped.value)
    if dequantize is None or not _is_accumulator(dequantize):
        return NOT_MINE
    check_output(quantize)
    accumulator = ir.RankedTensorType(dequantize.input.type)
    if dequantize.axis not in (None, 1 if accumulator.rank > 2 else accumulator.rank - 1):
        raise NoMatch("the scales of the accumulator run along another dimension than the channels")
    factors, shift = multipliers(dequantize.scale / quantize.scale)
    pairs = np.stack(np.broadcast_arrays(np.int32(0), np.atleast_1d(factors)), axis=-1).reshape(-1)
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([dequantize], clamped, quantize):
        value = torq_hl.fma(
            constant(np.ones(len(pairs) // 2, np.int8)),
            constant(pairs),
            dequantize.input,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [value])
    return None


def _is_accumulator(dequantize: Dequantize) -> bool:
    owner = dequantize.input.owner
    element = ir.RankedTensorType(dequantize.input.type).element_type
    return (
        element.width == 32
        and not dequantize.zero_point.any()
        and not isinstance(owner, ir.Block)
        and owner.operation.name.startswith("torq_hl.")
    )


def requantize(dequantize: Dequantize, quantize: Quantize, clamped: Clamped) -> ir.Value:
    """The integers of `dequantize` in the parameters of `quantize`; the integers themselves when nothing changes."""
    low, high = clamped.integer_bounds(quantize)
    element = ir.RankedTensorType(dequantize.input.type).element_type
    full_range = element.width == 8 and (low, high) == (-128, 127)
    same = dequantize.scale == quantize.scale and dequantize.zero_point == quantize.zero_point
    if same and full_range:
        return dequantize.input
    factor, shift = multiplier(dequantize.scale / quantize.scale)
    return torq_hl.fma(
        constant(np.ones(1, np.int8)),
        constant(np.array([-int(dequantize.zero_point), factor], np.int32)),
        dequantize.input,
        output_zp=int(quantize.zero_point),
        output_min=low,
        output_max=high,
        shift_factor=shift,
        element_type=result_element(quantize),
    )


def quantized_constant(values: np.ndarray, quantize: Quantize, clamped: Clamped) -> ir.Value:
    """Constant floats in the parameters of `quantize`, with the bounds of the clamp before it."""
    storage = np.dtype(f"int{result_element(quantize).width}")
    scale, zero_point = quantize.scale.astype(np.float32), quantize.zero_point
    bounds = clamped.integer_bounds(quantize)
    values = np.asarray(values, np.float32)
    return constant(quantize_array(values, scale, zero_point, *bounds, storage, divide=quantize.divide))


def center(value: ir.Value, zero_point: int) -> ir.Value:
    """`value - zero_point` in i16; the value itself for zero."""
    if zero_point == 0:
        return value
    return torq_hl.fma(
        constant(np.ones(1, np.int8)),
        constant(np.array([-zero_point, 1], np.int32)),
        value,
        output_zp=0,
        output_min=-(1 << 15),
        output_max=(1 << 15) - 1,
        shift_factor=0,
        element_type=ir.IntegerType.get_signless(16),
    )


def check_storage(quantize: Quantize, inputs: list[Dequantize]) -> None:
    """Refuses what integer operations with one signed scale per tensor cannot compute."""
    check_output(quantize)
    for dequantize in inputs:
        if not dequantize.per_tensor:
            raise NoMatch("an operand is quantized per channel")
        if dequantize.unsigned:
            raise NoMatch("an operand is unsigned; run torq-signed-storage before")
        width = ir.RankedTensorType(dequantize.input.type).element_type.width
        if width not in (8, 16):
            raise NoMatch(f"i{width} values have no elementwise operation")


def check_output(quantize: Quantize) -> None:
    """Refuses an output that is not signed with one scale, of 8 or 16 bits."""
    if not quantize.per_tensor:
        raise NoMatch("the output is quantized per channel")
    if quantize.unsigned:
        raise NoMatch("the output is unsigned; run torq-signed-storage before")
    width = result_element(quantize).width
    if width not in (8, 16):
        raise NoMatch(f"the output has {width} bits")


def check_requantizable(quantize: Quantize, inputs: list[Dequantize]) -> None:
    """Refuses scales whose ratio has no multiplier."""
    for dequantize in inputs:
        multiplier(dequantize.scale / quantize.scale)


def check_sum(dequantize: Dequantize, count: int) -> None:
    """Refuses a sum of so many elements whose i32 accumulator could overflow."""
    bound = count * (
        (1 << (ir.RankedTensorType(dequantize.input.type).element_type.width - 1)) + abs(int(dequantize.zero_point))
    )
    if bound > INT32_MAX:
        raise NoMatch(f"the i32 accumulator of a sum of {count} elements could reach {bound}")


def multiplier(real_scale) -> tuple[int, int]:
    """Multiplier and shift of one scale."""
    values, shift = multipliers(real_scale)
    return int(values), shift


def multipliers(real_scale) -> tuple[np.ndarray, int]:
    """Multipliers and their shift; a scale without any is a reason not to match."""
    try:
        return multiplier_and_shift(real_scale)
    except ValueError as error:
        raise NoMatch(str(error)) from error


def constant(array: np.ndarray) -> ir.Value:
    return arith.constant(None, elements.from_numpy(array))


def result_element(quantize: Quantize) -> ir.Type:
    return ir.RankedTensorType(quantize.operation.results[0].type).element_type


def locations_of(inputs, clamped: Clamped, quantize: Quantize, *computing: ir.Operation) -> ir.Location:
    # Constants and initial values have the name of one of the nodes that share them.
    named = [each for each in computing if len(each.operands) and each.name != "linalg.fill"]
    operations = [*named, *(x.operation for x in inputs), *clamped.operations, quantize.operation]
    return fuse_locations([operation.location for operation in operations])
