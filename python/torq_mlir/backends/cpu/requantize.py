# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`clamp(floor((a * multiplier + 2^(shift - 1)) / 2^shift) + zero_point, minimum, maximum)` on vectors of i32.

numerics.md, section 4. The product has 64 bits. If the shift is 32 or more, the lower half of it serves for its carry
only: with products of even and odd lanes, what remains fits in 32 bits again.
"""

from typing import NamedTuple

from torch_mlir import ir
from torch_mlir.dialects import arith

from .emission import bitcast, integer, narrow, scalar, splat, vector_type, widen


class Rescale(NamedTuple):
    """What is known when a kernel is made; the rest are its arguments.

    Attributes:
      is_high: the shift is 32 or more.
      is_unit: every multiplier is 1, and accumulators are far from the limits of i32; the shift is less than 32.
    """

    is_high: bool = False
    is_unit: bool = False

    @classmethod
    def of(cls, multipliers, shift: int, bound: int) -> "Rescale":
        """For constant multipliers and accumulators of at most that magnitude."""
        is_unit = bool((multipliers == 1).all()) and shift < 31 and bound + (1 << max(shift - 1, 0)) < 1 << 31
        return cls(shift >= 32, is_unit)


# Arguments of a kernel that rescales, all i32: shift, zero point, minimum and maximum.
PARAMETERS = 4


class Requantizer:
    """Rescales, in one kernel."""

    def __init__(self, rescale: Rescale, parameters: list[ir.Value], little_endian: bool = True) -> None:
        self.rescale = rescale
        self.shift, self.zero_point, self.minimum, self.maximum = parameters
        self._little_endian = little_endian

    def apply(self, total: ir.Value, multiplier: ir.Value) -> ir.Value:
        """Vectors of i32 to vectors of i32.

        The multiplier is not used where it is 1.
        """
        type_ = ir.VectorType(total.type)
        if self.rescale.is_unit:
            value = self._of_unit(total)
        elif self.rescale.is_high and self._little_endian:
            value = self._upper_half(total, multiplier)
            value = arith.shrsi(value, splat(arith.subi(self.shift, scalar(32, 32)), type_))
        else:
            return self._wide(total, multiplier)
        value = arith.addi(value, splat(self.zero_point, type_))
        return arith.minsi(arith.maxsi(value, splat(self.minimum, type_)), splat(self.maximum, type_))

    def _of_unit(self, total: ir.Value) -> ir.Value:
        type_ = ir.VectorType(total.type)
        half = arith.shrui(arith.shli(scalar(1, 32), self.shift), scalar(1, 32))
        return arith.shrsi(arith.addi(total, splat(half, type_)), splat(self.shift, type_))

    def _half(self) -> ir.Value:
        """2^(shift - 1) as i64; 0 for a shift of 0."""
        shift = arith.extui(integer(64), self.shift)
        return arith.shrui(arith.shli(scalar(1, 64), shift), scalar(1, 64))

    def _upper_half(self, total: ir.Value, multiplier: ir.Value) -> ir.Value:
        """Bits 32 to 63 of the rounded products."""
        lanes = ir.VectorType(total.type).shape[0]
        type_ = vector_type(lanes // 2, 64)
        by_32, half = splat(32, type_), splat(self._half(), type_)

        def product(of_odd: bool) -> ir.Value:
            factors = (bitcast(value, 64) for value in (total, multiplier))
            if not of_odd:
                factors = (arith.shli(value, by_32) for value in factors)
            return arith.addi(arith.muli(*(arith.shrsi(value, by_32) for value in factors)), half)

        upper = arith.andi(product(of_odd=True), splat(-(1 << 32), type_))
        return bitcast(arith.ori(arith.shrui(product(of_odd=False), by_32), upper), 32)

    def _wide(self, total: ir.Value, multiplier: ir.Value) -> ir.Value:
        """All of it in 64 bits."""
        type_ = vector_type(ir.VectorType(total.type).shape[0], 64)
        product = arith.muli(widen(total, 64), widen(multiplier, 64))
        product = arith.addi(product, splat(self._half(), type_))
        value = arith.shrsi(product, splat(arith.extui(integer(64), self.shift), type_))
        zero_point, low, high = (
            splat(arith.extsi(integer(64), each), type_) for each in (self.zero_point, self.minimum, self.maximum)
        )
        value = arith.minsi(arith.maxsi(arith.addi(value, zero_point), low), high)
        return narrow(value, 32)
