# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between number types as in PyTorch; see `numerics.conversion`."""

from torch_mlir import ir

from torq_mlir.rewriting.float_steps import compute_type
from torq_mlir.rewriting.structured import integer_type

from .arithmetic import TensorArithmetic


def convert_element_type(a: TensorArithmetic, input: ir.Value, source: ir.Type, target: ir.Type) -> ir.Value:
    """The numbers of a tensor in another type.

    Args:
      input: integers are signless.
      source, target: element types; integers have their sign, i1 is a boolean.
    """
    if source == target:
        return input
    if isinstance(target, ir.IntegerType) and target.width == 1:
        return a.logical_not(a.equal(input, 0))
    if isinstance(source, ir.FloatType) and isinstance(target, ir.FloatType):
        return a.convert_float(input, target)
    if isinstance(source, ir.FloatType):
        # As PyTorch's own conversion, which takes this way for one of the narrow types only.
        wide = integer_type(64 if str(target) in ("si64", "ui8") else 32)
        value = a.round_toward_zero(a.convert_float(input, compute_type(source)))
        integer, fits = integer_of_float(a, value, wide)
        return a.resize(a.select(fits, integer, -(1 << (wide.width - 1))), integer_type(target.width))
    unsigned = not source.is_signed
    if isinstance(target, ir.FloatType):
        return a.convert_float(a.integer_to_float(input, compute_type(target), unsigned), target)
    return a.resize(input, integer_type(target.width), unsigned)


def integer_of_float(a: TensorArithmetic, value: ir.Value, target: ir.IntegerType) -> tuple[ir.Value, ir.Value]:
    """The integer that a float without a fraction is, or 0, and whether `target` holds it."""
    limit = 2.0 ** (target.width - 1)
    at_least = a.logical_not(a.greater(-limit, value))
    fits = a.bitwise_and(a.bitwise_and(at_least, a.greater(limit, value)), a.equal(value, value))
    return a.round_to_integer(a.select(fits, value, 0.0), target), fits
