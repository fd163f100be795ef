# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bias addition and dequantization of an i32 accumulator, as linalg generics: how they are built and recognised."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from ..dialects import elements
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
    if len(generic.operands) != 3 or not _adds_operands(generic):
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


def _adds_operands(generic: ir.Operation) -> bool:
    """Whether the body adds the elements of both inputs; a bias of one element is as good as any."""
    block = generic.regions[0].blocks[0]
    addition = block.operations[0].operation
    return (
        len(block.operations) == 2
        and addition.name in ("arith.addi", "arith.addf")
        and {ir.BlockArgument(v).arg_number for v in addition.operands if v.owner == block} == {0, 1}
    )


@dataclass(frozen=True)
class InitialValue:
    """What a contraction adds to.

    Attributes:
      bias: a 1-d tensor along `axis`, or the number that every element is; 0 for no bias.
      axis: dimension of the bias, in the shape before `expanded`; None for a number.
      expanded: the value is expanded to the shape of the contraction, which a collapse after it undoes.
    """

    bias: ir.Value | float
    axis: int | None
    expanded: bool


def match_initial_value(init: ir.Value) -> InitialValue | None:
    """The initial value of a contraction: filled with a number, or a repeated bias."""
    operation = None if isinstance(init.owner, ir.Block) else init.owner.operation
    expanded = operation is not None and operation.name == "tensor.expand_shape"
    if expanded:
        init = operation.operands[0]
        operation = None if isinstance(init.owner, ir.Block) else init.owner.operation
    if operation is not None and operation.name == "linalg.broadcast":
        added = list(ir.DenseI64ArrayAttr(operation.attributes["dimensions"]))
        kept = [d for d in range(ir.RankedTensorType(init.type).rank) if d not in added]
        return InitialValue(operation.operands[0], kept[0], expanded) if len(kept) == 1 else None
    filled = operation is not None and operation.name == "linalg.fill"
    constant = elements.constant_value(operation.operands[0] if filled else init)
    if constant is None or constant.size == 0 or constant.min() != constant.max():
        return None
    return InitialValue(constant.flat[0].item(), None, expanded)


def _along_axis(accumulator, operand, axis, element, body) -> ir.Value:
    rank = ir.RankedTensorType(accumulator.type).rank
    identity = ir.AffineMap.get_identity(rank)
    inputs, maps = [accumulator], [identity, identity]
    if operand is not None:
        inputs.append(operand)
        maps.insert(1, projection(rank, [axis]))
    init = empty_like(accumulator, element)
    return build_generic(inputs, init, maps, [PARALLEL] * rank, lambda *values: body(*values[:-1]))
