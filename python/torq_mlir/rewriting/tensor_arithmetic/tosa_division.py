# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Division of floats in a dialect that has none, rounded as IEEE 754 rounds it.

The product with the reciprocal is off by up to two units in the last place. One step of Newton's method leaves it at
one of the two floats around the quotient; the remainder, which is a float (Dekker's product gives it exactly), then
tells which one is nearer. The quotient itself is never at the middle of two floats.

That holds for operands and quotients of magnitudes from 2^-100 to 2^100, in f64 from 2^-900 to 2^900. Elsewhere the
product stands, off by at most two units in the last place, and infinities and NaN are those of a division.
"""

import math
from typing import TYPE_CHECKING

from torch_mlir import ir

from torq_mlir.rewriting.structured import element_type

if TYPE_CHECKING:
    from .arithmetic import Operand
    from .tosa import TosaArithmetic

# A little more than two thirds of the distance to the next float, at both ends of a binade.
_STEP = 45 / 2**5


def divide(a: "TosaArithmetic", x: "Operand", y: "Operand") -> ir.Value:
    """x / y; one of them may be a number."""
    if not isinstance(y, ir.Value) and math.frexp(y)[0] in (0.5, -0.5):
        return a.multiply(x, 1 / y)
    if isinstance(x, ir.Value):
        y = y if isinstance(y, ir.Value) else a.splat(y, element_type(x), ir.RankedTensorType(x.type).rank)
    elif x == 1:
        x = a.splat(x, element_type(y), ir.RankedTensorType(y.type).rank)
    return _Division(a, x, y).quotient()


class _Division:
    def __init__(self, a: "TosaArithmetic", x: ir.Value, y: ir.Value) -> None:
        self.a, self.x, self.y = a, x, y
        self.precision, self.exponent = (53, 900) if isinstance(element_type(y), ir.F64Type) else (24, 100)
        self.divisor = a.absolute(y)
        self.divisor_parts = self._split(self.divisor)

    def quotient(self) -> ir.Value:
        a = self.a
        reciprocal = a.reciprocal(self.divisor)
        dividend = a.absolute(self.x)
        approximate = a.multiply(dividend, reciprocal)
        close = a.add(approximate, a.multiply(self._remainder(dividend, approximate), reciprocal))
        remainder = self._remainder(dividend, close)
        step = a.multiply(close, _STEP * 2.0**-self.precision)
        above, below = a.add(close, step), a.subtract(close, step)
        nearest = a.select(self._beyond_half(remainder, a.subtract(above, close)), above, close)
        nearest = a.select(self._beyond_half(a.negate(remainder), a.subtract(close, below)), below, nearest)
        magnitude = a.select(self._is_ordinary(dividend, approximate), nearest, approximate)
        negative = a.bitwise_xor(a.greater(0.0, self.x), a.greater(0.0, self.y))
        return a.select(negative, a.negate(magnitude), magnitude)

    def _beyond_half(self, remainder: ir.Value, distance: ir.Value) -> ir.Value:
        """Whether the quotient is more than half of the distance to the next float away."""
        return self.a.greater(remainder, self.a.multiply(self.a.multiply(distance, 0.5), self.divisor))

    def _remainder(self, dividend: ir.Value, quotient: ir.Value) -> ir.Value:
        """dividend - quotient * divisor, exactly."""
        a = self.a
        (high, low), (divisor_high, divisor_low) = self._split(quotient), self.divisor_parts
        product = a.multiply(quotient, self.divisor)
        error = a.subtract(a.multiply(high, divisor_high), product)
        error = a.add(error, a.multiply(high, divisor_low))
        error = a.add(error, a.multiply(low, divisor_high))
        error = a.add(error, a.multiply(low, divisor_low))
        return a.subtract(a.subtract(dividend, product), error)

    def _split(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Two floats of half the digits whose sum is the value."""
        a = self.a
        scaled = a.multiply(value, 2.0 ** ((self.precision + 1) // 2) + 1)
        high = a.subtract(scaled, a.subtract(scaled, value))
        return high, a.subtract(value, high)

    def _is_ordinary(self, *values: ir.Value) -> ir.Value:
        """Whether nothing overflows or underflows; not for NaN."""
        a = self.a
        limit = 2.0**self.exponent
        conditions = [
            condition
            for value in (*values, self.divisor)
            for condition in (a.greater(value, 1 / limit), a.greater(limit, value))
        ]
        result = conditions[0]
        for condition in conditions[1:]:
            result = a.bitwise_and(result, condition)
        return result
