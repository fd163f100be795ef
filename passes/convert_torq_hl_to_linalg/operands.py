# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operands and attributes of a torq_hl operation are to the linalg that replaces it."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import (
    element_type,
    extend,
    index_constant,
    integer_type,
    scalar_constant,
    scalar_of,
)


class Unsupported(Exception):
    """The operation has no lowering; the message says why."""


class Rescale(NamedTuple):
    """`clamp(floor((accumulator * multiplier + 2^(shift - 1)) / 2^shift) + output_zp, output_min, output_max)`."""

    shift: int
    output_zp: int
    output_min: int
    output_max: int

    @classmethod
    def of(cls, attributes: SimpleNamespace, shift: int) -> "Rescale":
        return cls(shift, attributes.output_zp, attributes.output_min, attributes.output_max)

    def apply(self, accumulator: ir.Value, bias: ir.Value, multiplier: ir.Value, target: ir.IntegerType) -> ir.Value:
        """The output of an accumulator without bias, all integer scalars, in the type `target`."""
        wide = integer_type(64)
        value = arith.addi(extend(accumulator, wide), extend(bias, wide))
        value = arith.muli(value, extend(multiplier, wide))
        if self.shift >= 64:  # the product is at most 2^62 in magnitude: less than half of the divisor
            value = scalar_constant(wide, 0)
        elif self.shift > 0:
            value = arith.addi(value, scalar_constant(wide, 1 << (self.shift - 1)))
            value = arith.shrsi(value, scalar_constant(wide, self.shift))
        if self.output_zp:
            value = arith.addi(value, scalar_constant(wide, self.output_zp))
        value = arith.maxsi(value, scalar_constant(wide, self.output_min))
        value = arith.minsi(value, scalar_constant(wide, self.output_max))
        return arith.trunci(target, value)


class Pairs(NamedTuple):
    """Biases and multipliers: two 1-d tensors, one element for each channel, or two scalars for all channels."""

    bias: ir.Value
    multiplier: ir.Value

    @property
    def per_channel(self) -> bool:
        return isinstance(self.bias.type, ir.RankedTensorType)


def pairs(scale_bias: ir.Value) -> Pairs:
    """The two halves of an interleaved `scale_bias`, separated at compile time when it is constant."""
    if not isinstance(element_type(scale_bias), ir.IntegerType):
        raise Unsupported("floating-point scale_bias")
    size = ir.RankedTensorType(scale_bias.type).shape[0]
    constant = elements.constant_value(scale_bias)
    if constant is not None:
        halves = (constant[0::2], constant[1::2])
        if size == 2:
            return Pairs(*(scalar_constant(element_type(scale_bias), half.item()) for half in halves))
        return Pairs(*(arith.constant(None, elements.from_numpy(half)) for half in halves))
    if size == 2:
        return Pairs(*(tensor.extract(scale_bias, [index_constant(position)]) for position in (0, 1)))
    half = ir.RankedTensorType.get([size // 2], element_type(scale_bias))
    return Pairs(
        *(tensor.extract_slice(half, scale_bias, [], [], [], [position], [size // 2], [2]) for position in (0, 1))
    )


def weight_values(weights: ir.Value, count: int) -> list[ir.Value]:
    """The first `count` weights as scalars."""
    constant = elements.constant_value(weights)
    if constant is not None:
        return [scalar_constant(element_type(weights), value) for value in constant.reshape(-1)[:count].tolist()]
    if count == 1:
        return [scalar_of(weights)]
    return [tensor.extract(weights, [index_constant(position)]) for position in range(count)]


def accumulator_type(*inputs: ir.Type, weight: ir.Type) -> ir.IntegerType:
    """i32 for sums of products, which the producer of an operation keeps inside; i64 where one can need all 32 bits."""
    for factor in (*inputs, weight):
        if not isinstance(factor, ir.IntegerType):
            raise Unsupported(f"element type {factor}")
    return integer_type(32 if max(factor.width for factor in inputs) + weight.width <= 24 else 64)


def require_default(attributes: SimpleNamespace, *names: str) -> None:
    """Refuses attributes whose effect is not defined on tensors, unless they are zero or false."""
    for name in names:
        if getattr(attributes, name):
            raise Unsupported(f"{name} is {getattr(attributes, name)}")


def require_constant(value: ir.Value, name: str, expected: Sequence[int]) -> None:
    """Refuses an operand that is known to be other than what the equation of its operation takes for granted."""
    constant = elements.constant_value(value)
    if constant is not None and constant.reshape(-1).tolist() != list(expected):
        raise Unsupported(f"{name} is {constant.reshape(-1).tolist()}, not {list(expected)}")
