# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The i32 value of an integer contraction with its bias, and what becomes of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements
from torq_mlir.numerics.bias import add_correction
from torq_mlir.numerics.rescale import multiplier_and_shift
from torq_mlir.numerics.zero_points import (
    INT32_MAX,
    accumulator_bound,
    fold_weight_zero_point,
    input_zero_point_correction,
)
from torq_mlir.rewriting.accumulator import match_bias_add, match_initial_value
from torq_mlir.rewriting.constant_folding import fold_integers
from torq_mlir.rewriting.contraction import QuantizedContraction, match_quantized_contraction
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.runtime_weights import (
    build_bias_sum,
    build_input_zero_point_correction,
    build_scale_bias,
    build_weight_with_zero_point,
)

from .requantize import center

MOVEMENTS = "tensor.collapse_shape", "linalg.transpose"


@dataclass(frozen=True)
class Accumulation:
    """The i32 `value` that a contraction, a movement of its result and a bias addition compute.

    Attributes:
      movement: a tensor.collapse_shape of groups or a linalg.transpose; None for neither.
      bias: constant integers along dimension `bias_axis` of the value, or a number for all; None for no bias.
    """

    value: ir.Value
    contraction: QuantizedContraction
    movement: ir.Operation | None
    bias: np.ndarray | None
    bias_axis: int | None

    def values(self) -> list[ir.Value]:
        """Every value from the contraction on."""
        moved = [] if self.movement is None else [self.movement.results[0]]
        return [self.contraction.result, *moved, self.value]

    def constant_weights(self) -> np.ndarray | None:
        """The weights with their zero point folded in; None when they are known at run time only."""
        weights = fold_integers(self.contraction.weights)
        return None if weights is None else fold_weight_zero_point(weights, self.contraction.weight_zp, None)

    def runtime_weights(self) -> ir.Value:
        """The weights as a value with their zero point removed."""
        return build_weight_with_zero_point(self.contraction.weights, self.contraction.weight_zp)

    def correction(self, weights: np.ndarray) -> np.ndarray:
        """What constant weights and the input zero point add to the bias, over the dimensions that are not reduced."""
        reduced = self.contraction.reduced_weight_dims
        return input_zero_point_correction(weights, self.contraction.input_zp, reduced)

    def check_range(self, output: "Output") -> None:
        """Refuses what could leave i32, as torq-fuse-quantized-ops does; IR of other sources comes here first."""
        contraction, reduced = self.contraction, self.contraction.reduced_weight_dims
        low, high = (limit - contraction.input_zp for limit in _limits(contraction.input))
        bias = int(np.abs(output.total_bias(self)).max(initial=0))
        shape = ir.RankedTensorType(contraction.weights.type).shape
        greatest = max(abs(limit - contraction.weight_zp) for limit in _limits(contraction.weights))
        bound = math.prod(shape[d] for d in reduced) * max(-low, high) * greatest + bias
        weights = self.constant_weights() if bound > INT32_MAX else None
        if weights is not None:
            bound = int(accumulator_bound(weights, low, high, 0, reduced).max(initial=0)) + bias
        if bound > INT32_MAX:
            raise NoMatch(f"the i32 accumulator of {contraction.operation.name} could reach {bound}")

    def operand(self, value: ir.Value) -> ir.Value:
        """The input, moved or not, as an operation takes it that has the zero point in its bias."""
        return value

    def factor(self, value: ir.Value, zero_point: int) -> ir.Value:
        """A run-time operand, as a product of two of them takes it: without its zero point."""
        return center(value, zero_point)


@dataclass(frozen=True)
class Output:
    """What becomes of an accumulator.

    Attributes:
      real_scale: f64, one or one for each channel; None to leave the accumulator as it is.
      attributes: output_zp, output_min and output_max.
      element: element type of the result.
      bias: integers to add besides the accumulation's own bias, one or one for each channel.
    """

    real_scale: np.ndarray | None
    attributes: dict[str, int]
    element: ir.Type
    bias: np.ndarray | int = 0

    def multiplier_and_shift(self) -> tuple[np.ndarray | int, int]:
        try:
            return (1, 0) if self.real_scale is None else multiplier_and_shift(self.real_scale)
        except ValueError as error:
            raise NoMatch(str(error)) from error

    def scale_bias(self, accumulation: Accumulation, correction: np.ndarray) -> tuple[Callable[[], ir.Value], int]:
        """A builder of the interleaved (bias, multiplier) pairs, and the shift.

        Args:
          correction: i64 of shape (channels,), the correction of the input zero point.
        """
        multiplier, shift = self.multiplier_and_shift()
        try:
            bias = add_correction(self.total_bias(accumulation), correction)
        except OverflowError as error:
            raise NoMatch(str(error)) from error
        pairs = np.empty((correction.size, 2), np.int32)
        pairs[:, 0], pairs[:, 1] = bias, multiplier
        return lambda: arith.constant(None, elements.from_numpy(pairs.reshape(-1))), shift

    def runtime_scale_bias(
        self, accumulation: Accumulation, channels: int
    ) -> tuple[Callable[[ir.Value, int], ir.Value], int]:
        """A builder of the pairs from the run-time weights and their channel dimension, and the shift."""
        multiplier, shift = self.multiplier_and_shift()
        bias = np.broadcast_to(self.total_bias(accumulation), (channels,))
        input_zp = accumulation.contraction.input_zp

        def build(weights: ir.Value, channel_dim: int) -> ir.Value:
            multipliers = np.broadcast_to(multiplier, (channels,))
            if input_zp == 0:
                pairs = np.stack([bias, multipliers], axis=-1).astype(np.int32)
                return arith.constant(None, elements.from_numpy(pairs.reshape(-1)))
            correction = build_input_zero_point_correction(weights, input_zp, channel_dim)
            return build_scale_bias(build_bias_sum(correction, bias), multipliers)

        return build, shift

    def single_pair(self, accumulation: Accumulation) -> tuple[np.ndarray, int]:
        """The (bias, multiplier) of an operation that has one pair, and the shift."""
        multiplier, shift = self.multiplier_and_shift()
        if np.size(multiplier) != 1:
            raise NoMatch("a product of two run-time matrices has one scale")
        bias = np.asarray(0 if accumulation.bias is None else accumulation.bias) + self.bias
        if bias.size != 1:
            raise NoMatch("a product of two run-time matrices has no bias for each channel")
        return np.array([bias.item(), np.asarray(multiplier).item()], np.int32), shift

    def total_bias(self, accumulation: Accumulation) -> np.ndarray:
        """The integers that are added to the accumulator, i32: one or one for each channel."""
        own = np.asarray(0 if accumulation.bias is None else accumulation.bias, np.int64)
        return add_correction(self.bias, own)


def match_accumulation(value: ir.Value) -> Accumulation | None:
    """The accumulation that ends in `value`."""
    accumulator, movement = value, None
    added = match_bias_add(accumulator)
    if added is not None:
        accumulator = added[0]
    if not isinstance(accumulator.owner, ir.Block) and accumulator.owner.operation.name in MOVEMENTS:
        movement = accumulator.owner.operation
        accumulator = movement.operands[0]
    contraction = match_quantized_contraction(accumulator)
    if contraction is None:
        return None
    if not isinstance(contraction.input_zp, int) or not isinstance(contraction.weight_zp, int):
        raise NoMatch("a zero point is not constant")
    biases = [] if added is None else [(added[1], added[2])]
    biases += initial_bias(contraction, movement)
    if len(biases) > 1:
        raise NoMatch("the accumulator has two biases")
    bias, axis = biases[0] if biases else (None, None)
    if isinstance(bias, ir.Value):
        bias = fold_integers(bias)
        if bias is None:
            raise NoMatch("the bias is not constant")
    return Accumulation(value, contraction, movement, None if bias is None else np.asarray(bias), axis)


def initial_bias(contraction: QuantizedContraction, movement: ir.Operation | None) -> list[tuple]:
    """The bias that the contraction starts from, along an axis of the moved result."""
    initial = match_initial_value(contraction.init)
    is_collapse = movement is not None and movement.name == "tensor.collapse_shape"
    if initial is None or (initial.axis is not None and initial.expanded != is_collapse):
        raise NoMatch("the initial value of the accumulator is neither a number nor a bias")
    if not isinstance(initial.bias, ir.Value):
        return [(initial.bias, None)] if initial.bias else []
    axis = initial.axis
    if movement is not None and movement.name == "linalg.transpose":
        axis = list(ir.DenseI64ArrayAttr(movement.attributes["permutation"])).index(axis)
    return [(initial.bias, axis)]


def _limits(value: ir.Value) -> tuple[int, int]:
    """The least and the greatest element that a tensor of signed integers can have."""
    width = ir.IntegerType(ir.RankedTensorType(value.type).element_type).width
    return -(1 << (width - 1)), (1 << (width - 1)) - 1
