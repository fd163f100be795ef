# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A contraction of dequantized operands becomes one of integers, and a dequantization of its i32 result."""

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.numerics.zero_points import INT32_MAX, accumulator_bound
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch

from .accumulator import Accumulator, folded_weights, scales_or_zero_points
from .dialect import Contraction, Dialect, Product
from .operands import DequantizedOperand, match_dequantized


def accumulate(dialect: Dialect, operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for the contractions of a dialect."""
    contraction = dialect.match_contraction(operation)
    if contraction is None:
        return NOT_MINE
    input, weights = (match_dequantized(dialect, value) for value in (contraction.input, contraction.weights))
    if input is None and weights is None:
        return NOT_MINE
    if input is None or weights is None:
        raise NoMatch(f"not both operands of {operation.name} are dequantized from 8 bits or less")
    _check(contraction, input, weights)
    reach = greatest(contraction, input, weights)
    if reach > INT32_MAX:
        raise NoMatch(f"the i32 accumulator of {operation.name} could reach {reach}")
    a = dialect.arithmetic
    with ir.InsertionPoint(operation), operation.location:
        accumulator = Accumulator(a, contraction, input, weights)
        if input.parameters is not None and weights.parameters is not None:
            scale = scales_or_zero_points(contraction, weights, weights.parameters.scale) * float(
                input.parameters.scale
            )
            result = dequantize_accumulator(accumulator.with_constants(), scale, reach)
        else:
            sums, scales = accumulator.with_run_time_parameters()
            result = a.integer_to_float(sums, ir.F32Type.get())
            for each in scales:
                result = a.multiply(result, each)
        if contraction.bias is not None:
            result = dialect.add_float_bias(result, contraction.bias)
    rewriter.replace_op(operation, [result])
    return None


def _check(contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand) -> None:
    """Refuses what cannot be built, before anything is."""
    name = contraction.operation.name
    if input.parameters is not None and not input.is_per_tensor:
        raise NoMatch(f"the input of {name} is quantized per channel")
    if weights.per_token:
        raise NoMatch(f"the weights of {name} are quantized per token")
    if any(each.width < 8 and each.values() is None for each in (input, weights)):
        raise NoMatch(f"an operand of {name} has less than 8 bits and is not constant")
    for operand in (input, weights):
        if operand.parameters is None:
            operand.check_run_time_parameters()
        elif np.any(operand.parameters.zero_point != operand.parameters.zero_point.astype(np.int8)):
            raise NoMatch(f"a zero point of {name} is beyond 8 bits")
    if weights.parameters is not None:
        _check_weights(contraction, weights)
    if isinstance(contraction, Product):
        return
    if input.per_token:
        raise NoMatch(f"{name} mixes tokens")
    if contraction.pads and input.parameters is None and not input.has_no_zero_point:
        raise NoMatch(f"{name} pads with a zero point that is known at run time only")
    taken = contraction.takes_zero_points and input.parameters is not None
    if weights.values() is None and not (taken or input.has_no_zero_point):
        raise NoMatch(f"the weights of {name} are not constant, and its input has a zero point")
    is_constant = weights.parameters is not None and (contraction.takes_zero_points or weights.values() is not None)
    if not (is_constant or weights.has_no_zero_point):
        raise NoMatch(f"the zero point of the weights of {name} is not constant")


def _check_weights(contraction: Contraction, weights: DequantizedOperand) -> None:
    scale = _scale_of_weights(contraction, weights)
    if sum(size > 1 for size in scale.shape) > 1:
        raise NoMatch(f"the weight scales of {contraction.operation.name} vary along several dimensions of the result")
    zero_points = scales_or_zero_points(contraction, weights, weights.parameters.zero_point)
    is_correction = zero_points.size > 1 and folded_weights(contraction, weights) is None
    if is_correction and not contraction.sums_input:
        raise NoMatch(f"{contraction.operation.name} has no place for a zero point of each channel")


def dequantize_accumulator(accumulator: ir.Value, scale: np.ndarray, reach: int) -> ir.Value:
    """A dequantization of i32 values that are signed and have no zero point, to f32.

    Args:
      scale: f64, in the rank of the accumulator, of more than one element along one dimension at most.
      reach: no value is greater in magnitude.
    """
    attributes = {"quant_min": -reach, "quant_max": reach, "dtype": ir.IntegerType.get_signed(32)}
    varying = [d for d, size in enumerate(scale.shape) if size > 1]
    zero_point = arith.constant(None, elements.from_numpy(np.zeros(scale.size if varying else (), np.int32)))
    values = arith.constant(None, elements.from_numpy(scale.reshape(-1 if varying else ())))
    if not varying:
        return quantized_decomposed.dequantize_per_tensor(accumulator, values, zero_point, **attributes)
    return quantized_decomposed.dequantize_per_channel(accumulator, values, zero_point, axis=varying[0], **attributes)


def greatest(contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand) -> int:
    """A bound of the magnitude of the accumulator and of all that is added up for it."""
    reach = 1 << (input.width + 1)  # of an integer less any zero point
    values = weights.values()
    if values is None or weights.parameters is None:
        return contraction.terms * reach << (weights.width + 1)
    centered = values.astype(np.int32) - weights.along(weights.parameters.zero_point).astype(np.int32)
    return int(accumulator_bound(centered, -reach, reach, 0, contraction.reduced).max(initial=0))


def _scale_of_weights(contraction: Contraction, weights: DequantizedOperand) -> np.ndarray:
    """Constant scales in the rank of the result, in f64."""
    return scales_or_zero_points(contraction, weights, weights.parameters.scale)
