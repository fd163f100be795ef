# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products of integers less their zero points.

With `x` and `w` the integers of input and weights and `zx` and `zw` their zero points (`numerics.zero_points`):

    sum (x - zx) * (w - zw) = sum x * w - zx * sum w - zw * sum x + terms * zx * zw

Constant zero points go into the operation where it has a place for them. The other terms are integer arithmetic, with
the sums of constant weights constant, also with zero points that are known at run time only.
"""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.numerics.zero_points import input_zero_point_correction
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.structured import integer_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic

from .dialect import Contraction
from .operands import DequantizedOperand

ZeroPoint = int | ir.Value
"""Constant, or a tensor of i32 in the rank of the result."""


class Accumulator:
    """Builds the i32 sums of a contraction. What it cannot build `accumulate` refuses before."""

    def __init__(
        self, a: TensorArithmetic, contraction: Contraction, input: DequantizedOperand, weights: DequantizedOperand
    ) -> None:
        self.a, self.contraction, self.input, self.weights = a, contraction, input, weights
        self.constant_weights = weights.values()

    def with_constants(self) -> ir.Value:
        """The sums, with constant zero points."""
        return self._sums(*(_constant_zero_point(each) for each in (self.input, self.weights)))

    def with_run_time_parameters(self) -> tuple[ir.Value, list[ir.Value]]:
        """The sums, and the scales of the operands, f32 in the rank of the result."""
        a, contraction, f32 = self.a, self.contraction, ir.F32Type.get()
        scales, zero_points = [], []
        for operand in (self.input, self.weights):
            if operand.parameters is not None:
                is_input = operand is self.input
                values = operand.parameters.scale.reshape((1,) * contraction.rank) if is_input else None
                if values is None:
                    values = scales_or_zero_points(contraction, operand, operand.parameters.scale)
                scales.append(a.constant(values, f32))
                zero_points.append(_constant_zero_point(operand))
                continue
            values = operand.run_time_parameters(a)
            place = contraction.of_input if operand.per_token else self._whole
            scales.append(place(a, values[0]))
            zero_points.append(0 if values[1] is None else place(a, values[1]))
        return self._sums(*zero_points), scales

    def _whole(self, a: TensorArithmetic, value: ir.Value) -> ir.Value:
        """One parameter for all of the result."""
        return a.reshape(value, [1] * self.contraction.rank)

    def _sums(self, input_zp: ZeroPoint, weight_zp: ZeroPoint) -> ir.Value:
        a, contraction = self.a, self.contraction
        input, weights = self.input.build(a), self.weights.build(a)
        folded = folded_weights(contraction, self.weights) if self.weights.parameters is not None else None
        if folded is not None:
            weights, weight_zp = a.tensor_constant(elements.from_numpy(folded)), 0
            input = a.extend(input, integer_type(8 * folded.itemsize))
            self.constant_weights = folded
        elif self.weights.parameters is not None and not _is_uniform(self.weights.parameters.zero_point):
            zero_points = scales_or_zero_points(contraction, self.weights, self.weights.parameters.zero_point)
            weight_zp = a.constant(zero_points, integer_type(32))
        constants = [each if isinstance(each, int) else 0 for each in (input_zp, weight_zp)]
        direct = contraction.build(a, input, weights, *constants)
        taken = constants if contraction.takes_zero_points else [0, 0]
        remaining = [0 if taken[i] else each for i, each in enumerate((input_zp, weight_zp))]
        return self._corrected(direct, (input, weights), remaining, taken)

    def _corrected(
        self, accumulator: ir.Value, operands: tuple[ir.Value, ir.Value], remaining: list[ZeroPoint], taken: list[int]
    ) -> ir.Value:
        """`accumulator - zx * sum w - zw * sum x + terms * zx * zw` for the remaining zero points."""
        a, contraction = self.a, self.contraction
        input_zp, weight_zp = remaining
        if not _is_zero(input_zp):
            accumulator = self._less_weights(accumulator, operands[1], input_zp, taken[1])
        if not _is_zero(weight_zp):
            total = contraction.sum_of_input(a, operands[0], taken[0])
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


def folded_weights(contraction: Contraction, weights: DequantizedOperand) -> np.ndarray | None:
    """Constant weights less their constant zero points, where no operation takes these.

    They are i8 if they fit. Where a contraction takes zero points and therefore i8 alone, they stay as they are if not.
    """
    values, zero_points = weights.values(), weights.parameters.zero_point
    is_taken = contraction.takes_zero_points and _is_uniform(zero_points)
    if values is None or is_taken or not zero_points.any():
        return None
    difference = values.astype(np.int16) - weights.along(zero_points).astype(np.int16)
    narrow = difference.astype(np.int8)
    if np.array_equal(narrow, difference):
        return narrow
    return None if contraction.takes_zero_points else difference


def scales_or_zero_points(contraction: Contraction, weights: DequantizedOperand, values: np.ndarray) -> np.ndarray:
    """Constant parameters of the weights in the rank of the result.

    Raises:
      NoMatch: they vary along a dimension that is summed over.
    """
    values = weights.along(values)
    first = values[tuple(slice(0, 1) if d in contraction.reduced else slice(None) for d in range(values.ndim))]
    if not np.array_equal(np.broadcast_to(first, values.shape), values):
        raise NoMatch(f"the weights of {contraction.operation.name} are quantized along a summed dimension")
    if _is_uniform(first):
        return first.flat[0].reshape((1,) * contraction.rank)
    shape = ir.RankedTensorType(contraction.weights.type).shape
    kept = [1 if d in contraction.reduced else size for d, size in enumerate(shape)]
    return contraction.of_weights(np.broadcast_to(first, kept))


def _is_uniform(values: np.ndarray) -> bool:
    return bool(np.all(values == values.flat[0]))


def _constant_zero_point(operand: DequantizedOperand) -> int:
    """One of them; those that differ are folded into the weights."""
    return int(operand.parameters.zero_point.flat[0])


def _is_zero(zero_point: ZeroPoint) -> bool:
    return isinstance(zero_point, int) and zero_point == 0
