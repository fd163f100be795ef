# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of scalars between element types: integers saturate, floats round half to even."""

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from torq_mlir.rewriting.structured import convert_float, extend, integer_to_float, integer_type, scalar_constant

from .operands import Unsupported


def convert_element(value: ir.Value, target: ir.Type) -> ir.Value:
    """The value in the element type `target`. NaN becomes 0 in an integer type."""
    source = value.type
    if source == target:
        return value
    if target == integer_type(1):
        raise Unsupported(f"conversion from {source} to i1")
    boolean = source == integer_type(1)
    match isinstance(source, ir.IntegerType), isinstance(target, ir.IntegerType):
        case True, True:
            return extend(value, target, unsigned=True) if boolean else saturate(value, target)
        case True, False:
            return convert_float(integer_to_float(value, ir.F32Type.get(), unsigned=boolean), target)
        case False, True:
            return _round_to_integer(value, target)
        case _:
            return convert_float(value, target)


def saturate(value: ir.Value, target: ir.IntegerType) -> ir.Value:
    """A signed integer in the integer type `target`, or the bound of it that is nearest."""
    source = value.type
    if source.width <= target.width:
        return extend(value, target)
    least, greatest = -(1 << (target.width - 1)), (1 << (target.width - 1)) - 1
    value = arith.maxsi(value, scalar_constant(source, least))
    return arith.trunci(target, arith.minsi(value, scalar_constant(source, greatest)))


def _round_to_integer(value: ir.Value, target: ir.IntegerType) -> ir.Value:
    """Round half to even, and saturate; in f64, where the bounds of every target are exact."""
    double = ir.F64Type.get()
    value = math.roundeven(convert_float(value, double))
    value = arith.maximumf(value, scalar_constant(double, -(1 << (target.width - 1))))
    value = arith.minimumf(value, scalar_constant(double, (1 << (target.width - 1)) - 1))
    is_nan = arith.cmpf(arith.CmpFPredicate.UNO, value, value)
    return arith.fptosi(target, arith.select(is_nan, scalar_constant(double, 0), value))
