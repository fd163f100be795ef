# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions, data movement and rescaling in TOSA."""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from torq_mlir.dialects import elements
from torq_mlir.numerics.tosa_rescale import tosa_multiplier_and_shift
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.structured import element_type, integer_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic, TosaArithmetic

from .dialect import Contraction, Dialect, Movement, Product

_CONVOLUTIONS = "tosa.conv2d", "tosa.conv3d", "tosa.depthwise_conv2d", "tosa.transpose_conv2d"
_GREATEST_F32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class TosaMovement(Movement):
    """tosa.transpose, tosa.reshape, tosa.reverse, tosa.slice, or tosa.pad with 0.0."""

    @property
    def pads(self) -> bool:
        return self.operation.name == "tosa.pad"

    def apply(self, array: np.ndarray) -> np.ndarray:
        if self.operation.name == "tosa.transpose":
            return array.transpose(list(ir.DenseI32ArrayAttr(self.operation.attributes["perms"])))
        if self.operation.name == "tosa.reshape":
            return array.reshape(self.result_shape)
        if self.operation.name == "tosa.reverse":
            return np.flip(array, ir.IntegerAttr(self.operation.attributes["axis"]).value)
        start, size = (_shape(operand) for operand in list(self.operation.operands)[1:3])
        return array[tuple(slice(first, first + count) for first, count in zip(start, size, strict=True))]

    def rebuild(self, a: TensorArithmetic, value: ir.Value, padding: int) -> ir.Value:
        if not self.pads:
            return super().rebuild(a, value, padding)
        type_ = ir.RankedTensorType.get(self.result_shape, element_type(value))
        return tosa.PadOp(type_, value, self.operation.operands[1], a.splat(padding, element_type(value), 1)).output


@dataclass(frozen=True)
class _Convolution(Contraction):
    @property
    def takes_zero_points(self) -> bool:
        return True

    @property
    def pads(self) -> bool:
        # The windows at the borders of a transposed convolution are smaller, which for the zero point is the same.
        transposed = self.operation.name == "tosa.transpose_conv2d"
        return transposed or any(ir.DenseI64ArrayAttr(self.operation.attributes["pad"]))

    def of_weights(self, values: np.ndarray) -> np.ndarray:
        return values.reshape((1,) * (self.rank - 1) + (-1,))

    def build(self, a: TensorArithmetic, input: ir.Value, weights: ir.Value, input_zp: int, weight_zp: int) -> ir.Value:
        return self._convolve(a, self.result_type.shape, input, weights, input_zp, weight_zp)

    def _convolve(
        self,
        a: TensorArithmetic,
        shape: list[int],
        input: ir.Value,
        weights: ir.Value,
        input_zp: int,
        weight_zp: int,
    ) -> ir.Value:
        i32 = integer_type(32)
        bias = a.constant(np.zeros(shape[-1]), i32)
        zero_points = [a.splat(value, integer_type(8), 1) for value in (input_zp, weight_zp)]
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        attributes["acc_type"] = ir.TypeAttr.get(i32)
        operands = [input, weights, bias, *zero_points]
        result = ir.RankedTensorType.get(shape, i32)
        return ir.Operation.create(self.operation.name, [result], operands, attributes).result

    @property
    def sums_input(self) -> bool:
        """Not for several channels of a depthwise convolution that share one of the input."""
        shape = ir.RankedTensorType(self.weights.type).shape
        return self.operation.name != "tosa.depthwise_conv2d" or shape[3] == 1

    def sum_of_input(self, a: TensorArithmetic, input: ir.Value, input_zp: int) -> ir.Value:
        """The sums over windows are a convolution with weights of 1."""
        shape = list(ir.RankedTensorType(self.weights.type).shape)
        sums = ir.RankedTensorType(self.operation.results[0].type).shape
        if self.operation.name != "tosa.depthwise_conv2d":
            shape[0], sums[-1] = 1, 1
        ones = a.constant(np.ones(shape), integer_type(8))
        return self._convolve(a, sums, input, ones, input_zp, 0)


@dataclass(frozen=True)
class _MatMul(Product):
    @property
    def takes_zero_points(self) -> bool:
        return True

    @property
    def pads(self) -> bool:
        return False

    def of_weights(self, values: np.ndarray) -> np.ndarray:
        return values

    def of_input(self, a: TensorArithmetic, values: ir.Value) -> ir.Value:
        return values

    def sum_of_input(self, a: TensorArithmetic, input: ir.Value, input_zp: int) -> ir.Value:
        total = a.reduce_sum(a.extend(input, integer_type(32)), [2])
        return a.subtract(total, self.terms * input_zp) if input_zp else total

    def sum_of_weights(self, a: TensorArithmetic, weights: ir.Value) -> ir.Value:
        return a.reduce_sum(a.extend(weights, integer_type(32)), [1])

    def build(self, a: TensorArithmetic, input: ir.Value, weights: ir.Value, input_zp: int, weight_zp: int) -> ir.Value:
        zero_points = [a.splat(value, integer_type(8), 1) for value in (input_zp, weight_zp)]
        return tosa.MatMulOp(self.result_type, input, weights, *zero_points).output


class TosaDialect(Dialect):
    """TOSA."""

    contractions = (*_CONVOLUTIONS, "tosa.matmul")
    movements = "tosa.transpose", "tosa.reshape", "tosa.reverse", "tosa.slice", "tosa.pad"

    has_f64 = False
    concatenation = "tosa.concat"

    def __init__(self) -> None:
        self.arithmetic = TosaArithmetic()

    def match_contraction(self, operation: ir.Operation) -> Contraction | None:
        if not isinstance(element_type(operation.results[0]), ir.F32Type):
            return None
        input, weights = operation.operands[0], operation.operands[1]
        if operation.name == "tosa.matmul":
            return _MatMul(operation, input, weights, None, (1,))
        bias = operation.operands[2]
        constant = elements.constant_value(bias)
        bias = None if constant is not None and not constant.any() else bias
        rank = ir.RankedTensorType(weights.type).rank
        reduced = (0, 1) if operation.name == "tosa.depthwise_conv2d" else tuple(range(1, rank))
        return _Convolution(operation, input, weights, bias, reduced)

    def match_movement(self, operation: ir.Operation) -> Movement | None:
        if operation.name in ("tosa.transpose", "tosa.reshape", "tosa.reverse"):
            return TosaMovement(operation)
        shapes = [_shape(operand) for operand in list(operation.operands)[1:]]
        if operation.name == "tosa.slice":
            return TosaMovement(operation) if None not in shapes else None
        if operation.name == "tosa.pad":
            padding = elements.constant_value(operation.operands[2])
            return TosaMovement(operation) if padding is not None and not padding.any() else None
        return None

    def match_clamp(self, operation: ir.Operation) -> tuple[ir.Value, float, float] | None:
        if operation.name != "tosa.clamp" or not isinstance(element_type(operation.results[0]), ir.F32Type):
            return None
        low, high = (ir.FloatAttr(operation.attributes[name]).value for name in ("min_val", "max_val"))
        low, high = -math.inf if low <= -_GREATEST_F32 else low, math.inf if high >= _GREATEST_F32 else high
        return operation.operands[0], low, high

    def match_add(self, operation: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
        return (operation.operands[0], operation.operands[1]) if operation.name == "tosa.add" else None

    def add_float_bias(self, value: ir.Value, bias: ir.Value) -> ir.Value:
        a, rank = self.arithmetic, ir.RankedTensorType(value.type).rank
        constant = elements.constant_value(bias)
        extents = [1] * (rank - 1) + list(ir.RankedTensorType(bias.type).shape)
        if constant is not None:
            return a.add(value, a.constant(constant.reshape(extents), ir.F32Type.get()))
        return a.add(value, a.reshape(bias, extents))

    def add_bias(self, accumulator: ir.Value, bias: np.ndarray) -> ir.Value:
        a, i32 = self.arithmetic, integer_type(32)
        producer = None if isinstance(accumulator.owner, ir.Block) else accumulator.owner.operation
        along_channels = bias.size == bias.shape[-1]
        if producer is None or producer.name not in _CONVOLUTIONS or not along_channels or _users(accumulator) != 1:
            return a.add(accumulator, a.constant(bias, i32))
        channels = ir.RankedTensorType(accumulator.type).shape[-1]
        operands = list(producer.operands)
        operands[2] = a.constant(np.broadcast_to(bias.reshape(-1), channels), i32)
        attributes = {name: producer.attributes[name] for name in producer.attributes}
        return ir.Operation.create(producer.name, [accumulator.type], operands, attributes).result

    def check_rescale(self, multiplier: np.ndarray, shift: int, greatest: int) -> None:
        if multiplier.size != multiplier.shape[-1]:
            raise NoMatch("tosa.rescale has scales along the last dimension only")
        try:
            tosa_multiplier_and_shift(multiplier, shift, greatest)
        except ValueError as error:
            raise NoMatch(str(error)) from None

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
        a = self.arithmetic
        multipliers, shifts = tosa_multiplier_and_shift(multiplier.reshape(-1), shift, greatest)
        result = tosa.RescaleOp(
            ir.RankedTensorType.get(ir.RankedTensorType(accumulator.type).shape, storage),
            accumulator,
            a.tensor_constant(elements.from_numpy(multipliers)),
            a.tensor_constant(elements.from_numpy(shifts)),
            a.splat(0, integer_type(32), 1),
            a.splat(zero_point, storage, 1),
            scale32=True,
            rounding_mode=ir.Attribute.parse("#tosa.rounding_mode<SINGLE_ROUND>"),
            per_channel=multipliers.size > 1,
            input_unsigned=False,
            output_unsigned=False,
        ).output
        limits = -(1 << (storage.width - 1)), (1 << (storage.width - 1)) - 1
        return result if bounds == limits else a.clamp(result, *bounds)


def _users(value: ir.Value) -> int:
    return sum(1 for _ in value.uses)


def _shape(value: ir.Value) -> list[int] | None:
    """The constant shape that defines `value`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tosa.const_shape":
        return None
    return [int(size) for size in ir.DenseIntElementsAttr(value.owner.operation.attributes["values"])]
