# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A contraction of activations whose parameters are known at run time only, or whose result stays in float.

With `x` and `w` the integers, `zx` the zero point of a tensor or a token, and `w' = w - zw`:

    result = (sum x * w' - zx * sum w') * sx * sw + initial value

The sums are integers, those of constant weights constants; the product with the scales is rounded once.
"""

import math

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.numerics.zero_points import INT32_MAX, accumulator_bound
from torq_mlir.rewriting.contraction import Contraction, build_quantized_contraction
from torq_mlir.rewriting.integer_chain import IntegerChain, match_integer_chain
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch, record_refusal
from torq_mlir.rewriting.qparams import Dequantize
from torq_mlir.rewriting.run_time_qparams import RunTimeDequantize, match_run_time_dequantize
from torq_mlir.rewriting.structured import empty_like, integer_type

from .constant_parameters import contract, weight_scales
from .elementwise import Operands, initial_value

# Of an integer of 8 bits less a zero point in its range.
REACH = 255


def accumulate(contraction: Contraction, rewriter: rewrite.PatternRewriter, refusal: str | None) -> object:
    """A pattern for contractions of floats.

    Args:
      refusal: why the NPU does not take what is built, recorded on it; None to record nothing.
    """
    operation = contraction.operation
    input, weights = match_dequantized_input(contraction), _match_weights(contraction)
    if input is None and weights is None:
        return NOT_MINE
    if input is None or weights is None:
        missing = f"the input of {operation.name} is" if input is None else f"the weights of {operation.name} are"
        raise NoMatch(f"{missing} not dequantized from 8 bits per tensor, token or channel")
    _check(contraction, input, weights)
    sums = _weight_sums(contraction, weights)
    with ir.InsertionPoint(operation), operation.location:
        zero_point = input.dequantize.zero_point()
        if sums is None:
            accumulator = _contract_run_time(contraction, input, weights, zero_point)
        else:
            accumulator = contract(contraction, _signed(input, zero_point), weights, 0)
        result = _rescaled(contraction, accumulator, input.dequantize, weights, zero_point, sums)
    if refusal is not None:
        for value in (accumulator, result):
            record_refusal(value.owner.operation, refusal, "fuse")
    rewriter.replace_op(operation, [result])
    return None


def match_dequantized_input(contraction: Contraction) -> IntegerChain | None:
    """The input, dequantized from 8 bits."""
    return match_integer_chain(contraction.input, match_run_time_dequantize)


def row_map(contraction: Contraction) -> ir.AffineMap:
    """Map from the result to parameters `[.., 1]` of the rows of the input.

    Raises:
      NoMatch: an element of the result is a sum over several rows.
    """
    *rows, last = contraction.dims(0)
    columns = contraction.dims(2)
    if last is None or last in columns or any(loop not in columns for loop in rows):
        raise NoMatch(f"{contraction.operation.name} sums over several tokens")
    results = [ir.AffineExpr.get_dim(columns.index(loop)) for loop in rows]
    return ir.AffineMap.get(len(columns), 0, [*results, ir.AffineExpr.get_constant(0)])


def _match_weights(contraction: Contraction) -> IntegerChain | None:
    constant = match_integer_chain(contraction.weights)
    return constant or match_integer_chain(contraction.weights, match_run_time_dequantize)


def _check(contraction: Contraction, input: IntegerChain, weights: IntegerChain) -> None:
    """Refuses what cannot be built, before anything is."""
    name = contraction.operation.name
    input.dequantize.check()
    if input.dequantize.per_token:
        if input.steps:
            raise NoMatch(f"the tokens of the input of {name} are moved after their dequantization")
        row_map(contraction)
    if isinstance(weights.dequantize, RunTimeDequantize):
        weights.dequantize.check()
        if weights.dequantize.per_token:
            raise NoMatch(f"the weights of {name} are quantized per token")
    else:
        if weights.dequantize.unsigned:
            raise NoMatch(f"an operand of {name} is unsigned; run torq-signed-storage before")
        weight_scales(contraction, weights)
    if not _is_constant(weights):
        if input.dequantize.per_token and not input.dequantize.has_no_zero_point:
            raise NoMatch(f"the weights of {name} are not constant, and its tokens have zero points")
        if isinstance(weights.dequantize, Dequantize) and not _is_uniform(weights.dequantize.zero_point):
            raise NoMatch(f"{name} has run-time weights with a zero point for each channel")
    greatest = _greatest(contraction, weights)
    if greatest > INT32_MAX:
        raise NoMatch(f"the i32 accumulator of {name} could reach {greatest}")


def _is_constant(weights: IntegerChain) -> bool:
    return isinstance(weights.dequantize, Dequantize) and weights.constant() is not None


def _is_uniform(values: np.ndarray) -> bool:
    return bool(np.all(values == values.flat[0]))


def _centered(weights: IntegerChain) -> np.ndarray:
    return weights.constant().astype(np.int32) - weights.parameter(weights.dequantize.zero_point).astype(np.int32)


def _greatest(contraction: Contraction, weights: IntegerChain) -> int:
    """A bound of the magnitude of the accumulator."""
    if _is_constant(weights):
        reduced = contraction.reduced_weight_dims
        return int(accumulator_bound(_centered(weights), -REACH, REACH, 0, reduced).max(initial=0))
    shape = ir.RankedTensorType(contraction.weights.type).shape
    return math.prod(shape[d] for d in contraction.reduced_weight_dims) * REACH * REACH


def _weight_sums(contraction: Contraction, weights: IntegerChain) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Sums of constant weights less their zero points, and the dimensions of the result that they run along."""
    if not _is_constant(weights):
        return None
    sums = _centered(weights).sum(axis=contraction.reduced_weight_dims, dtype=np.int64)
    return contraction.per_output_channel(sums.astype(np.int32))


def _signed(input: IntegerChain, zero_point: ir.Value | None) -> ir.Value:
    """The integers of an operand, signed and moved; zeros around them are zero points."""
    value = input.dequantize.signed_input()
    if not input.pads or zero_point is None:
        return input.rebuild(value, 0)
    return input.rebuild(value, arith.trunci(integer_type(8), zero_point))


def _contract_run_time(
    contraction: Contraction, input: IntegerChain, weights: IntegerChain, zero_point: ir.Value | None
) -> ir.Value:
    """The contraction with weights that are not constant: the operation subtracts the zero points."""
    input_zp = 0 if zero_point is None else zero_point
    value = _signed(input, zero_point)
    if isinstance(weights.dequantize, Dequantize):
        return contract(contraction, value, weights, input_zp)
    weight_zp = weights.dequantize.zero_point()
    moved = _signed(weights, weight_zp)
    return build_quantized_contraction(contraction, value, moved, input_zp, 0 if weight_zp is None else weight_zp)


def _rescaled(
    contraction: Contraction,
    accumulator: ir.Value,
    input: RunTimeDequantize,
    weights: IntegerChain,
    zero_point: ir.Value | None,
    sums: tuple[np.ndarray, tuple[int, ...]] | None,
) -> ir.Value:
    """`(accumulator - zero_point * sums) * scales + initial value`, f32."""
    f32, f64 = ir.F32Type.get(), ir.F64Type.get()
    operands = Operands(accumulator)
    rows = row_map(contraction) if input.per_token else None
    correction = None
    if zero_point is not None and sums is not None:
        correction = operands.along(sums[0], sums[1]), operands.add(zero_point, rows)
    scales = [operands.add(input.scale(), rows)]
    if isinstance(weights.dequantize, Dequantize):
        scales.append(operands.along(*weight_scales(contraction, weights)))
    else:
        scales.append(operands.add(weights.dequantize.scale()))
    addend = initial_value(operands, contraction)

    def body(*values: ir.Value) -> ir.Value:
        integer = values[0]
        if correction is not None:
            total, zero_point = (each(values) for each in correction)
            integer = arith.subi(integer, arith.muli(total, zero_point))
        value = arith.sitofp(f64, integer)
        for scale in scales:
            value = arith.mulf(value, scale(values))
        value = arith.truncf(f32, value)
        return value if addend is None else arith.addf(value, addend(values))

    return operands.build(empty_like(accumulator, f32), body)
