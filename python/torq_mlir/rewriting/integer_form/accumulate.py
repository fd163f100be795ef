# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A contraction of dequantized operands becomes one of integers, and a dequantization of its i32 result.

With `x` and `w` the integers of input and weights and `zx` and `zw` their zero points (`numerics.zero_points`):

    sum (x - zx) * (w - zw) = sum x * w - zx * sum w - zw * sum x + terms * zx * zw

Constant zero points go into the operation where it has a place for them. The other terms are integer arithmetic, with
the sums of constant weights constant, also with zero points that are known at run time only.
"""

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.numerics.zero_points import INT32_MAX, accumulator_bound, input_zero_point_correction
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.structured import integer_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic

from .dialect import Contraction, Dialect
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
    if input.parameters is not None and not input.is_per_tensor:
        raise NoMatch(f"the input of {operation.name} is quantized per channel")
    if any(each.width < 8 and each.values() is None for each in (input, weights)):
        raise NoMatch(f"an operand of {operation.name} has less than 8 bits and is not constant")
    reach = greatest(contraction, input, weights)
    if reach > INT32_MAX:
        raise NoMatch(f"the i32 accumulator of {operation.name} could reach {reach}")
    static = input.parameters is not None and weights.parameters is not None
    scale = constant_scale(contraction, input, weights) if static else None
    with ir.InsertionPoint(operation), operation.location:
        try:
            result = _Accumulation(dialect.arithmetic, contraction, input, weights).result(scale, reach)
        except NoMatch as no_match:
            raise NoMatch(f"{operation.name}: {no_match}") from None
        if contraction.bias is not None:
            result = dialect.add_float_bias(result, contraction.bias)
    rewriter.replace_op(operation, [result])
    return None


ZeroPoint = int | ir.Value
"""Constant, or a tensor of i32 in the rank of the result."""


class _Accumulation:
    def __init__(
        self, a: TensorArithmetic, contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand
    ) -> None:
        self.a, self.contraction, self.input, self.weights = a, contraction, input, weights
        self.constant_weights = weights.values()

    def result(self, scale: np.ndarray | None, reach: int) -> ir.Value:
        """The dequantized sum: with constant scales for the accumulator, or with those of the operands at run time."""
        parameters = [self._run_time_parameters(each) for each in (self.input, self.weights)] if scale is None else []
        zero_points: list[ZeroPoint] = [
            int(operand.parameters.zero_point.flat[0]) if operand.parameters is not None else parameters[i][1]
            for i, operand in enumerate((self.input, self.weights))
        ]
        accumulator = self._accumulator(*zero_points)
        if scale is not None:
            return dequantize_accumulator(accumulator, scale, reach)
        value = self.a.integer_to_float(accumulator, ir.F32Type.get())
        for each, _ in parameters:
            value = self.a.multiply(value, each)
        return value

    def _run_time_parameters(self, operand: DequantizedOperand) -> tuple[ir.Value, ZeroPoint]:
        """Scale, f32, and zero point, in the rank of the result."""
        a, contraction = self.a, self.contraction
        if operand.parameters is not None:
            place = _of_input if operand is self.input else _of_weights
            scale = a.constant(place(contraction, operand, operand.parameters.scale), ir.F32Type.get())
            return scale, int(operand.parameters.zero_point.flat[0])
        values = operand.run_time_parameters(a)
        if operand.per_token:
            if operand is self.weights:
                raise NoMatch("the weights are quantized per token")
            values = [value if value is None else contraction.of_input(a, value) for value in values]
        else:
            extents = [1] * contraction.rank
            values = [value if value is None else a.reshape(value, extents) for value in values]
        return values[0], 0 if values[1] is None else values[1]

    def _accumulator(self, input_zp: ZeroPoint, weight_zp: ZeroPoint) -> ir.Value:
        """The sum of products, less the terms of the zero points that no operation takes."""
        a, contraction = self.a, self.contraction
        input, weights = self.input.build(a), self.weights.build(a)
        if self._folds_weight_zero_point():
            folded = self._folded_weights()
            weights, weight_zp = a.tensor_constant(elements.from_numpy(folded)), 0
            input = a.extend(input, integer_type(8 * folded.itemsize))
            self.constant_weights = folded
        if contraction.pads and not isinstance(input_zp, int):
            raise NoMatch("it pads with a zero point that is known at run time only")
        constants = [each if isinstance(each, int) else 0 for each in (input_zp, weight_zp)]
        direct = contraction.build(a, input, weights, *constants)
        remaining = [input_zp, weight_zp]
        taken = constants if contraction.takes_zero_points else [0, 0]
        remaining = [0 if taken[i] else each for i, each in enumerate(remaining)]
        return self._corrected(direct, (input, weights), remaining, taken)

    def _folds_weight_zero_point(self) -> bool:
        if self.constant_weights is None or self.weights.parameters is None:
            return False
        zero_points = self.weights.parameters.zero_point
        differ = not np.all(zero_points == zero_points.flat[0])
        return differ or (not self.contraction.takes_zero_points and bool(zero_points.any()))

    def _folded_weights(self) -> np.ndarray:
        zero_points = self.weights.along(self.weights.parameters.zero_point)
        difference = self.constant_weights.astype(np.int16) - zero_points.astype(np.int16)
        if np.all(difference == difference.astype(np.int8)):
            return difference.astype(np.int8)
        if self.contraction.takes_zero_points:
            raise NoMatch("the weights less their zero points do not fit in 8 bits")
        return difference

    def _corrected(
        self, accumulator: ir.Value, operands: tuple[ir.Value, ir.Value], remaining: list[ZeroPoint], taken: list[int]
    ) -> ir.Value:
        """`accumulator - zx * sum w - zw * sum x + terms * zx * zw` for the remaining zero points."""
        a, contraction = self.a, self.contraction
        input_zp, weight_zp = remaining
        if not _is_zero(input_zp):
            accumulator = self._less_weights(accumulator, operands[1], input_zp, taken[1])
        if not _is_zero(weight_zp):
            total = contraction.sum_of_input(a, operands[0])
            total = a.subtract(total, contraction.terms * taken[0]) if taken[0] else total
            accumulator = a.subtract(accumulator, a.multiply(total, weight_zp))
        if not _is_zero(input_zp) and not _is_zero(weight_zp):
            terms = a.splat(contraction.terms, integer_type(32), contraction.rank)
            accumulator = a.add(accumulator, a.multiply(a.multiply(terms, input_zp), weight_zp))
        return accumulator

    def _less_weights(self, accumulator: ir.Value, weights: ir.Value, input_zp: ZeroPoint, taken: int) -> ir.Value:
        """`accumulator - zx * sum (w - taken)`."""
        a, contraction, i32 = self.a, self.contraction, integer_type(32)
        if self.constant_weights is None:
            total = contraction.sum_of_weights(a, weights)
            total = a.subtract(total, contraction.terms * taken) if taken else total
            return a.subtract(accumulator, a.multiply(total, input_zp))
        values = self.constant_weights.astype(np.int64) - taken
        if isinstance(input_zp, int):
            term = input_zero_point_correction(values, input_zp, contraction.reduced)
            return a.add(accumulator, a.constant(self._of_kept(term), i32))
        total = a.constant(self._of_kept(values.sum(axis=contraction.reduced)), i32)
        return a.subtract(accumulator, a.multiply(total, input_zp))

    def _of_kept(self, values: np.ndarray) -> np.ndarray:
        """Values over the dimensions of the weights that are kept, in the rank of the result."""
        return self.contraction.of_weights(np.expand_dims(values, self.contraction.reduced))


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
    return quantized_decomposed.dequantize_per_channel(
        accumulator, values, zero_point, axis=varying[0], **attributes
    )


def constant_scale(contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand) -> np.ndarray:
    """`input scale * weight scale` in f64 and in the rank of the result, along one dimension of it at most."""
    scale = _of_weights(contraction, weights, weights.parameters.scale)
    if sum(size > 1 for size in scale.shape) > 1:
        raise NoMatch(f"the weight scales of {contraction.operation.name} vary along several dimensions of the result")
    return scale * float(input.parameters.scale)


def _of_weights(contraction: Contraction, weights: DequantizedOperand, values: np.ndarray) -> np.ndarray:
    """Parameters of the weights in the rank of the result."""
    values = weights.along(values)
    first = values[tuple(slice(0, 1) if d in contraction.reduced else slice(None) for d in range(values.ndim))]
    if not np.array_equal(np.broadcast_to(first, values.shape), values):
        raise NoMatch(f"the weight scales of {contraction.operation.name} vary along a summed dimension")
    if np.all(first == first.flat[0]):
        return first.flat[0].reshape((1,) * contraction.rank)
    shape = [1 if d in contraction.reduced else size for d, size in enumerate(contraction.weights.type.shape)]
    return contraction.of_weights(np.broadcast_to(first, shape))


def _of_input(contraction: Contraction, input: DequantizedOperand, values: np.ndarray) -> np.ndarray:
    return values.reshape((1,) * contraction.rank)


def greatest(contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand) -> int:
    """A bound of the magnitude of the accumulator and of all that is added up for it."""
    reach = 1 << (input.width + 1)  # of an integer less any zero point
    values = weights.values()
    if values is None or weights.parameters is None:
        return contraction.terms * reach << (weights.width + 1)
    centered = values.astype(np.int32) - weights.along(weights.parameters.zero_point).astype(np.int32)
    return int(accumulator_bound(centered, -reach, reach, 0, contraction.reduced).max(initial=0))


def _is_zero(zero_point: ZeroPoint) -> bool:
    return isinstance(zero_point, int) and zero_point == 0

