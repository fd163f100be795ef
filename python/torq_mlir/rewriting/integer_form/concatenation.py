# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantization of concatenated accumulators, what a grouped convolution is in TOSA, becomes one of each."""

import math

import numpy as np
from torch_mlir import ir, rewrite

from torq_mlir.rewriting.patterns import NOT_MINE

from .dialect import Dialect, Movement
from .requantize import match_chain, moved

_GREATEST = float(np.finfo(np.float32).max)


def distribute(dialect: Dialect, operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for `quantize_per_tensor`: movements and clamps may be in between."""
    found = _match(dialect, operation.operands[0])
    if found is None:
        return NOT_MINE
    concatenation, low, high, movements = found
    storage = ir.RankedTensorType(operation.results[0].type).element_type
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    others = list(operation.operands)[1:]
    with ir.InsertionPoint(operation), operation.location:
        parts = []
        for part in concatenation.operands:
            if not (math.isinf(low) and math.isinf(high)):
                part = dialect.arithmetic.clamp(part, max(low, -_GREATEST), min(high, _GREATEST))
            type_ = ir.RankedTensorType.get(ir.RankedTensorType(part.type).shape, storage)
            parts.append(ir.Operation.create(operation.name, [type_], [part, *others], attributes).result)
        type_ = ir.RankedTensorType.get(ir.RankedTensorType(concatenation.results[0].type).shape, storage)
        kept = {name: concatenation.attributes[name] for name in concatenation.attributes}
        whole = ir.Operation.create(concatenation.name, [type_], parts, kept).result
        rewriter.replace_op(operation, [moved(dialect, whole, movements)])
    return None


def _match(dialect: Dialect, value: ir.Value) -> tuple[ir.Operation, float, float, list[Movement]] | None:
    """The concatenation of accumulators that leads to `value`, bounds by clamps, and movements, first to last."""
    low, high = -math.inf, math.inf
    movements: list[Movement] = []
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name == dialect.concatenation:
            chains = [match_chain(dialect, each) for each in operation.operands]
            return None if None in chains else (operation, low, high, movements)
        movement, clamp = dialect.match_movement(operation), dialect.match_clamp(operation)
        if movement is not None and not movement.pads:
            movements.insert(0, movement)
            value = operation.operands[0]
        elif clamp is not None:
            value, inner_low, inner_high = clamp
            low, high = min(max(inner_low, low), high), max(min(inner_high, high), low)
        else:
            return None
    return None
