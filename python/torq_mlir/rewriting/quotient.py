# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Division by numbers that are known at compile time, as a mean divides a sum."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from .constant_folding import fold_counts
from .scalar_body import body_expression, evaluate_indices


@dataclass(frozen=True)
class Quotient:
    """`dividend / divisor`.

    Attributes:
      divisor: a number, or a whole number for each element that broadcasts to the result.
      operations: what divides, in order.
    """

    divisor: float | np.ndarray
    dividend: ir.Value
    operations: tuple[ir.Operation, ...]


def match_quotient(value: ir.Value) -> Quotient | None:
    """The division by a constant, or by a positive number for each position, that defines `value`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("arith.divf", ("arg", 0), ("const", divisor)) if divisor:
            return Quotient(divisor, generic.operands[0], (generic,))
        case ("arith.mulf", ("arg", 0), ("const", factor)) if factor:
            return Quotient(1.0 / factor, generic.operands[0], (generic,))
        case ("arith.divf", ("arg", 0), ("arith.sitofp", count)):
            counts = evaluate_indices(count, ir.RankedTensorType(value.type).shape)
            return _by_counts(generic, counts)
        case ("arith.divf", ("arg", 0), ("arg", 1)):
            return _by_fractions(generic)
    return None


def _by_counts(generic: ir.Operation, counts: np.ndarray | None) -> Quotient | None:
    if counts is None or counts.min(initial=1) <= 0:
        return None
    divisor = counts if counts.min() != counts.max() else float(counts.max())
    return Quotient(divisor, generic.operands[0], (generic,))


def _by_fractions(generic: ir.Operation) -> Quotient | None:
    """`(sum / K) / (count / K)`: torch-mlir's average over windows that reach beyond the padding."""
    mean, fraction = match_quotient(generic.operands[0]), match_quotient(generic.operands[1])
    if mean is None or fraction is None or mean.divisor != fraction.divisor:
        return None
    counts = fold_counts(fraction.dividend)
    quotient = None if counts is None else _by_counts(generic, counts)
    return quotient and Quotient(quotient.divisor, mean.dividend, (*mean.operations, generic))
