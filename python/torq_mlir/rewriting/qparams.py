# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recognition of quantization and dequantization with constant parameters, as operations or as linalg generics."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch_mlir import ir

from ..dialects import elements
from .scalar_body import body_expression, strip_clamp


class Parameters(NamedTuple):
    """Scale (f64) and zero point (i64), 0-d or 1-d along `axis`; whether signless storage is unsigned."""

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None
    unsigned: bool


@dataclass(frozen=True)
class Dequantize:
    """`(input - zero_point) * scale`.

    Attributes:
      operation: the operation that dequantizes.
      input: integers, signless.
      scale: f64, 0-d, or 1-d along `axis`.
      zero_point: i64, 0-d, or 1-d along `axis`.
      axis: dimension of the channels; None when per tensor.
      unsigned: the signless input holds unsigned values.
    """

    operation: ir.Operation
    input: ir.Value
    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None
    unsigned: bool

    @property
    def per_tensor(self) -> bool:
        return self.axis is None


@dataclass(frozen=True)
class Quantize:
    """`clamp(round_half_even(input / scale) + zero_point, minimum, maximum)`; fields as in Dequantize.

    Attributes:
      divide: whether the input is divided by the scale, or multiplied by its reciprocal.
    """

    operation: ir.Operation
    input: ir.Value
    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None
    unsigned: bool
    minimum: int
    maximum: int
    divide: bool

    @property
    def per_tensor(self) -> bool:
        return self.axis is None

    def bound(self, value: float, otherwise: int) -> int:
        """The integer that a clamp of the float input at `value` becomes; `otherwise` for no clamp."""
        if math.isinf(value):
            return otherwise
        quantized = np.rint(np.float32(value) / np.float32(self.scale)) + int(self.zero_point)
        return int(np.clip(quantized, self.minimum, self.maximum))


def match_dequantize(value: ir.Value) -> Dequantize | None:
    """The dequantization with constant parameters that defines `value`."""
    if isinstance(value.owner, ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in ("quantized_decomposed.dequantize_per_tensor", "quantized_decomposed.dequantize_per_channel"):
        parameters = constant_parameters(operation)
        return parameters and Dequantize(operation, operation.operands[0], *parameters)
    if operation.name == "linalg.generic":
        return _match_dequantize_generic(operation)
    return None


def match_quantize(operation: ir.Operation) -> Quantize | None:
    """The quantization with constant parameters that `operation` performs."""
    operation = operation.operation
    if operation.name in ("quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel"):
        parameters = constant_parameters(operation)
        if parameters is None or "quant_min" not in operation.attributes:
            return None
        bounds = (ir.IntegerAttr(operation.attributes[name]).value for name in ("quant_min", "quant_max"))
        return Quantize(operation, operation.operands[0], *parameters, *bounds, "divide" in operation.attributes)
    if operation.name == "linalg.generic":
        return _match_quantize_generic(operation)
    return None


def constant_parameters(operation: ir.Operation) -> Parameters | None:
    """The parameters of a quantize_per_* or dequantize_per_* operation, when they are constant."""
    scale = elements.constant_value(operation.operands[1])
    zero_point = elements.constant_value(operation.operands[2])
    if scale is None or zero_point is None:
        return None
    unsigned = ir.IntegerType(ir.TypeAttr(operation.attributes["dtype"]).value).is_unsigned
    if unsigned and zero_point.dtype.kind == "i" and zero_point.dtype.itemsize <= 2:
        zero_point = zero_point.view(zero_point.dtype.str.replace("i", "u"))  # signless storage of an unsigned value
    axis = None
    if "axis" in operation.attributes:
        rank = ir.RankedTensorType(operation.operands[0].type).rank
        axis = ir.IntegerAttr(operation.attributes["axis"]).value % rank
    elif scale.size != 1 or zero_point.size != 1:
        return None
    shape = () if axis is None else (-1,)
    return Parameters(
        scale.astype(np.float64).reshape(shape), zero_point.astype(np.int64).reshape(shape), axis, unsigned
    )


def _match_dequantize_generic(generic: ir.Operation) -> Dequantize | None:
    expression = body_expression(generic)
    if expression[0] == "arith.truncf":
        expression = expression[1]
    scale = ("const", 1.0)  # MLIR folds a multiplication by one, and a division
    match expression:
        case ("arith.mulf", expression, scale):
            pass
    match expression:
        case ("arith.sitofp" | "arith.uitofp" as conversion, integer):
            pass
        case _:
            return None
    zero_point = ("const", 0)
    match integer:
        case ("arith.subi", integer, zero_point):
            pass
    unsigned = conversion == "arith.uitofp"
    match integer:
        case ("arith.extsi" | "arith.extui" as extension, ("arg", 0)):
            unsigned = unsigned or extension == "arith.extui"
        case ("arg", 0):
            pass
        case _:
            return None
    parameters = _generic_parameters(generic, scale, zero_point)
    return parameters and Dequantize(generic, generic.operands[0], *parameters, unsigned)


def _match_quantize_generic(generic: ir.Operation) -> Quantize | None:
    expression = body_expression(generic)
    match expression:
        case ("arith.fptosi" | "arith.fptoui" as conversion, clamped):
            pass
        case _:
            return None
    rounded, low, high = strip_clamp(clamped)
    zero_point = ("const", 0)
    match rounded:
        case ("arith.addf", rounded, zero_point):
            pass
    match rounded:
        case ("math.roundeven", ("arith.divf", ("arg", 0), scale)):
            divide = True
        case ("math.roundeven", ("arg", 0)):
            scale, divide = ("const", 1.0), True
        case ("math.roundeven", ("arith.mulf", ("arg", 0), ("const", reciprocal))):
            scale, divide = ("const", 1.0 / reciprocal), False
        case _:
            return None
    parameters = _generic_parameters(generic, scale, zero_point)
    if parameters is None or math.isinf(low) or math.isinf(high):
        return None
    unsigned = conversion == "arith.fptoui"
    return Quantize(generic, generic.operands[0], *parameters, unsigned, int(low), int(high), divide)


def _generic_parameters(generic: ir.Operation, scale, zero_point) -> tuple[np.ndarray, np.ndarray, int | None] | None:
    """Parameters from their expressions: a constant, or an argument whose operand is a constant along one axis."""
    axis = None
    values = []
    maps = ir.ArrayAttr(generic.attributes["indexing_maps"])
    if not _is_identity(maps[0]) or not _is_identity(maps[len(maps) - 1]):
        return None
    for expression, dtype in ((scale, np.float64), (zero_point, np.int64)):
        match expression:
            case ("const", value) | ("arith.truncf", ("const", value)):  # the scale itself, before it was rounded
                values.append(np.asarray(value, dtype))
            case ("arith.sitofp" | "arith.uitofp" | "arith.extsi" | "arith.extui" | "arith.extf" | "arg", *_):
                while expression[0] != "arg":
                    expression = expression[1]
                results = ir.AffineMapAttr(maps[expression[1]]).value.results if expression[0] == "arg" else ()
                constant = elements.constant_value(generic.operands[expression[1]])
                if constant is None or len(results) != 1 or not isinstance(results[0], ir.AffineDimExpr):
                    return None
                axis = ir.AffineDimExpr(results[0]).position
                values.append(constant.astype(dtype))
            case _:
                return None
    if axis is not None:
        length = max(value.size for value in values)
        values = [np.broadcast_to(value, (length,)) for value in values]
    return values[0], values[1], axis


def _is_identity(attribute: ir.Attribute) -> bool:
    affine_map = ir.AffineMapAttr(attribute).value
    return affine_map == ir.AffineMap.get_identity(affine_map.n_dims)
