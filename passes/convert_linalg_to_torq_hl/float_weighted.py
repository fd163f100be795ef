# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float contractions as weighted operations in bf16, with a constant bias that is added to them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.rewriting.accumulator import match_bias_add
from torq_mlir.rewriting.constant_folding import fold_floats
from torq_mlir.rewriting.contraction import QuantizedContraction, match_float_contraction
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.uses import only_user

from .accumulation import MOVEMENTS, Accumulation, Output, initial_bias
from .bf16 import AS_IT_IS, BFLOAT16, is_f32, narrow, widen
from .convolution import infer_window, match_convolution
from .product import match_product
from .requantize import constant


@dataclass(frozen=True)
class _FloatAccumulation(Accumulation):
    """A contraction of f32 with its bias."""

    def constant_weights(self) -> np.ndarray | None:
        weights = fold_floats(self.contraction.weights)
        return None if weights is None else weights.astype(BFLOAT16)

    def runtime_weights(self) -> ir.Value:
        return narrow(self.contraction.weights)

    def correction(self, weights: np.ndarray) -> np.ndarray:
        return np.zeros([s for d, s in enumerate(weights.shape) if d not in self.contraction.reduced_weight_dims])

    def operand(self, value: ir.Value) -> ir.Value:
        return narrow(value)

    def factor(self, value: ir.Value, zero_point: int) -> ir.Value:
        return narrow(value)


@dataclass(frozen=True)
class _FloatOutput(Output):
    """bf16, with the biases in f32 as scale_bias."""

    def scale_bias(self, accumulation: Accumulation, correction: np.ndarray) -> tuple[Callable[[], ir.Value], int]:
        return lambda: self._biases(accumulation, correction.size), 0

    def runtime_scale_bias(self, accumulation: Accumulation, channels: int):
        return lambda weights, channel_dim: self._biases(accumulation, channels), 0

    def single_pair(self, accumulation: Accumulation) -> tuple[np.ndarray, int]:
        if np.size(0 if accumulation.bias is None else accumulation.bias) != 1:
            raise NoMatch("a product of two run-time matrices has no bias for each channel")
        return np.array([0 if accumulation.bias is None else accumulation.bias.item()], np.float32), 0

    def _biases(self, accumulation: Accumulation, channels: int) -> ir.Value:
        bias = 0 if accumulation.bias is None else accumulation.bias
        return constant(np.ascontiguousarray(np.broadcast_to(np.asarray(bias, np.float32), (channels,))))


def convert_float_weighted(operation: ir.Operation, rewriter) -> object:
    """A contraction of f32, and a movement of its result and a constant bias where nothing else uses what is before."""
    contraction = match_float_contraction(operation)
    if contraction is None or not all(map(is_f32, operation.operands)):
        return NOT_MINE
    contraction = QuantizedContraction(
        contraction.operation, contraction.maps, contraction.input, contraction.weights, 0, 0
    )
    start = _FloatAccumulation(operation.results[0], contraction, None, None, None)
    try:
        accumulation, build = _match(_with_bias(_with_movement(start, only_user(start.value))))
    except NoMatch:  # what moves the result may have nothing to do with the contraction
        accumulation, build = _match(_with_bias(_with_movement(start, None)))
    last = accumulation.value.owner.operation
    with ir.InsertionPoint(last), fuse_locations([operation.location, last.location]):
        rewriter.replace_op(last, [widen(build())])
    return None


def _match(accumulation: _FloatAccumulation) -> tuple[_FloatAccumulation, Callable[[], ir.Value]]:
    """The accumulation, and a builder of its operation."""
    output = _FloatOutput(None, AS_IT_IS, ir.BF16Type.get())
    window = infer_window(accumulation.contraction)
    if window is None:
        build, channels = match_product(accumulation, output)
    else:
        build, channels = match_convolution(accumulation, output, window)
    if accumulation.bias_axis not in (None, channels):
        raise NoMatch("the bias runs along another dimension than the output channels")
    return accumulation, build


def _with_movement(accumulation: _FloatAccumulation, user: ir.Operation | None) -> _FloatAccumulation:
    """With the initial bias, and the collapse of groups or the transposition that `user`, the only one, is."""
    contraction = accumulation.contraction
    movement = user if user is not None and user.name in MOVEMENTS else None
    biases = initial_bias(contraction, movement)
    bias, axis = biases[0] if biases else (None, None)
    if isinstance(bias, ir.Value):
        bias = fold_floats(bias)
        if bias is None:
            raise NoMatch("the bias is not constant")
    value = accumulation.value if movement is None else movement.results[0]
    return _FloatAccumulation(value, contraction, movement, None if bias is None else np.asarray(bias), axis)


def _with_bias(accumulation: _FloatAccumulation) -> _FloatAccumulation:
    """With the addition of a constant bias that is the only use of the value."""
    user = only_user(accumulation.value)
    added = None if user is None or len(user.results) != 1 else match_bias_add(user.results[0])
    if added is None or added[0] != accumulation.value or accumulation.bias is not None:
        return accumulation
    bias = fold_floats(added[1])
    if bias is None:
        return accumulation
    return _FloatAccumulation(
        user.results[0], accumulation.contraction, accumulation.movement, bias.reshape(-1), added[2]
    )
