# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a float to an integer of limited range, for every float."""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.rewriting.structured import scalar_constant


class StorageClamp:
    """Clamp to [quant_min, quant_max] in a float type and conversion to the storage type, defined for every float.

    Args:
      quant_min, quant_max: integers, or scalars of the type `compute` when known at run time only.
      storage_type: signless integer type.
      unsigned: it stores unsigned integers.
      compute: f32 or f64.

    Attributes:
      low: the lower bound, of type `compute`.
    """

    def __init__(
        self,
        quant_min: int | ir.Value,
        quant_max: int | ir.Value,
        storage_type: ir.IntegerType,
        unsigned: bool,
        compute: ir.Type,
    ) -> None:
        self.storage_type, self.unsigned = storage_type, unsigned
        least, greatest = storage_bounds(storage_type, unsigned)
        self.steps = []
        if isinstance(quant_min, ir.Value):
            self.steps.append([quant_min, quant_max])
        else:
            # As in PyTorch, the value is clamped to the floats next to the bounds.
            least, greatest = (min(max(_nearest(each, compute), least), greatest) for each in (quant_min, quant_max))
        # The limits of i32 need not be floats. The value to convert stays between floats that the type holds; a value
        # beyond one of these stands for the limit itself.
        bounds = [_round_toward_zero(bound, compute) for bound in (least, greatest)]
        self.steps.append([scalar_constant(compute, bound) for bound in bounds])
        self.low = self.steps[0][0]
        self.underflow, self.overflow = (
            None if bound == exact else scalar_constant(storage_type, exact)
            for bound, exact in zip(bounds, (least, greatest), strict=True)
        )

    def to_storage(self, value: ir.Value, not_a_number: ir.Value) -> ir.Value:
        """The stored integer for a float without a fraction; `not_a_number` replaces NaN."""
        for low, high in self.steps:
            unclamped = value
            value = arith.minimumf(arith.maximumf(value, low), high)
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, value, value)
        value = arith.select(is_nan, not_a_number, value)
        convert = arith.fptoui if self.unsigned else arith.fptosi
        result = convert(self.storage_type, value)
        predicates = arith.CmpFPredicate.OLT, arith.CmpFPredicate.OGT
        for exact, predicate, bound in zip((self.underflow, self.overflow), predicates, self.steps[-1], strict=True):
            if exact is not None:
                result = arith.select(arith.cmpf(predicate, unclamped, bound), exact, result)
        return result


def storage_bounds(storage_type: ir.IntegerType, unsigned: bool) -> tuple[int, int]:
    """The least and the greatest integer that a storage type holds."""
    width = storage_type.width
    return (0, (1 << width) - 1) if unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _nearest(value: int, compute: ir.Type) -> int:
    """The float of the type nearest to an integer, as an integer."""
    return int(np.float32(value) if isinstance(compute, ir.F32Type) else np.float64(value))


def _round_toward_zero(value: int, compute: ir.Type) -> int:
    """The float of the type nearest to the integer that is no farther from zero, as an integer."""
    precision = 24 if isinstance(compute, ir.F32Type) else 53
    excess = max(0, abs(value).bit_length() - precision)
    magnitude = abs(value) >> excess << excess
    return magnitude if value >= 0 else -magnitude
