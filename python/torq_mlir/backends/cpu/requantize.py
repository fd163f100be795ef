# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`clamp(floor((a * multiplier + 2^(shift - 1)) / 2^shift) + zero_point, minimum, maximum)` on vectors of i32.

numerics.md, section 4. The product has 64 bits. If the shift is 32 or more, the lower half of it serves for its carry
only: with products of even and odd lanes, what remains fits in 32 bits again. The zero point, multiplied by 2^shift, is
added together with the rounding where that fits.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from .emission import bitcast, integer, narrow, scalar, splat, vector_type, widen
from .x86 import saturated

# Stored zero points have at most 8 bits; with them, sums of 64 bits do not overflow up to this shift.
_LARGEST_FOLDED_SHIFT = 54


class Rescale(NamedTuple):
    """What is known when a kernel is made; the rest are its arguments.

    Attributes:
      is_high: the shift is 32 or more.
      is_folded: the zero point is added before the shift.
      is_unit: every multiplier is 1, and accumulators are far from the limits of i32; the shift is less than 32.
      is_whole: the range of the output is that of a stored byte, 0 to 255.
    """

    is_high: bool = False
    is_folded: bool = False
    is_unit: bool = False
    is_whole: bool = False

    @property
    def is_narrow(self) -> bool:
        """What is clamped has 32 bits."""
        return self.is_high or self.is_unit

    @classmethod
    def of(cls, multipliers: np.ndarray, parameters: Sequence[int], bound: int) -> "Rescale":
        """For constant multipliers, accumulators of at most that magnitude, and the arguments of the kernel."""
        shift, zero_point, low, high = parameters
        is_high = shift >= 32
        is_folded = is_high and shift <= _LARGEST_FOLDED_SHIFT and abs(zero_point) < 256
        is_unit = bool((multipliers == 1).all()) and shift < 31 and bound + (1 << max(shift - 1, 0)) < 1 << 31
        return cls(is_high, is_folded, is_unit, (low, high) == (0, 255))


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
        value = self._unclamped(total, multiplier)
        if value is None:
            return self._wide(total, multiplier)
        # There is an instruction that narrows to unsigned bytes with saturation.
        low, high = (0, 255) if self.rescale.is_whole else (self.minimum, self.maximum)
        return arith.minsi(arith.maxsi(value, splat(low, value.type)), splat(high, value.type))

    def bytes(self, totals: Sequence[ir.Value], multipliers: Sequence[ir.Value]) -> ir.Value:
        """Four vectors of i32 to one of stored bytes, in the order of `x86.saturated`; not of every `Rescale`."""
        values = [self._unclamped(*pair) for pair in zip(totals, multipliers, strict=True)]
        value = saturated([value for value in values if value is not None])
        if self.rescale.is_whole:
            return value
        low, high = (splat(arith.trunci(integer(8), each), value.type) for each in (self.minimum, self.maximum))
        return arith.minui(arith.maxui(value, low), high)

    def _unclamped(self, total: ir.Value, multiplier: ir.Value) -> ir.Value | None:
        """What is to be clamped, where it has 32 bits."""
        type_ = ir.VectorType(total.type)
        if self.rescale.is_unit:
            value = self._of_unit(total)
        elif self.rescale.is_high and self._little_endian:
            value = self._upper_half(total, multiplier)
            value = arith.shrsi(value, splat(arith.subi(self.shift, scalar(32, 32)), type_))
            if self.rescale.is_folded:
                return value
        else:
            return None
        return arith.addi(value, splat(self.zero_point, type_))

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
        addend = self._half()
        if self.rescale.is_folded:
            shift, zero_point = arith.extui(integer(64), self.shift), arith.extsi(integer(64), self.zero_point)
            addend = arith.addi(addend, arith.shli(zero_point, shift))
        by_32, addend = splat(32, type_), splat(addend, type_)

        def product(of_odd: bool) -> ir.Value:
            factors = (bitcast(value, 64) for value in (total, multiplier))
            if not of_odd:
                factors = (arith.shli(value, by_32) for value in factors)
            rounded = arith.addi(arith.muli(*(arith.shrsi(value, by_32) for value in factors)), addend)
            return bitcast(rounded, 32)

        upper = [1 + lane + which * lanes for lane in range(0, lanes, 2) for which in (0, 1)]
        return vector.shuffle(product(of_odd=False), product(of_odd=True), upper)

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
