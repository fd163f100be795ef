# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsigned storage as signed storage: the highest bit of each element flipped."""

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements
from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.structured import element_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic

from .dialect import Dialect

OPERATIONS = "tosa.bitwise_xor", "stablehlo.xor"


def flip(a: TensorArithmetic, value: ir.Value) -> ir.Value:
    """Unsigned storage as signed storage, or the other way round; two flips are none."""
    source = flipped(value)
    return a.bitwise_xor(value, _highest(value)) if source is None else source


def flipped(value: ir.Value) -> ir.Value | None:
    """What a flip that defines `value` flips."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in OPERATIONS:
        return None
    operation = value.owner.operation
    bits = elements.constant_value(operation.operands[1])
    return operation.operands[0] if bits is not None and bits.size and np.all(bits == _highest(value)) else None


def cancel(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for OPERATIONS: two flips are none."""
    inner = flipped(operation.results[0])
    source = None if inner is None else flipped(inner)
    if source is None:
        return NOT_MINE
    rewriter.replace_op(operation, [source])
    return None


def move(dialect: Dialect, operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for movements: what is flipped and moved is moved and flipped, so that flips meet."""
    source = flipped(operation.operands[0])
    movement = None if source is None else dialect.match_movement(operation)
    if movement is None or movement.pads:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        moved = movement.rebuild(dialect.arithmetic, source, 0)
        rewriter.replace_op(operation, [flip(dialect.arithmetic, moved)])
    return None


def _highest(value: ir.Value) -> int:
    return -(1 << (element_type(value).width - 1))
