# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of elementwise generics: dequantized values and constants, broadcast as numpy does."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.rewriting.constant_folding import fold_floats
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.qparams import Dequantize, match_dequantize
from torq_mlir.rewriting.scalar_body import Expression


@dataclass(frozen=True)
class Operand:
    """A dequantized value, or constants, or both.

    Attributes:
      constants: float64, in a shape that broadcasts with that of the result.
      is_whole: the operand has the shape of the result.
    """

    dequantize: Dequantize | None
    constants: np.ndarray | None
    is_whole: bool

    @property
    def is_number(self) -> bool:
        return self.constants is not None and self.constants.size == 1

    @property
    def width(self) -> int:
        """Bits of the integers of a dequantized value."""
        return ir.RankedTensorType(self.dequantize.input.type).element_type.width


def match_operand(generic: ir.Operation, expression: Expression) -> Operand | None:
    """What an expression in the body of a generic reads: one operand, or a constant; None for anything else."""
    match expression:
        case ("arith.extf", inner):
            return match_operand(generic, inner)
        case ("const", value) if not isinstance(value, bool):
            return Operand(None, np.asarray(value, np.float64), False)
        case ("arg", index) if index < len(generic.operands) - 1:
            value = generic.operands[index]
            constants, dequantize = fold_floats(value), match_dequantize(value)
            if constants is None and dequantize is None:
                return None
            check_broadcasts(generic, index)
            is_whole = map_of(generic, index) == map_of(generic, len(generic.operands) - 1)
            return Operand(dequantize, None if constants is None else constants.astype(np.float64), is_whole)
    return None


def map_of(generic: ir.Operation, index: int) -> ir.AffineMap:
    """The indexing map of an operand."""
    return ir.AffineMapAttr(ir.ArrayAttr(generic.attributes["indexing_maps"])[index]).value


def check_broadcasts(generic: ir.Operation, index: int) -> None:
    """Refuses an operand that does not broadcast as numpy's do, and a result in another order than the loops'."""
    affine_map, result = map_of(generic, index), map_of(generic, len(generic.operands) - 1)
    shape = ir.RankedTensorType(generic.operands[index].type).shape
    offset = affine_map.n_dims - len(shape)
    in_order = result == ir.AffineMap.get_identity(result.n_dims)
    if not in_order or not all(
        expression.position == d + offset if isinstance(expression, ir.AffineDimExpr) else size == 1
        for d, (expression, size) in enumerate(zip(affine_map.results, shape, strict=True))
    ):
        raise NoMatch("the operands do not broadcast over trailing dimensions")
