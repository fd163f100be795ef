# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise float computation in bf16: an operation of the NPU for each step of a body."""

import math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.constant_folding import fold_floats
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.scalar_body import Expression, body_expression, named_extremum, strip_clamp

from .bf16 import BFLOAT16, act, added, clamp, is_f32, multiplied, narrow, scaled, widen
from .operands import check_broadcasts, map_of
from .requantize import constant

Build = Callable[[], ir.Value]
_EXTREMA = {"min": 4, "max": 5}
_ON_CONSTANTS = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
}
_UNARY = {"arith.negf": "negate", "math.absf": "abs", "math.tanh": "tanh"}


def convert_float_elementwise(operation: ir.Operation, rewriter) -> object:
    """Sums, products, extrema, activations made of them, tanh and sigmoid."""
    build = match_float_elementwise(operation)
    if build is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [widen(build())])
    return None


def match_float_elementwise(operation: ir.Operation) -> Build | None:
    """A builder of the computation of a generic in bf16; None where a step of it has no operation."""
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return None
    operands = list(operation.operands)
    if not all(map(is_f32, operands)) or any("reduction" in str(k) for k in operation.attributes["iterator_types"]):
        return None
    expression = _folded(body_expression(operation))
    if expression[0] in ("arg", "const"):
        return None
    try:
        for index, operand in enumerate(operands[:-1]):
            if fold_floats(operand) is None:
                check_broadcasts(operation, index)
    except NoMatch:
        return None
    shapes = [_shape(operation, index) for index in range(len(operands) - 1)]
    if list(np.broadcast_shapes(*shapes)) != ir.RankedTensorType(operands[-1].type).shape:
        return None
    return _match(operation, expression)


def _shape(generic: ir.Operation, index: int) -> tuple[int, ...]:
    """The shape of an operand; that of a constant with its dimensions where the result has them."""
    constants = _constants(generic, ("arg", index))
    return constants.shape if constants is not None else tuple(ir.RankedTensorType(generic.operands[index].type).shape)


def _constants(generic: ir.Operation, expression: Expression) -> np.ndarray | None:
    """The f32 values of an expression of constants, in a shape that broadcasts with that of the result."""
    match expression:
        case ("arg", index) if index < len(generic.operands) - 1:
            values = fold_floats(generic.operands[index])
            return None if values is None else _along_loops(values, map_of(generic, index))
        case ("const", float(number)):
            return np.float32(number)
        case (name, *operands) if name in _ON_CONSTANTS:
            values = [_constants(generic, operand) for operand in operands]
            with np.errstate(all="ignore"):
                return None if any(value is None for value in values) else np.float32(_ON_CONSTANTS[name](*values))
    return None


def _along_loops(values: np.ndarray, affine_map: ir.AffineMap) -> np.ndarray | None:
    loops = [e.position if isinstance(e, ir.AffineDimExpr) else None for e in affine_map.results]
    positions = [loop for loop in loops if loop is not None]
    if positions != sorted(positions) or any(
        loop is None and size != 1 for loop, size in zip(loops, values.shape, strict=True)
    ):
        return None
    sizes = dict(zip(loops, values.shape, strict=True))
    return values.reshape([sizes.get(loop, 1) for loop in range(affine_map.n_dims)])


def _match(generic: ir.Operation, expression: Expression) -> Build | None:
    """A builder of an expression in the body."""
    inner, low, high = strip_clamp(expression)
    if not (math.isinf(low) and math.isinf(high)):
        return _applied(generic, inner, lambda x: clamp(x, low, high))
    constants = None if expression[0] == "const" else _constants(generic, expression)
    if constants is not None:
        return lambda: constant(np.ascontiguousarray(constants).astype(BFLOAT16))
    match named_extremum(expression):
        case ("arg", index) if index < len(generic.operands) - 1:
            return lambda: narrow(generic.operands[index])
        case ("arith.divf", ("const", 1.0), ("arith.addf", a, b)) if (x := _exponent(a, b)) is not None:
            # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2
            return _applied(generic, x, lambda x: scaled(act("tanh", scaled(x, 0.5, 0.0)), 0.5, 0.5))
        case (name, x) if name in _UNARY:
            return _applied(generic, x, lambda x: act(_UNARY[name], x))
        case (("arith.mulf" | "arith.divf" | "arith.addf" | "arith.subf") as name, x, ("const", number)):
            return _with_number(generic, name, x, number)
        case (("arith.mulf" | "arith.addf") as name, ("const", number), x):
            return _with_number(generic, name, x, number)
        case ("arith.subf", ("const", number), x):
            return _applied(generic, x, lambda x: scaled(x, -1.0, number))
        case ("arith.mulf", x, y):
            return _applied(generic, x, multiplied, y)
        case (("arith.addf" | "arith.subf") as name, x, y):
            return _applied(generic, x, lambda x, y: added(x, y, 1 if name == "arith.addf" else -1), y)
        case (("min" | "max") as name, x, y):
            return _applied(generic, x, lambda x, y: torq_hl.elementwisebinary(x, y, op_type=_EXTREMA[name]), y)
    return None


def _folded(expression: Expression) -> Expression:
    """The expression with the conversions of its numbers, which PyTorch has in f64, done."""
    match expression:
        case ("arith.truncf", ("const", number)):
            return ("const", float(np.float32(number)))
        case (name, *operands) if name not in ("arg", "const", "outer", "index"):
            return (name, *(_folded(each) if isinstance(each, tuple) else each for each in operands))
    return expression


def _with_number(generic: ir.Operation, name: str, x: Expression, number: float) -> Build | None:
    if not math.isfinite(number) or (name == "arith.divf" and not number):
        return None
    factor = {"arith.mulf": number, "arith.divf": 1.0 / number if number else 1.0}.get(name, 1.0)
    bias = {"arith.addf": number, "arith.subf": -number}.get(name, 0.0)
    return _applied(generic, x, lambda x: scaled(x, factor, bias))


def _applied(
    generic: ir.Operation, x: Expression, function: Callable[..., ir.Value], *others: Expression
) -> Build | None:
    builders = [_match(generic, expression) for expression in (x, *others)]
    return None if None in builders else lambda: function(*(build() for build in builders))


def _exponent(a: Expression, b: Expression) -> Expression | None:
    """x of `exp(-x)` and 1, in any order."""
    for exponential, one in ((a, b), (b, a)):
        match exponential, one:
            case ("math.exp", ("arith.negf", x)), ("const", 1.0):
                return x
    return None
