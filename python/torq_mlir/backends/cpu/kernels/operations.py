# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of single elements, for `elementwise.Map`."""

import dataclasses
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.dot_product import dot_product
from torq_mlir.backends.cpu.emission import (
    Index,
    bitcast,
    buffer_type,
    integer,
    load,
    load_scalar,
    narrow,
    splat,
    vector_type,
    widen,
)
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.requantize import PARAMETERS, Requantizer, Rescale
from torq_mlir.backends.cpu.x86 import QUARTERS, pairs, saturated

from .elementwise import Operand

_BIAS = 128


def _signed(vector: ir.Value, operand: Operand) -> ir.Value:
    """The values of an operand as i32."""
    value = widen(vector, 32, unsigned=operand.biased)
    return arith.subi(value, splat(_BIAS, value.type)) if operand.biased else value


@dataclasses.dataclass(frozen=True)
class Copy:
    """The same values, stored as the output stores them."""

    width: int

    def lanes(self, cpu: Cpu) -> int:
        return cpu.lanes * 32 // self.width

    def arguments(self) -> list[ir.Type]:
        return []

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        (value,) = vectors
        if operands[0].biased == operands[1].biased:
            return value
        return arith.xori(value, splat(-_BIAS, value.type))


@dataclasses.dataclass(frozen=True)
class Add:
    """rescale(x1 * w1 + x2 * w2 + bias). The bias takes in what is added to stored values."""

    rescale: Rescale

    def lanes(self, cpu: Cpu) -> int:
        return cpu.lanes

    def arguments(self) -> list[ir.Type]:
        return [integer(32)] * (4 + PARAMETERS)

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        weights, (bias, multiplier), parameters = arguments[:2], arguments[2:4], arguments[4:]
        type_ = vector_type(ir.VectorType(vectors[0].type).shape[0], 32)
        total = splat(bias, type_)
        for vector, weight, operand in zip(vectors, weights, operands, strict=False):
            value = widen(vector, 32, unsigned=operand.biased)
            total = arith.addi(total, arith.muli(value, splat(weight, type_)))
        value = _requantizer(self.rescale, parameters, cpu, type_).apply(total, splat(multiplier, type_))
        return narrow(value, operands[-1].width)


@dataclasses.dataclass(frozen=True)
class AddBytes:
    """clamp((x1 * w1 + x2 * w2 + addend) >> shift) of stored bytes, on x86.

    Both weights have 16 bits and are in one word. The addend takes in the bias, the rounding and the zero point.
    """

    def lanes(self, cpu: Cpu) -> int:
        return QUARTERS * cpu.lanes

    def arguments(self) -> list[ir.Type]:
        return [*[integer(32)] * 3, *[integer(8)] * 2]

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        type_, dot = vector_type(cpu.lanes, 32), dot_product(cpu, 16)
        weights, addend, shift = (splat(each, type_) for each in arguments[:3])
        weights = bitcast(weights, 16)
        totals = [dot.accumulate(addend, (each,), (weights,)) for each in pairs(*vectors)]
        value = saturated([arith.shrsi(total, shift) for total in totals])
        low, high = (splat(each, ir.VectorType(value.type)) for each in arguments[3:])
        return arith.minui(arith.maxui(value, low), high)


@dataclasses.dataclass(frozen=True)
class Multiply:
    """rescale(x1 * x2 + bias)."""

    rescale: Rescale

    def lanes(self, cpu: Cpu) -> int:
        return cpu.lanes

    def arguments(self) -> list[ir.Type]:
        return [integer(32)] * (2 + PARAMETERS)

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        (bias, multiplier), parameters = arguments[:2], arguments[2:]
        x1, x2 = (_signed(vector, operand) for vector, operand in zip(vectors, operands, strict=False))
        total = arith.addi(arith.muli(x1, x2), splat(bias, x1.type))
        value = _requantizer(self.rescale, parameters, cpu, x1.type).apply(total, splat(multiplier, x1.type))
        return narrow(value, operands[-1].width)


@dataclasses.dataclass(frozen=True)
class MultiplyAdd:
    """rescale(x * weight + bias); weight, bias and multiplier are one, or one for each position of the innermost loop.

    Attributes:
      channels: length of the three buffers.
    """

    rescale: Rescale
    channels: int

    def lanes(self, cpu: Cpu) -> int:
        return cpu.lanes

    def arguments(self) -> list[ir.Type]:
        return [*[buffer_type(self.channels, 32)] * 3, *[integer(32)] * PARAMETERS]

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        parameters = arguments[3:]
        x = widen(vectors[0], 32, unsigned=operands[0].biased)
        lanes = ir.VectorType(x.type).shape[0]
        per_channel = self.channels > 1
        weight, bias, multiplier = (
            load(buffer, channel, lanes) if per_channel else splat(load_scalar(buffer, 0), x.type)
            for buffer in arguments[:3]
        )
        total = arith.addi(arith.muli(x, weight), bias)
        value = _requantizer(self.rescale, parameters, cpu, x.type).apply(total, multiplier)
        return narrow(value, operands[-1].width)


def _requantizer(rescale: Rescale, parameters: list[ir.Value], cpu: Cpu, type_: ir.VectorType) -> Requantizer:
    # One lane has no even and odd ones.
    return Requantizer(rescale, parameters, cpu.is_x86 and type_.shape[0] > 1)
