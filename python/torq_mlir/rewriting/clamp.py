# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReLU, ReLU6 and Clip on floats, which become the output bounds of an integer operation."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from .qparams import Quantize
from .scalar_body import body_expression, strip_clamp


@dataclass(frozen=True)
class Clamped:
    """`min(max(value, low), high)`, as a chain of generics.

    Attributes:
      value: what is clamped.
      low, high: bounds; infinite where there is none.
      operations: the clamping operations, first to last.
    """

    value: ir.Value
    low: float
    high: float
    operations: tuple[ir.Operation, ...]

    def integer_bounds(self, quantize: Quantize) -> tuple[int, int]:
        """`output_min` and `output_max`: rounding is monotonic, so the bounds may be quantized instead of the value."""
        return quantize.bound(self.low, quantize.minimum), quantize.bound(self.high, quantize.maximum)


def match_clamped(value: ir.Value) -> Clamped:
    """The clamps that end in `value`; none is fine."""
    low, high = -math.inf, math.inf
    operations: list[ir.Operation] = []
    while (bounds := _clamp(value)) is not None:
        operation = value.owner.operation
        low, high = min(max(bounds[0], low), high), max(min(bounds[1], high), low)
        operations.insert(0, operation)
        value = operation.operands[0]
    return Clamped(value, low, high, tuple(operations))


def _clamp(value: ir.Value) -> tuple[float, float] | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    expression, low, high = strip_clamp(body_expression(generic))
    if expression != ("arg", 0) or (math.isinf(low) and math.isinf(high)):
        return None
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    identity = ir.AffineMap.get_identity(maps[0].n_dims)
    return (low, high) if maps[0] == identity and maps[-1] == identity else None
