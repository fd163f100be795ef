# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations of two operands between dequantizations and a quantization."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.numerics.addition import add_bias, add_weights, constant_scale
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize
from torq_mlir.rewriting.scalar_body import body_expression, named_extremum

from .operands import Operand, map_of, match_operand
from .requantize import (
    at_quantize,
    center,
    check_requantizable,
    check_storage,
    constant,
    locations_of,
    multiplier,
    quantized_constant,
    requantize,
    result_element,
)

_BITWISE_XOR = 2
_EXTREMA = {"min": 4, "max": 5}
_GREATEST_I16 = np.iinfo(np.int16).max


@dataclass(frozen=True)
class _Term:
    """Integers `(value - zero_point) * scale`, which `build` gives."""

    build: Callable[[], ir.Value]
    scale: float
    zero_point: int

    @classmethod
    def of(cls, dequantize: Dequantize) -> "_Term":
        return cls(lambda: dequantize.input, float(dequantize.scale), int(dequantize.zero_point))

    @classmethod
    def of_constants(cls, constants: np.ndarray, scale: float) -> "_Term":
        """Constants in i16."""
        integers = np.rint(constants / scale).astype(np.int16)
        return cls(lambda: constant(integers), scale, 0)


@at_quantize
def convert_add(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) +- dequantize(x2)))` with a scale for each of the three."""
    binary = match_binary(clamped.value, "arith.addf", "arith.subf")
    if binary is None:
        return NOT_MINE
    kind, generic, operands = binary
    inputs = _run_time(operands)
    check_storage(quantize, inputs)
    signs = (1, 1) if kind == "arith.addf" else (1, -1)
    try:
        terms = _addends(operands, float(quantize.scale))
        scales = [term.scale * sign for term, sign in zip(terms, signs, strict=True)]
        weights, shift = add_weights(*scales, float(quantize.scale))
    except ValueError as error:
        raise NoMatch(str(error)) from error
    bias = add_bias(weights, *(term.zero_point for term in terms))
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.add(
            constant(weights),
            constant(np.array([bias, 1], np.int32)),
            *(term.build() for term in terms),
            name="add" if kind == "arith.addf" else "sub",
            input_zp=0,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [value])
    return None


def _addends(operands: list[Operand], output_scale: float) -> list[_Term]:
    """Operands of an addition; constants in the scale that their weight represents best."""
    (scale, *_) = (float(operand.dequantize.scale) for operand in operands if operand.dequantize is not None)
    terms = []
    for operand in operands:
        if operand.dequantize is not None:
            terms.append(_Term.of(operand.dequantize))
        else:
            greatest = float(np.abs(operand.constants).max(initial=0.0))
            terms.append(_Term.of_constants(operand.constants, constant_scale(scale, output_scale, greatest)))
    return terms


@at_quantize
def convert_mul(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) * dequantize(x2)))`: zero points are removed by an fma that widens to i16.

    A division by constants is a product with their reciprocals.
    """
    binary = match_binary(clamped.value, "arith.mulf", "arith.divf")
    if binary is None:
        return NOT_MINE
    kind, generic, operands = binary
    if kind == "arith.divf":
        operands = [operands[0], _reciprocal(operands[1])]
    check_storage(quantize, _run_time(operands))
    terms = [_factor(operand) for operand in operands]
    factor, shift = multiplier(terms[0].scale * terms[1].scale / quantize.scale)
    if shift > np.iinfo(np.int8).max:
        raise NoMatch(f"the shift {shift} of the product does not fit in i8")
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.mul(
            constant(np.array([0, factor], np.int32)),
            *(center(term.build(), term.zero_point) for term in terms),
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [value])
    return None


def _reciprocal(divisor: Operand) -> Operand:
    if divisor.constants is None:
        raise NoMatch("the NPU has no division by a run-time value")
    if not divisor.constants.all():
        raise NoMatch("a divisor is zero")
    return Operand(None, 1.0 / divisor.constants, divisor.is_whole)


def _factor(operand: Operand) -> _Term:
    if operand.dequantize is not None:
        return _Term.of(operand.dequantize)
    greatest = float(np.abs(operand.constants).max(initial=0.0))
    return _Term.of_constants(operand.constants, greatest / _GREATEST_I16 if greatest else 1.0)


@at_quantize
def convert_extremum(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(max or min(dequantize(x1), dequantize(x2) ...)))`: all in the output's parameters, then compared.

    Any of them may be constant.
    """
    chain = _match_extrema(clamped.value)
    if chain is None:
        return NOT_MINE
    kind, generics, operands = chain
    inputs = _run_time(operands)
    check_storage(quantize, inputs)
    check_requantizable(quantize, inputs)
    element = result_element(quantize)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *generics):
        value, *others = (_in_output(operand, quantize, clamped) for operand in operands)
        for other in others:
            value = torq_hl.elementwisebinary(value, other, op_type=_EXTREMA[kind], element_type=element)
        rewriter.replace_op(quantize.operation, [value])
    return None


def _match_extrema(value: ir.Value) -> tuple[str, list[ir.Operation], list[Operand]] | None:
    """One extremum of two operands, or several of one kind in a row."""
    binary = match_binary(value, "max", "min", inner=True)
    if binary is None:
        return None
    kind, generic, operands = binary
    generics, flat = [generic], []
    for operand in operands:
        if isinstance(operand, Operand):
            flat.append(operand)
            continue
        inner = _match_extrema(operand)
        if inner is None or inner[0] != kind:
            raise NoMatch("an operand is not dequantized with constant parameters")
        generics[:0], flat = inner[1], [*flat, *inner[2]]
    return kind, generics, flat


def _in_output(operand: Operand, quantize: Quantize, clamped: Clamped) -> ir.Value:
    if operand.dequantize is None:
        return quantized_constant(operand.constants, quantize, clamped)
    return requantize(operand.dequantize, quantize, clamped)


def match_binary(
    value: ir.Value, *names: str, inner: bool = False
) -> tuple[str, ir.Operation, list[Operand | ir.Value]] | None:
    """A generic that applies one of `names` to dequantized values or constants, broadcast as numpy does.

    Args:
      inner: return operands that are computed in float as values instead of refusing them.
    """
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    result = map_of(generic, len(generic.operands) - 1)
    if result != ir.AffineMap.get_identity(result.n_dims):
        return None
    match named_extremum(body_expression(generic)):
        case (name, ("arg" | "const", _) as lhs, ("arg" | "const", _) as rhs) if name in names:
            pass
        case _:
            return None
    operands = [match_operand(generic, expression) for expression in (lhs, rhs)]
    for index, expression in enumerate((lhs, rhs)):
        if operands[index] is None:
            if not inner:
                raise NoMatch("an operand is not dequantized with constant parameters")
            operands[index] = generic.operands[expression[1]]
    known = [operand for operand in operands if isinstance(operand, Operand)]
    if any(operand.constants is not None and not np.isfinite(operand.constants).all() for operand in known):
        raise NoMatch("a constant is not finite")
    if len(known) == 2 and all(operand.constants is not None for operand in known):
        return None
    for number, other in (known, known[::-1]) if len(known) == 2 else ():
        if number.is_number and other.is_whole and other.constants is None and other.width == 8:
            if lhs[0] == "const" or rhs[0] == "const":
                return None
            raise NoMatch("an operand is a number: a table computes it exactly")
    return name, generic, operands


def _run_time(operands: list[Operand]) -> list[Dequantize]:
    return [operand.dequantize for operand in operands if operand.dequantize is not None]


def convert_bit_flip(operation: ir.Operation, rewriter) -> object:
    """Exclusive or with a constant, as it stays at the borders of a function with unsigned values."""
    if len(operation.operands) != 2 or not isinstance(operation.results[0].type.element_type, ir.IntegerType):
        return NOT_MINE
    match body_expression(operation):
        case ("arith.xori", ("arg", 0), ("const", bits)):
            pass
        case _:
            return NOT_MINE
    element = operation.results[0].type.element_type
    if element.width > 32:
        raise NoMatch(f"the operands are {element}; there are integers of 32 bits at most")
    with ir.InsertionPoint(operation), operation.location:
        shape = (1,) if ir.RankedTensorType(operation.results[0].type).rank else ()
        mask = constant(np.full(shape, bits, elements.numpy_dtype(element)))
        value = torq_hl.elementwisebinary(operation.operands[0], mask, op_type=_BITWISE_XOR, element_type=element)
        rewriter.replace_op(operation, [value])
    return None
