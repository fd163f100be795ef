# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of floats as arithmetic, so that scalar and vector code, on every processor, gives the same bits.

exp, erf and tanh of f32 and narrower types are polynomials in f64, within 2e-11 of the exact value, which is rounded
once. A C library's have other last bits from one version to the next, and no vectors. Maxima and minima are LLVM's
intrinsics: -0 is less than 0, so that their order does not matter.
"""

import math
from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm
from torch_mlir.dialects import math as math_dialect

# exp(r) for |r| <= ln(2) / 2, and erf(x) / x in x^2 / 8 - 1 for |x| <= 4, interpolated at Chebyshev's nodes.
_EXP = (
    1.0,
    0.9999999999796227,
    0.49999999999796313,
    0.16666666892396495,
    0.041666666892307004,
    0.0083332658283135,
    0.0013888821408139453,
    0.00019916016440604505,
    2.487631345479937e-05,
)
_ERF = (
    0.35353099564340495,
    -0.1765762332142376,
    0.13167511686631903,
    -0.1077104489095233,
    0.0902089961907006,
    -0.07472772837517466,
    0.059886860225133925,
    -0.045766463466210563,
    0.03306107366347555,
    -0.022466263707243098,
    0.014347216896437105,
    -0.008629832983801853,
    0.004861257452313889,
    -0.0025306721064139617,
    0.001277072805758373,
    -0.0006727975797938545,
    0.0002951384370466126,
    -7.246152144638048e-05,
    3.2979383818983124e-05,
    -3.668360645354812e-05,
    1.2874054698224224e-05,
)
_TANH = (1.0, -1 / 3, 2 / 15, -17 / 315, 62 / 2835)
# Beyond these, results in f32 are 0, infinite, or 1.
_LEAST_EXPONENT, _MOST_EXPONENT = -110.0, 100.0
_ERF_IS_ONE, _TANH_IS_ONE = 4.0, 10.0
# Below this, exp(2 x) - 1 loses bits.
_TANH_SMALL = 0.1
_LONGEST_CHAIN = 6
# Added to a small f64, it leaves the nearest integer in the lower bits.
_TO_INTEGER = 1.5 * 2.0**52
_LN2 = math.log(2)
# Numbers that are the same wherever a function is.
CONSTANTS = frozenset((*_EXP, *_ERF, *_TANH, _TANH_SMALL, -_LN2, 1 / _LN2))


def _expanded(operation: ir.Operation) -> ir.Value | None:
    """The value of an operation on scalars, at the current insertion point; None for one that is not defined here."""
    name, operands = operation.name, list(operation.operands)
    if not isinstance(operands[0].type, ir.FloatType):
        return None
    if name in _EXTREMES:
        return _in_f32(_EXTREMES[name], operands) if operands[0].type.width <= 32 else _EXTREMES[name](*operands)
    return _in_f32(lambda x: _in_f64(_FUNCTIONS[name], x), operands) if operands[0].type.width <= 32 else None


def expand(module: ir.Module) -> None:
    """Replaces operations on scalars in a module.

    It comes before passes that fold constants, which they do as the C library would.
    """
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in _EXTREMES or operation.name in _FUNCTIONS:
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in found:
        with ir.InsertionPoint(operation), operation.location:
            value = _expanded(operation)
        if value is not None:
            operation.results[0].replace_all_uses_with(value)
            operation.erase()


def _exp(x: ir.Value) -> ir.Value:
    """exp(x) = 2^k exp(r) with r = x - k ln(2)."""
    x = _clamped(x, _LEAST_EXPONENT, _MOST_EXPONENT)
    shifter = _constant(_TO_INTEGER, x.type)
    shifted = arith.addf(arith.mulf(x, _constant(1 / _LN2, x.type)), shifter)
    rest = math_dialect.fma(arith.subf(shifted, shifter), _constant(-_LN2, x.type), x)
    integers = ir.IntegerType.get_signless(64)
    exponent = arith.shli(arith.bitcast(integers, shifted), _constant(52, integers))
    power = arith.bitcast(x.type, arith.addi(exponent, _constant(1023 << 52, integers)))
    return arith.mulf(_polynomial(_EXP, rest), power)


def _erf(x: ir.Value) -> ir.Value:
    x = _clamped(x, -_ERF_IS_ONE, _ERF_IS_ONE)
    square = arith.mulf(arith.mulf(x, x), _constant(0.125, x.type))
    return arith.mulf(x, _polynomial(_ERF, arith.subf(square, _constant(1.0, x.type))))


def _tanh(x: ir.Value) -> ir.Value:
    """(exp(2 x) - 1) / (exp(2 x) + 1)."""
    x = _clamped(x, -_TANH_IS_ONE, _TANH_IS_ONE)
    one, power = _constant(1.0, x.type), _exp(arith.addf(x, x))
    large = arith.divf(arith.subf(power, one), arith.addf(power, one))
    small = arith.mulf(x, _polynomial(_TANH, arith.mulf(x, x)))
    is_small = arith.cmpf(arith.CmpFPredicate.OLT, math_dialect.absf(x), _constant(_TANH_SMALL, x.type))
    return arith.select(is_small, small, large)


_FUNCTIONS: dict[str, Callable[[ir.Value], ir.Value]] = {"math.exp": _exp, "math.erf": _erf, "math.tanh": _tanh}
_EXTREMES: dict[str, Callable[..., ir.Value]] = {
    "arith.maximumf": lambda a, b: llvm.intr_maximum(a, b),
    "arith.minimumf": lambda a, b: llvm.intr_minimum(a, b),
}


def _polynomial(coefficients: Sequence[float], x: ir.Value) -> ir.Value:
    """The even and the odd powers by themselves, as long as there are many: short chains keep the processor busy."""
    if len(coefficients) > _LONGEST_CHAIN:
        square = arith.mulf(x, x)
        even, odd = (_polynomial(coefficients[start::2], square) for start in (0, 1))
        return math_dialect.fma(odd, x, even)
    total = _constant(coefficients[-1], x.type)
    for coefficient in coefficients[-2::-1]:
        total = math_dialect.fma(total, x, _constant(coefficient, x.type))
    return total


def _clamped(x: ir.Value, low: float, high: float) -> ir.Value:
    """NaN stays."""
    for bound, predicate in ((low, arith.CmpFPredicate.OLT), (high, arith.CmpFPredicate.OGT)):
        limit = _constant(bound, x.type)
        x = arith.select(arith.cmpf(predicate, x, limit), limit, x)
    return x


def _in_f32(function: Callable[..., ir.Value], operands: Sequence[ir.Value]) -> ir.Value:
    source, target = operands[0].type, ir.F32Type.get()
    if source == target:
        return function(*operands)
    return arith.truncf(source, function(*(arith.extf(target, operand) for operand in operands)))


def _in_f64(function: Callable[[ir.Value], ir.Value], x: ir.Value) -> ir.Value:
    return arith.truncf(x.type, function(arith.extf(ir.F64Type.get(), x)))


def _constant(value: float, type_: ir.Type) -> ir.Value:
    attribute = (ir.IntegerAttr if isinstance(type_, ir.IntegerType) else ir.FloatAttr).get(type_, value)
    return arith.constant(type_, attribute)
