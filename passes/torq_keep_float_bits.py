# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-keep-float-bits: float arithmetic that a compiler which contracts and approximates computes to the same bits."""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from torq_mlir.execution import float_functions
from torq_mlir.rewriting.structured import scalar_constant

# What becomes of a product before anything could be added to it. Another product is no sum, and a conversion to a
# narrower type comes after the rounding.
_HARMLESS = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "arith": ("cmpf", "divf", "fptosi", "fptoui", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "truncf"),
        "math": ("absf", "ceil", "exp", "floor", "roundeven", "rsqrt", "sqrt", "trunc"),
    }.items()
    for name in names
)


def run(op: ir.Operation) -> None:
    """Rewrite functions and products inside `op`, except those of named operations of linalg."""
    for operation in _found(op, lambda each: each.name.startswith("math.") and _is_float(each)):
        with ir.InsertionPoint(operation), operation.location:
            value = float_functions.expand(operation)
        if value is not None:
            _replace(operation, value)
    for operation in _found(op, lambda each: each.name == "arith.mulf" and _may_be_added(each)):
        with ir.InsertionPoint(operation), operation.location:
            value = _uncontracted(operation)
        _replace(operation, value)


def _found(op: ir.Operation, condition: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    found = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if condition(operation.operation):
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return found


def _is_float(operation: ir.Operation) -> bool:
    return len(operation.results) == 1 and isinstance(operation.results[0].type, ir.FloatType)


def _may_be_added(product: ir.Operation) -> bool:
    """Whether a compiler can make one operation of it and of a sum."""
    (result,), parent = product.results, product.parent.operation
    if not isinstance(result.type, ir.F32Type | ir.F64Type):
        return False
    if parent.name.startswith("linalg.") and parent.name != "linalg.generic":
        return False
    return any(use.owner.operation.name not in _HARMLESS for use in result.uses)


def _replace(operation: ir.Operation, value: ir.Value) -> None:
    operation.results[0].replace_all_uses_with(value)
    operation.erase()


def _uncontracted(product: ir.Operation) -> ir.Value:
    """fma(a, b, +0), which is not taken apart; a * b itself where that is zero, for its sign."""
    first, second = product.operands
    zero = scalar_constant(first.type, 0)
    number = math.fma(first, second, zero)
    is_zero = arith.cmpf(arith.CmpFPredicate.OEQ, number, zero)
    return arith.select(is_zero, arith.mulf(first, second), number)
