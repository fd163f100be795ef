# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scalar computation of a linalg.generic as an expression tree, to be matched with Python's `match`.

An expression is a tuple: `("arg", index)`, `("const", value)`, `("index", loop)`, `("arith.cmpf", predicate, lhs,
rhs)` or `(operation name, operand, ...)`. Values captured from outside the body are constants, or `("outer", value)`.
"""

import math
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from ..dialects import elements

Expression = tuple

# arith.cmpf predicates in the order of their enumeration.
_CMPF = [
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
]
_CMPI = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


def body_expression(generic: ir.OpView, result: int | None = None) -> Expression:
    """The expression that the body of a linalg.generic yields: for its only result, or for the one of that number."""
    block = generic.operation.regions[0].blocks[0]
    yielded = block.operations[len(block.operations) - 1].operands
    if result is None and len(yielded) != 1:
        return ("several results",)
    return _expression(yielded[result or 0], generic.operation)


def _expression(value: ir.Value, generic: ir.Operation) -> Expression:
    block = generic.regions[0].blocks[0]
    if isinstance(value.owner, ir.Block):
        return _argument(ir.BlockArgument(value).arg_number, generic) if value.owner == block else ("outer", value)
    operation = value.owner.operation
    constant = None if operation.name == "arith.truncf" else elements.constant_value(value)
    if constant is not None:
        return ("const", constant.item()) if constant.size == 1 else ("outer", value)
    if operation.block != block:
        return ("outer", value)
    if operation.name == "linalg.index":
        return ("index", ir.IntegerAttr(operation.attributes["dim"]).value)
    operands = tuple(_expression(operand, generic) for operand in operation.operands)
    if operation.name in ("arith.cmpf", "arith.cmpi"):
        names = _CMPF if operation.name == "arith.cmpf" else _CMPI
        return (operation.name, names[ir.IntegerAttr(operation.attributes["predicate"]).value], *operands)
    return (operation.name, *operands)


def _argument(index: int, generic: ir.Operation) -> Expression:
    """An argument; the constant itself when its operand is a constant of one element, read by every iteration."""
    constant = elements.constant_value(generic.operands[index])
    return ("arg", index) if constant is None or constant.size != 1 else ("const", constant.item())


_INTEGER_OPERATIONS = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.ceildivsi": lambda dividend, divisor: -(-dividend // divisor),
    "arith.index_cast": np.asarray,
}


def evaluate_indices(expression: Expression, shape: Sequence[int]) -> np.ndarray | None:
    """An integer expression of constants and loop indices, at every point of loops of `shape`; None for others."""
    match expression:
        case ("const", int(value)):
            return np.asarray(value)
        case ("index", loop):
            return np.arange(shape[loop]).reshape([-1 if d == loop else 1 for d in range(len(shape))])
        case (name, *operands) if name in _INTEGER_OPERATIONS:
            values = [evaluate_indices(operand, shape) for operand in operands]
            return None if any(value is None for value in values) else _INTEGER_OPERATIONS[name](*values)
    return None


def strip_clamp(expression: Expression) -> tuple[Expression, float, float]:
    """`x, lo, hi` of an expression that is `min(max(x, lo), hi)` in any spelling; infinities where there is no bound.

    What the expression does for NaN only is passed over.
    """
    low, high = -math.inf, math.inf
    while True:
        match expression:
            case ("arith.select", ("arith.cmpf", "uno", x, y), _, z) if x == y == z:
                expression = x
                continue
        bound = _bound(expression)
        if bound is None:
            return expression, low, high
        kind, expression, value = bound
        if kind == "max":  # clamp(max(x, v), low, high) = clamp(x, max(low, v), high), a constant if v > high
            low = min(max(low, value), high)
        else:
            high = max(min(high, value), low)


def named_extremum(expression: Expression) -> Expression:
    """`("max" | "min", lhs, rhs)` of an expression that is one, in any spelling; any other as it is."""
    match expression:
        case ("arith.maximumf" | "arith.maxnumf" | "arith.maxsi", lhs, rhs):
            return "max", lhs, rhs
        case ("arith.minimumf" | "arith.minnumf" | "arith.minsi", lhs, rhs):
            return "min", lhs, rhs
        case ("arith.select", ("arith.cmpf" | "arith.cmpi" as kind, predicate, lhs, rhs), taken, other):
            relation = predicate[-2:]
            if relation not in ("gt", "ge", "lt", "le") or (kind == "arith.cmpi" and predicate[0] == "u"):
                return expression
            if (taken, other) == (lhs, rhs):
                return "max" if relation in ("gt", "ge") else "min", lhs, rhs
            if (taken, other) == (rhs, lhs):
                return "max" if relation in ("lt", "le") else "min", lhs, rhs
    return expression


def _bound(expression: Expression) -> tuple[str, Expression, float] | None:
    match named_extremum(expression):
        case ("max" | "min" as kind, x, ("const", value)) | ("max" | "min" as kind, ("const", value), x):
            return kind, x, value
    return None
