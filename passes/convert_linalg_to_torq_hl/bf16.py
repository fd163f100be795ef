# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and single operations in bf16."""

import ml_dtypes
import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.constant_folding import fold_floats
from torq_mlir.rewriting.structured import element_type

from .requantize import constant

BFLOAT16 = ml_dtypes.bfloat16
# Attributes of a result that is neither rescaled nor clamped.
AS_IT_IS = {"output_zp": 0, "output_min": 0, "output_max": 0}
_NO_BOUNDS = {"min_int": 0, "max_int": 0, "min_fp": 0.0, "max_fp": 0.0}
_MOST = float(np.finfo(np.float32).max)


def is_f32(value: ir.Value) -> bool:
    """Whether it is a tensor of f32, of a shape that is known."""
    return (
        isinstance(value.type, ir.RankedTensorType)
        and isinstance(element_type(value), ir.F32Type)
        and ir.RankedTensorType(value.type).has_static_shape
    )


def narrow(value: ir.Value) -> ir.Value:
    """A tensor of f32 in bf16; a constant at once."""
    constants = fold_floats(value)
    if constants is not None:
        return constant(constants.reshape(ir.RankedTensorType(value.type).shape).astype(BFLOAT16))
    return act("f2f", value, ir.BF16Type.get())


def widen(value: ir.Value) -> ir.Value:
    """A tensor of bf16 in f32."""
    return act("f2f", value, ir.F32Type.get())


def is_conversion(operation: ir.Operation, target: type) -> bool:
    """Whether it converts between the float types, to `target`."""
    return (
        operation.name == "torq_hl.act"
        and ir.StringAttr(operation.attributes["name"]).value == "f2f"
        and isinstance(element_type(operation.results[0]), target)
    )


def act(name: str, value: ir.Value, element: ir.Type | None = None, input_zp: int = 0) -> ir.Value:
    """A unary function, by default in the type of the value."""
    element = element or element_type(value)
    return torq_hl.act(value, name=name, input_zp=input_zp, output_zp=0, element_type=element, **_NO_BOUNDS)


def clamp(value: ir.Value, low: float, high: float) -> ir.Value:
    """`clamp(value, low, high)`; an infinite bound is none."""
    bounds = {"min_int": 0, "max_int": 0, "min_fp": max(low, -_MOST), "max_fp": min(high, _MOST)}
    return torq_hl.act(value, name="clamp", input_zp=0, output_zp=0, **bounds)


def scaled(value: ir.Value, factor: float, bias: float) -> ir.Value:
    """`value * factor + bias`."""
    return multiplied(value, constant(np.array([factor], np.float32).astype(BFLOAT16)), bias)


def multiplied(x1: ir.Value, x2: ir.Value, bias: float = 0.0) -> ir.Value:
    """`x1 * x2 + bias`."""
    return torq_hl.mul(constant(np.array([bias], np.float32)), x1, x2, shift=0, **AS_IT_IS)


def added(x1: ir.Value, x2: ir.Value, sign: int) -> ir.Value:
    """`x1 + sign * x2`."""
    return torq_hl.add(
        constant(np.array([1, sign], BFLOAT16)),
        constant(np.zeros(1, np.float32)),
        x1,
        x2,
        name="add" if sign > 0 else "sub",
        shift_factor=0,
        **AS_IT_IS,
    )
