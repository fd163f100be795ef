# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the weights of a compiled function stay as they are stored."""

import math
from collections.abc import Iterator

from torch_mlir import ir

# Fewer elements are parameters, or a constant that is added.
_FEWEST = 32


def expanded_weights(module: ir.Module) -> list[ir.Operation]:
    """Operations that make floats, or wider integers, of all elements of a constant matrix of integers of 8 bits."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "linalg.generic" and any(map(_is_wide, operation.results)):
            shape = list(operation.results[0].type.shape)
            if any(list(value.type.shape) == shape for value in _stored_weights(operation)):
                found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _is_wide(value: ir.Value) -> bool:
    element = value.type.element_type
    return not isinstance(element, ir.IntegerType) or element.width > 16


def _stored_weights(operation: ir.Operation) -> Iterator[ir.Value]:
    for value in operation.operands:
        if isinstance(value.owner, ir.Block) or value.owner.name != "arith.constant":
            continue
        type_ = value.type
        is_matrix = isinstance(type_, ir.RankedTensorType) and type_.rank > 1 and math.prod(type_.shape) >= _FEWEST
        if is_matrix and isinstance(type_.element_type, ir.IntegerType) and type_.element_type.width <= 8:
            yield value
