# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bias addition and dequantization of an i32 accumulator, as linalg generics: how they are built and recognised."""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from ..dialects import elements
from .scalar_body import body_expression
from .structured import PARALLEL, build_generic, empty_like, projection


def add_bias(accumulator: ir.Value, bias: ir.Value, axis: int) -> ir.Value:
    """`accumulator[.., c, ..] + bias[c]` with `c` along `axis`; both i32."""
    return _along_axis(accumulator, bias, axis, ir.RankedTensorType(accumulator.type).element_type, arith.addi)


def dequantize_accumulator(accumulator: ir.Value, scale: np.ndarray, axis: int | None) -> ir.Value:
    """`accumulator * scale` in f64, rounded to f32: an i32 and a product of two scales do not fit in f32.

    Args:
      accumulator: i32 tensor.
      scale: f64, 0-d, or 1-d along `axis`.
    """
    f32, f64 = ir.F32Type.get(), ir.F64Type.get()
    operand = None if axis is None else arith.constant(None, elements.from_numpy(scale.astype(np.float64)))

    def scaled(value: ir.Value, factor: ir.Value | None = None) -> ir.Value:
        factor = arith.constant(f64, float(scale)) if factor is None else factor
        return arith.truncf(f32, arith.mulf(arith.sitofp(f64, value), factor))

    return _along_axis(accumulator, operand, axis, f32, scaled)


def match_bias_add(value: ir.Value) -> tuple[ir.Value, ir.Value, int] | None:
    """`(accumulator, bias, axis)` of the addition of a 1-d bias that defines `value`, of integers or floats."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    if len(generic.operands) != 3:
        return None
    match body_expression(generic):
        case ("arith.addi" | "arith.addf", ("arg", 0), ("arg", 1)) | (
            "arith.addi" | "arith.addf",
            ("arg", 1),
            ("arg", 0),
        ):
            pass
        case _:
            return None
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    rank = ir.RankedTensorType(value.type).rank
    identity = ir.AffineMap.get_identity(rank)
    full, bias = (0, 1) if maps[0] == identity else (1, 0)
    positions = [e.position for e in maps[bias].results if isinstance(e, ir.AffineDimExpr)]
    if maps[full] != identity or maps[2] != identity or len(positions) != 1 or maps[bias] == identity:
        return None
    if any(e != 0 for e in maps[bias].results if isinstance(e, ir.AffineConstantExpr) for e in [e.value]):
        return None
    return generic.operands[full], generic.operands[bias], positions[0]


def _along_axis(accumulator, operand, axis, element, body) -> ir.Value:
    rank = ir.RankedTensorType(accumulator.type).rank
    identity = ir.AffineMap.get_identity(rank)
    inputs, maps = [accumulator], [identity, identity]
    if operand is not None:
        inputs.append(operand)
        maps.insert(1, projection(rank, [axis]))
    init = empty_like(accumulator, element)
    return build_generic(inputs, init, maps, [PARALLEL] * rank, lambda *values: body(*values[:-1]))
