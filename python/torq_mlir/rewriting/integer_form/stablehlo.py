# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement, clamps and rescaling in StableHLO."""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import element_type, integer_type
from torq_mlir.rewriting.tensor_arithmetic import StablehloArithmetic, TensorArithmetic

from .dialect import Contraction, Dialect, Movement
from .stablehlo_contractions import match_convolution, match_dot_general

# Above this shift no product of two i32 rounds to anything but 0.
_GREATEST_SHIFT = 62


@dataclass(frozen=True)
class StablehloMovement(Movement):
    """stablehlo.transpose, reshape, reverse, broadcast_in_dim or slice, or stablehlo.pad with 0.0."""

    @property
    def pads(self) -> bool:
        return self.operation.name == "stablehlo.pad"

    def apply(self, array: np.ndarray) -> np.ndarray:
        name = self.operation.name
        if name == "stablehlo.transpose":
            return array.transpose(self._integers("permutation"))
        if name == "stablehlo.reshape":
            return array.reshape(self.result_shape)
        if name == "stablehlo.reverse":
            return np.flip(array, self._integers("dimensions"))
        if name == "stablehlo.slice":
            bounds = zip(*map(self._integers, ("start_indices", "limit_indices", "strides")), strict=True)
            return array[tuple(slice(*each) for each in bounds)]
        shape = [1] * len(self.result_shape)
        for size, dimension in zip(array.shape, self._integers("broadcast_dimensions"), strict=True):
            shape[dimension] = size
        return np.broadcast_to(array.reshape(shape), self.result_shape)

    def rebuild(self, a: TensorArithmetic, value: ir.Value, padding: int) -> ir.Value:
        if not self.pads:
            return super().rebuild(a, value, padding)
        type_ = ir.RankedTensorType.get(self.result_shape, element_type(value))
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        operands = [value, a.splat(padding, element_type(value), 0)]
        return ir.Operation.create(self.operation.name, [type_], operands, attributes).result

    def _integers(self, name: str) -> list[int]:
        return list(ir.DenseI64ArrayAttr(self.operation.attributes[name]))


class StablehloDialect(Dialect):
    """StableHLO."""

    contractions = "stablehlo.convolution", "stablehlo.dot_general"
    movements = (
        "stablehlo.transpose",
        "stablehlo.reshape",
        "stablehlo.reverse",
        "stablehlo.broadcast_in_dim",
        "stablehlo.slice",
        "stablehlo.pad",
    )

    has_f64 = True

    def __init__(self) -> None:
        self.arithmetic = StablehloArithmetic()

    def match_contraction(self, operation: ir.Operation) -> Contraction | None:
        values = [*operation.operands, *operation.results]
        if not all(isinstance(element_type(value), ir.F32Type) and value.type.has_static_shape for value in values):
            return None
        match = match_convolution if operation.name == "stablehlo.convolution" else match_dot_general
        return match(operation)

    def match_movement(self, operation: ir.Operation) -> Movement | None:
        if operation.name not in self.movements:
            return None
        if operation.name != "stablehlo.pad":
            return StablehloMovement(operation)
        padding = elements.constant_value(operation.operands[1])
        return StablehloMovement(operation) if padding is not None and not padding.any() else None

    def match_clamp(self, operation: ir.Operation) -> tuple[ir.Value, float, float] | None:
        if operation.name == "stablehlo.clamp":
            low, value, high = operation.operands
            bounds = _number(low), _number(high)
            return None if None in bounds else (value, *bounds)
        if operation.name not in ("stablehlo.maximum", "stablehlo.minimum"):
            return None
        numbers = [_number(operand) for operand in operation.operands]
        if numbers.count(None) != 1:
            return None
        value = operation.operands[numbers.index(None)]
        (number,) = (number for number in numbers if number is not None)
        return (value, number, math.inf) if operation.name == "stablehlo.maximum" else (value, -math.inf, number)

    def match_add(self, operation: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
        return (operation.operands[0], operation.operands[1]) if operation.name == "stablehlo.add" else None

    def add_float_bias(self, value: ir.Value, bias: ir.Value) -> ir.Value:
        raise NotImplementedError("no contraction of StableHLO has a bias")

    def add_bias(self, accumulator: ir.Value, bias: np.ndarray) -> ir.Value:
        a, operation = self.arithmetic, None if isinstance(accumulator.owner, ir.Block) else accumulator.owner.operation
        if operation is not None and operation.name == "stablehlo.add":
            # The term of a zero point, which the bias can take in.
            addend = _before_broadcast(operation.operands[1], bias.ndim)
            if addend is not None:
                accumulator, bias = operation.operands[0], bias.astype(np.int64) + addend
        return a.add(accumulator, a.constant(bias, integer_type(32)))

    def check_rescale(self, multiplier: np.ndarray, shift: int, greatest: int) -> None:
        """There is nothing that i64 cannot express."""

    def rescale(
        self,
        accumulator: ir.Value,
        multiplier: np.ndarray,
        shift: int,
        zero_point: int,
        bounds: tuple[int, int],
        storage: ir.IntegerType,
        greatest: int,
    ) -> ir.Value:
        a, i64 = self.arithmetic, integer_type(64)
        value = a.extend(accumulator, i64)
        if shift > _GREATEST_SHIFT:
            multiplier, shift = np.zeros_like(multiplier), _GREATEST_SHIFT
        factor = int(multiplier.flat[0]) if multiplier.size == 1 else a.constant(multiplier, i64)
        value = a.multiply(value, factor)
        if shift:
            value = a.shift_right(a.add(value, 1 << (shift - 1)), shift)
        if zero_point:
            value = a.add(value, zero_point)
        return a.truncate(a.clamp(value, *bounds), storage, wraps=False)


def _before_broadcast(value: ir.Value, rank: int) -> np.ndarray | None:
    """The constant of a rank that stretches to `value`."""
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "stablehlo.broadcast_in_dim":
        value = value.owner.operation.operands[0]
    constant = elements.constant_value(value)
    return constant if constant is not None and constant.ndim == rank else None


def _number(value: ir.Value) -> float | None:
    """The number that every element of a constant is."""
    constant = elements.constant_value(value)
    if constant is None or constant.size == 0 or np.any(constant != constant.flat[0]):
        return None
    return float(constant.flat[0])
