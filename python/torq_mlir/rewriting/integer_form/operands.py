# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dequantized operands of contractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.qparams import Parameters, constant_parameters
from torq_mlir.rewriting.structured import element_type, integer_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic
from torq_mlir.rewriting.tensor_arithmetic.parameters import Placement, constant_integers

from .dialect import Dialect, Movement
from .flips import flip

_PREFIX = "quantized_decomposed.dequantize_"
_GRANULARITIES = f"{_PREFIX}per_tensor", f"{_PREFIX}per_channel", f"{_PREFIX}per_token"


@dataclass(frozen=True)
class DequantizedOperand:
    """A dequantization, and the data movement between it and its use.

    Attributes:
      dequantize: `dequantize_per_tensor`, `_per_channel` or `_per_token`.
      steps: movements, first to last.
    """

    dequantize: ir.Operation
    steps: tuple[Movement, ...]

    @property
    def source(self) -> ir.Value:
        """The stored integers, before the movements."""
        return self.dequantize.operands[0]

    @property
    def unsigned(self) -> bool:
        return ir.IntegerType(ir.TypeAttr(self.dequantize.attributes["dtype"]).value).is_unsigned

    @property
    def width(self) -> int:
        """Bits of the stored integers."""
        return element_type(self.source).width

    @property
    def per_token(self) -> bool:
        return self.dequantize.name == f"{_PREFIX}per_token"

    @cached_property
    def parameters(self) -> Parameters | None:
        """Constant parameters per tensor or channel, the zero point that of signed storage."""
        parameters = None if self.per_token else constant_parameters(self.dequantize)
        return parameters and parameters._replace(zero_point=parameters.zero_point - self._offset)

    @property
    def is_per_tensor(self) -> bool:
        return self.dequantize.name == f"{_PREFIX}per_tensor"

    @property
    def _offset(self) -> int:
        """What signed storage is less than the stored integers."""
        return 1 << (self.width - 1) if self.unsigned else 0

    def range(self) -> tuple[int, int]:
        """The least and the greatest signed integer stored."""
        return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1

    def values(self) -> np.ndarray | None:
        """The moved signed integers where they are constant."""
        constant = elements.constant_value(self.source)
        if constant is None or any(step.pads for step in self.steps):
            return None
        if self.unsigned:
            constant = (constant.astype(np.int64) & (2 * self._offset - 1)) - self._offset
        return self._moved(constant.astype(np.int8 if self.width <= 8 else np.int16))

    def _moved(self, array: np.ndarray) -> np.ndarray:
        for step in self.steps:
            array = step.apply(array)
        return array

    def along(self, values: np.ndarray) -> np.ndarray:
        """Constant parameters of the moved integers, in their rank."""
        if self.parameters.axis is None:
            rank = len(self.steps[-1].result_shape) if self.steps else ir.RankedTensorType(self.source.type).rank
            return values.reshape((1,) * rank)
        shape = ir.RankedTensorType(self.source.type).shape
        values = values.reshape([-1 if d == self.parameters.axis else 1 for d in range(len(shape))])
        return self._moved(np.broadcast_to(values, shape)) if self.steps else values

    def build(self, a: TensorArithmetic) -> ir.Value:
        """The moved signed integers, i8 where they fit. Padding needs constant parameters."""
        constant = self.values()
        if constant is not None:
            return a.tensor_constant(elements.from_numpy(np.ascontiguousarray(constant)))
        value = self.source
        if self.unsigned:
            value = flip(a, value)
        padding = 0 if self.parameters is None else int(self.parameters.zero_point.flat[0])
        for step in self.steps:
            value = step.rebuild(a, value, padding)
        return value

    @cached_property
    def has_no_zero_point(self) -> bool:
        """Whether the zero point of signed storage is known to be 0."""
        if self.parameters is not None:
            return not self.parameters.zero_point.any()
        zero_points = list(self.dequantize.operands)[2:3]
        constant = elements.constant_value(zero_points[0]) if zero_points else np.zeros(1)
        return constant is not None and not constant.any() and not self._offset

    def check_run_time_parameters(self) -> None:
        """Refuses what `run_time_parameters` cannot build.

        Raises:
          NoMatch: parameters are of another kind, or were moved in a way that they cannot follow.
        """
        if not (self.is_per_tensor or self.per_token):
            raise NoMatch("parameters per channel are not constant")
        if self.per_token and any(extent < 0 for extent in ir.RankedTensorType(self.source.type).shape[:-1]):
            raise NoMatch("the number of tokens is dynamic")
        zero_points = list(self.dequantize.operands)[2:3]
        if zero_points and isinstance(element_type(zero_points[0]), ir.FloatType) and not self.has_no_zero_point:
            raise NoMatch("a zero point is a float")
        for step in self.steps:
            keeps_rows = ir.RankedTensorType(step.operation.operands[0].type).shape[-1] == step.result_shape[-1]
            if step.pads or not (self.is_per_tensor or (step.is_reshape and keeps_rows)):
                raise NoMatch(f"parameters cannot follow {step.operation.name}")

    def run_time_parameters(self, a: TensorArithmetic) -> tuple[ir.Value, ir.Value | None]:
        """Scale, f32, and zero point, i32 and None for 0, per tensor or token, in the rank of the moved integers."""
        scale, *zero_points = list(self.dequantize.operands)[1:3]
        rank = ir.RankedTensorType(self.source.type).rank
        extents = [*ir.RankedTensorType(self.source.type).shape[:-1], 1] if self.per_token else [1] * rank
        placement = Placement(tuple(extents))
        moved = [a.convert_float(placement.place(a, scale), ir.F32Type.get())]
        if not self.has_no_zero_point:
            moved.append(self._run_time_zero_point(a, placement, zero_points))
        for step in self.steps:
            shape = step.result_shape
            extents = [1] * len(shape) if self.is_per_tensor else [*shape[:-1], 1]
            moved = [a.reshape(value, extents) for value in moved]
        return moved[0], moved[1] if len(moved) > 1 else None

    def _run_time_zero_point(
        self, a: TensorArithmetic, placement: Placement, zero_points: Sequence[ir.Value]
    ) -> ir.Value:
        i32 = integer_type(32)
        if not zero_points:
            return a.splat(-self._offset, i32, len(placement.extents))
        (zero_point,) = zero_points
        constant = constant_integers(zero_point, element_type(self.source), self.unsigned)
        if constant is not None:
            return placement.constant(a, constant - self._offset, i32)
        unsigned = self.unsigned and element_type(zero_point).width <= self.width
        value = a.resize(placement.place(a, zero_point), i32, unsigned)
        return a.subtract(value, self._offset) if self._offset else value


def match_dequantized(dialect: Dialect, value: ir.Value) -> DequantizedOperand | None:
    """The dequantized operand that `value` is; of at most 8 bits, padded per tensor only."""
    steps: list[Movement] = []
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name in _GRANULARITIES:
            operand = DequantizedOperand(operation, tuple(steps))
            pads = any(step.pads for step in steps)
            is_padded_right = not pads or (operand.is_per_tensor and operand.parameters is not None)
            return operand if operand.width <= 8 and is_padded_right else None
        movement = dialect.match_movement(operation)
        if movement is None:
            return None
        steps.insert(0, movement)
        value = operation.operands[0]
    return None
