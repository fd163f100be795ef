# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of one quantized tensor with a constant for each channel: a multiplier and a bias for each in an fma."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.elementwise_region import match_elementwise_region
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import element_type, integer_type

from .operands import match_operand
from .requantize import at_quantize, check_storage, constant, locations_of, multipliers, requantize, result_element

# A bias is rounded to this fraction of an input step.
_FINEST_WEIGHT = 1 << 14
# What the rounding of a bias may do to a result, in steps of the output.
_GREATEST_ERROR = 1 / 128
_I16 = {"output_min": -(1 << 15), "output_max": (1 << 15) - 1}


@dataclass(frozen=True)
class Affine:
    """`factor * value + offset` of a dequantized value, f64 arrays that broadcast against it."""

    dequantize: Dequantize
    factor: np.ndarray
    offset: np.ndarray
    operations: tuple[ir.Operation, ...] = ()

    def along_channels(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Both as f64 of one element, or of one for each channel; None if they vary along other dimensions."""
        shape = ir.RankedTensorType(self.dequantize.input.type).shape
        channel = 1 if len(shape) > 2 else len(shape) - 1
        factor, offset = np.broadcast_arrays(self.factor, self.offset)
        factor, offset = (
            np.asarray(values).reshape([1] * (len(shape) - factor.ndim) + list(factor.shape))
            for values in (factor, offset)
        )
        if any(size > 1 for d, size in enumerate(factor.shape) if d != channel):
            return None
        return factor.reshape(-1), offset.reshape(-1)


def match_affine(value: ir.Value) -> Affine | None:
    """The sums, differences, products and quotients with constants that end in `value`, of one dequantized value."""
    dequantize = match_dequantize(value)
    if dequantize is not None:
        return Affine(dequantize, np.float64(1.0), np.float64(0.0))
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("arith.addf" | "arith.subf" | "arith.mulf" | "arith.divf" as name, lhs, rhs):
            pass
        case _:
            return None
    for expression, other, is_left in ((lhs, rhs, True), (rhs, lhs, False)):
        inner = _inner(generic, expression)
        constants = None if inner is None else match_operand(generic, other)
        if constants is not None and constants.constants is not None and (is_left or name != "arith.divf"):
            return _applied(inner, name, constants.constants, is_left, generic)
    return None


def _inner(generic: ir.Operation, expression) -> Affine | None:
    """The run-time side, when it has the shape of the result."""
    match expression:
        case ("arg", index) if index < len(generic.operands) - 1:
            value = generic.operands[index]
            if ir.RankedTensorType(value.type).shape == ir.RankedTensorType(generic.results[0].type).shape:
                return match_affine(value)
    return None


def _applied(inner: Affine, name: str, constants: np.ndarray, is_left: bool, generic: ir.Operation) -> Affine | None:
    operations = (*inner.operations, generic)
    if name in ("arith.mulf", "arith.divf"):
        if name == "arith.divf" and not constants.all():
            return None
        scale = constants if name == "arith.mulf" else 1.0 / constants
        return Affine(inner.dequantize, inner.factor * scale, inner.offset * scale, operations)
    sign = 1.0 if name == "arith.addf" else -1.0
    if is_left:
        return Affine(inner.dequantize, inner.factor, inner.offset + sign * constants, operations)
    return Affine(inner.dequantize, sign * inner.factor, sign * inner.offset + constants, operations)


@at_quantize
def convert_affine(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(factor[c] * dequantize(x) + offset[c]))`."""
    affine = match_affine(clamped.value)
    if affine is None or not affine.operations or match_elementwise_region(quantize.input) is not None:
        return NOT_MINE
    along = affine.along_channels()
    if along is None:
        return NOT_MINE
    check_storage(quantize, [affine.dequantize])
    fma = _Fma.of(affine.dequantize, *along, float(quantize.scale))
    low, high = clamped.integer_bounds(quantize)
    output = {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high}
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *affine.operations):
        value = fma.build(affine.dequantize.input, result_element(quantize), output)
        rewriter.replace_op(quantize.operation, [value])
    return None


@dataclass(frozen=True)
class _Fma:
    """Weight, pairs and shift of an fma that computes `factor * (x - zero_point) * scale + offset` in output steps."""

    weight: int
    pairs: np.ndarray
    shift: int

    @classmethod
    def of(cls, dequantize: Dequantize, factor: np.ndarray, offset: np.ndarray, output_scale: float) -> "_Fma":
        """Raises NoMatch where the offset is not representable."""
        if not np.isfinite([factor, offset]).all():
            raise NoMatch("a constant is not finite")
        real_scale = factor * float(dequantize.scale) / output_scale
        bias = np.full(factor.shape, -float(dequantize.zero_point))
        weight = 1
        if offset.any():
            if not factor.all():
                raise NoMatch("a channel has the factor zero, and an offset")
            bias = offset / (factor * float(dequantize.scale)) - float(dequantize.zero_point)
            weight = _FINEST_WEIGHT
            while weight > 1 and np.abs(bias).max() * weight > 1 << 30:
                weight //= 2
            if np.abs(bias).max() > 1 << 30 or np.abs(real_scale).max() / (2 * weight) > _GREATEST_ERROR:
                raise NoMatch("an offset is too far from zero in steps of the input")
        factors, shift = multipliers(real_scale / weight)
        pairs = np.stack([np.rint(bias * weight).astype(np.int32), factors], axis=-1).reshape(-1)
        return cls(weight, pairs, shift)

    def build(self, x: ir.Value, element: ir.Type, output: dict[str, int]) -> ir.Value:
        return torq_hl.fma(
            constant(np.array([self.weight], np.int8 if self.weight == 1 else np.int16)),
            constant(self.pairs),
            x,
            shift_factor=self.shift,
            element_type=element,
            **output,
        )


@dataclass(frozen=True)
class _PRelu:
    """`x < 0 ? slopes * x : x`; the slopes are f64, of one element or one for each channel."""

    dequantize: Dequantize
    slopes: np.ndarray
    operations: tuple[ir.Operation, ...]


@at_quantize
def convert_prelu(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(clamp(x < 0 ? slope[c] * x : x))` of a dequantized x.

    It is the maximum of both branches where all slopes are at most 1, and the minimum where all are at least 1; each
    is computed in the parameters of the output. Others are the sum of the two halves of x.
    """
    prelu = _match_prelu(clamped.value)
    if prelu is None or match_elementwise_region(quantize.input) is not None:
        return NOT_MINE
    check_storage(quantize, [prelu.dequantize])
    if not np.isfinite(prelu.slopes).all():
        raise NoMatch("a slope is not finite")
    multipliers(np.append(prelu.slopes, 1.0) * prelu.dequantize.scale / quantize.scale)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *prelu.operations):
        if (prelu.slopes <= 1).all() or (prelu.slopes >= 1).all():
            value = _prelu_as_extremum(prelu, quantize, clamped)
        else:
            value = _prelu_as_sum(prelu, quantize, clamped)
        rewriter.replace_op(quantize.operation, [value])
    return None


_MINIMUM, _MAXIMUM = 4, 5


def _prelu_as_extremum(prelu: _PRelu, quantize: Quantize, clamped: Clamped) -> ir.Value:
    low, high = clamped.integer_bounds(quantize)
    output = {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high}
    fma = _Fma.of(prelu.dequantize, prelu.slopes, np.zeros_like(prelu.slopes), float(quantize.scale))
    scaled = fma.build(prelu.dequantize.input, result_element(quantize), output)
    kept = requantize(prelu.dequantize, quantize, clamped)
    op_type = _MAXIMUM if (prelu.slopes <= 1).all() else _MINIMUM
    return torq_hl.elementwisebinary(scaled, kept, op_type=op_type, element_type=result_element(quantize))


def _prelu_as_sum(prelu: _PRelu, quantize: Quantize, clamped: Clamped) -> ir.Value:
    """Positive part in output steps, and negative part times slope in output steps, in i16; one of them is 0."""
    dequantize, i16 = prelu.dequantize, integer_type(16)
    centered = Dequantize(dequantize.operation, dequantize.input, dequantize.scale, np.int64(0), None, False)
    ones, zeros = np.ones(1), np.zeros_like(prelu.slopes)
    identity = _Fma(1, np.array([-int(dequantize.zero_point), 1], np.int32), 0)
    negative = identity.build(
        dequantize.input, i16, {"output_zp": 0, "output_min": _I16["output_min"], "output_max": 0}
    )
    scaled = _Fma.of(centered, prelu.slopes, zeros, float(quantize.scale)).build(
        negative, i16, {"output_zp": 0, **_I16}
    )
    fma = _Fma.of(dequantize, ones, np.zeros(1), float(quantize.scale))
    positive = fma.build(dequantize.input, i16, {"output_zp": 0, "output_min": 0, "output_max": _I16["output_max"]})
    low, high = clamped.integer_bounds(quantize)
    return torq_hl.add(
        constant(np.ones(2, np.int16)),
        constant(np.array([0, 1], np.int32)),
        positive,
        scaled,
        name="add",
        output_zp=int(quantize.zero_point),
        output_min=low,
        output_max=high,
        shift_factor=0,
        element_type=result_element(quantize),
    )


def _match_prelu(value: ir.Value) -> _PRelu | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    select = value.owner.operation
    match body_expression(select):
        case ("arith.select", ("arg", condition), ("arg", taken), ("arg", other)):
            branches = [select.operands[taken], select.operands[other]]
        case _:
            return None
    compared = _match_sign(select.operands[condition])
    if compared is None:
        return None
    comparison, source, is_negative = compared
    if not is_negative:
        branches.reverse()
    scaled, kept = match_affine(branches[0]), match_dequantize(branches[1])
    if scaled is None or kept is None or scaled.offset.any() or not _same(scaled.dequantize, kept, source):
        return None
    along = scaled.along_channels()
    if along is None:
        raise NoMatch("the slopes vary along other dimensions than the channels")
    return _PRelu(kept, along[0], (comparison, *scaled.operations, select))


def _match_sign(value: ir.Value) -> tuple[ir.Operation, Dequantize, bool] | None:
    """`(comparison, x, whether it holds for negative x)` of a dequantized value that is compared with zero."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("arith.cmpf", kind, ("arg", 0) | ("arith.extf", ("arg", 0)), ("const", 0.0)) if kind[-2:] in (
            "lt",
            "le",
            "gt",
            "ge",
        ) and element_type(value) == integer_type(1):
            dequantize = match_dequantize(generic.operands[0])
            return dequantize and (generic, dequantize, kind[-2:] in ("lt", "le"))
    return None


def _same(*values: Dequantize) -> bool:
    parameters = [(x.input, float(x.scale), int(x.zero_point)) for x in values if x.per_tensor]
    return len(parameters) == len(values) and all(each == parameters[0] for each in parameters)
