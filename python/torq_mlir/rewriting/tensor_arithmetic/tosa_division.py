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

from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import element_type

if TYPE_CHECKING:
    from .arithmetic import Operand
    from .tosa import TosaArithmetic

# A little more than two thirds of the distance to the next float, at both ends of a binade.
_STEP = 45 / 2**5


def divide(a: "TosaArithmetic", x: "Operand", y: "Operand") -> ir.Value:
    """x / y; one of them may be a number."""
    element = element_type(x if isinstance(x, ir.Value) else y)
    x, y = (
        each if isinstance(each, ir.Value) else a.splat(each, element, _rank(other)) for each, other in ((x, y), (y, x))
    )
    divisor = _Divisor(a, y)
    factor = divisor.as_factor()
    return _quotient(a, x, divisor) if factor is None else a.multiply(x, factor)


def _rank(value: "Operand") -> int:
    return ir.RankedTensorType(value.type).rank if isinstance(value, ir.Value) else 0


class _Divisor:
    """What is divided by, and what depends on it alone; constants where that is a constant."""

    def __init__(self, a: "TosaArithmetic", value: ir.Value) -> None:
        self.a, self.value, self.element = a, value, element_type(value)
        self.precision, self.exponent = (53, 900) if isinstance(self.element, ir.F64Type) else (24, 100)
        self.constant = elements.constant_value(value)
        if self.constant is None:
            self.magnitude = a.absolute(value)
            self.parts = self.split(self.magnitude)
            self.reciprocal = a.reciprocal(self.magnitude)
            return
        magnitude = np.abs(self.constant)
        with np.errstate(all="ignore"):
            scaled = magnitude * magnitude.dtype.type(self._splitter)
            high = scaled - (scaled - magnitude)
            parts = high, magnitude - high
            reciprocal = 1 / magnitude
        self.magnitude, self.reciprocal, *self.parts = (
            a.constant(each, self.element) for each in (magnitude, reciprocal, *parts)
        )

    @property
    def _splitter(self) -> float:
        return 2.0 ** ((self.precision + 1) // 2) + 1

    def as_factor(self) -> ir.Value | None:
        """The reciprocal of powers of two, with which a product is the quotient."""
        if self.constant is None or not np.all(np.abs(np.frexp(self.constant)[0]) == 0.5):
            return None
        with np.errstate(over="ignore"):
            factor = 1 / self.constant
        return self.a.constant(factor, self.element) if np.all(np.isfinite(factor)) else None

    def split(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Two floats of half the digits whose sum is the value."""
        a = self.a
        scaled = a.multiply(value, self._splitter)
        high = a.subtract(scaled, a.subtract(scaled, value))
        return high, a.subtract(value, high)

    def is_ordinary(self, *values: ir.Value) -> ir.Value:
        """Whether nothing overflows or underflows in a division with these magnitudes; not for NaN."""
        limit = 2.0**self.exponent
        if self.constant is None or not np.all((self.constant > 1 / limit) & (self.constant < limit)):
            values = (*values, self.magnitude)
        a, result = self.a, None
        for value in values:
            for condition in (a.greater(value, 1 / limit), a.greater(limit, value)):
                result = condition if result is None else a.bitwise_and(result, condition)
        return result

    def with_sign(self, dividend: ir.Value, magnitude: ir.Value) -> ir.Value:
        """A quotient with the sign that it has."""
        a = self.a
        negative = a.greater(0.0, dividend)
        if self.constant is None or np.any(self.constant < 0):
            negative = a.bitwise_xor(negative, a.greater(0.0, self.value))
        return a.select(negative, a.negate(magnitude), magnitude)


def _quotient(a: "TosaArithmetic", x: ir.Value, divisor: _Divisor) -> ir.Value:
    dividend = a.absolute(x)
    approximate = a.multiply(dividend, divisor.reciprocal)
    close = a.add(approximate, a.multiply(_remainder(a, dividend, approximate, divisor), divisor.reciprocal))
    remainder = _remainder(a, dividend, close, divisor)
    step = a.multiply(close, _STEP * 2.0**-divisor.precision)
    above, below = a.add(close, step), a.subtract(close, step)

    def is_beyond_half(remainder: ir.Value, distance: ir.Value) -> ir.Value:
        """Whether the quotient is more than half of the distance to the next float away."""
        return a.greater(remainder, a.multiply(a.multiply(distance, 0.5), divisor.magnitude))

    nearest = a.select(is_beyond_half(remainder, a.subtract(above, close)), above, close)
    nearest = a.select(is_beyond_half(a.negate(remainder), a.subtract(close, below)), below, nearest)
    magnitude = a.select(divisor.is_ordinary(dividend, approximate), nearest, approximate)
    return divisor.with_sign(x, magnitude)


def _remainder(a: "TosaArithmetic", dividend: ir.Value, quotient: ir.Value, divisor: _Divisor) -> ir.Value:
    """dividend - quotient * divisor, exactly."""
    (high, low), (divisor_high, divisor_low) = divisor.split(quotient), divisor.parts
    product = a.multiply(quotient, divisor.magnitude)
    error = a.subtract(a.multiply(high, divisor_high), product)
    error = a.add(error, a.multiply(high, divisor_low))
    error = a.add(error, a.multiply(low, divisor_high))
    error = a.add(error, a.multiply(low, divisor_low))
    return a.subtract(a.subtract(dividend, product), error)
