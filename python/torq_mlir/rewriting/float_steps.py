# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of a computation that each round to the type they have in PyTorch, at the current insertion point.

Half precision is computed in f32 and rounded after every step, which gives what arithmetic in its own type would.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from torq_mlir.rewriting.structured import convert_float, integer_to_float, scalar_constant


def compute_type(*element_types: ir.Type) -> ir.Type:
    """The type in which values of all these types are computed: f64 for an f64 among them, f32 otherwise."""
    wide = any(isinstance(element_type, ir.F64Type) for element_type in element_types)
    return ir.F64Type.get() if wide else ir.F32Type.get()


def promote_floats(first: ir.Type, second: ir.Type) -> ir.Type:
    """The type in which PyTorch computes with tensors of two floating-point types; f32 for f16 and bf16."""
    if first != second and first.width == second.width == 16:
        return ir.F32Type.get()
    return first if first.width >= second.width else second


def round_to(value: ir.Value, target: ir.Type) -> ir.Value:
    """Round to the precision of `target`, staying in the type of `value`."""
    return convert_float(convert_float(value, target), value.type)


def integer_in(value: ir.Value, element_type: ir.Type, unsigned: bool) -> ir.Value:
    """The integer as a value of a floating-point type, in its compute type."""
    return round_to(integer_to_float(value, compute_type(element_type), unsigned), element_type)


def float_to_integer(value: ir.Value, target: ir.IntegerType) -> ir.Value:
    """Towards zero; NaN and what `target` does not hold become its least value, as the instructions of x86-64 do."""
    limit = scalar_constant(value.type, 2.0 ** (target.width - 1))
    value = math.trunc(value)
    fits = arith.andi(
        arith.cmpf(arith.CmpFPredicate.OGE, value, arith.negf(limit)),
        arith.cmpf(arith.CmpFPredicate.OLT, value, limit),
    )
    converted = arith.fptosi(target, arith.select(fits, value, scalar_constant(value.type, 0)))
    return arith.select(fits, converted, scalar_constant(target, -(1 << (target.width - 1))))


def convert_element(value: ir.Value, source: ir.Type, target: ir.Type) -> ir.Value:
    """The value of a scalar in another number type, as PyTorch converts it.

    Args:
      value: integers are signless.
      source, target: element types; integers have their sign, i1 is a boolean.
    """
    if isinstance(target, ir.IntegerType) and target.width == 1:
        zero = scalar_constant(value.type, 0)
        if isinstance(source, ir.IntegerType):
            return arith.cmpi(arith.CmpIPredicate.ne, value, zero)
        return arith.cmpf(arith.CmpFPredicate.UNE, value, zero)
    if isinstance(source, ir.FloatType) and isinstance(target, ir.FloatType):
        return convert_float(value, target)
    if isinstance(source, ir.FloatType):
        # As PyTorch's own conversion, which takes this way for one of the narrow types only.
        wide = ir.IntegerType.get_signless(64 if str(target) in ("si64", "ui8") else 32)
        integer = float_to_integer(convert_float(value, compute_type(source)), wide)
        return _resize(integer, target.width, unsigned=False)
    unsigned = not source.is_signed
    if isinstance(target, ir.FloatType):
        return convert_float(integer_to_float(value, compute_type(target), unsigned), target)
    return _resize(value, target.width, unsigned)


def _resize(value: ir.Value, width: int, unsigned: bool) -> ir.Value:
    target = ir.IntegerType.get_signless(width)
    if value.type == target:
        return value
    if value.type.width > width:
        return arith.trunci(target, value)
    return arith.extui(target, value) if unsigned else arith.extsi(target, value)
