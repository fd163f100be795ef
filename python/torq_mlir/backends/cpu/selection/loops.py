# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loops of an operation of linalg, and where its operands are read and written in them."""

import dataclasses
from collections.abc import Sequence

from torch_mlir import ir

from torq_mlir.backends.cpu.kernels.elementwise import Operand
from torq_mlir.backends.cpu.layout import Layout

# Loops of the operands of named operations.
_NAMED = {
    "linalg.batch_matmul": ("bmk", "bkn", "bmn"),
    "linalg.matmul": ("mk", "kn", "mn"),
}


@dataclasses.dataclass(frozen=True)
class Position:
    """An index of an operand: a sum of loops with factors, and a constant."""

    factors: tuple[int, ...]
    constant: int

    @property
    def loop(self) -> int | None:
        """The loop that it is, if it is nothing else."""
        loops = [d for d, factor in enumerate(self.factors) if factor]
        return loops[0] if len(loops) == 1 and self.factors[loops[0]] == 1 and not self.constant else None


@dataclasses.dataclass(frozen=True)
class Loops:
    """Attributes:
    sizes: of all loops.
    parallel, reductions: numbers of loops, in order.
    operands: for each, the positions in its dimensions.
    """

    sizes: tuple[int, ...]
    parallel: tuple[int, ...]
    reductions: tuple[int, ...]
    operands: tuple[tuple[Position, ...], ...]

    @classmethod
    def of(cls, operation: ir.Operation) -> "Loops | None":
        """None where an operand is no tensor of static shape, or an index is no sum of loops."""
        shapes = [value.type for value in operation.operands]
        if not all(isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in shapes):
            return None
        parsed = _named(operation) if operation.name in _NAMED else _generic(operation)
        if parsed is None:
            return None
        operands, kinds = parsed
        sizes = [0] * len(kinds)
        for positions, type_ in zip(operands, shapes, strict=True):
            for position, size in zip(positions, type_.shape, strict=True):
                if position.loop is not None:
                    sizes[position.loop] = size
        if not all(sizes):
            return None
        parallel, reductions = (tuple(d for d, each in enumerate(kinds) if each is kind) for kind in (True, False))
        return cls(tuple(sizes), parallel, reductions, operands)

    def stride(self, operand: int, layout: Layout, loop: int) -> int:
        """Elements from one iteration of a loop to the next."""
        positions = self.operands[operand]
        return sum(
            position.factors[loop] * layout.stride_of(d)
            for d, position in enumerate(positions)
            if layout.shape[d] > 1 and self.sizes[loop] > 1
        )

    def operand(self, number: int, layout: Layout, order: Sequence[int]) -> Operand:
        """How a kernel finds the elements, for loops in that order."""
        positions = self.operands[number]
        origin = layout.origin + sum(each.constant * layout.stride_of(d) for d, each in enumerate(positions))
        strides = tuple(self.stride(number, layout, loop) for loop in order)
        return Operand(layout.elements, 8 * layout.dtype.itemsize, layout.biased, origin, strides)

    def of_result(self) -> list[int | None] | None:
        """The loop that each dimension of the result is, None for one without a loop; None if one is something else."""
        positions = self.operands[-1]
        loops = [position.loop for position in positions]
        known = [loop for loop in loops if loop is not None]
        whole = all(each.loop is not None or not (each.constant or any(each.factors)) for each in positions)
        return loops if whole and len(set(known)) == len(known) else None


def _generic(operation: ir.Operation) -> tuple[tuple[tuple[Position, ...], ...], list[bool]] | None:
    maps = [ir.AffineMapAttr(each).value for each in operation.attributes["indexing_maps"]]
    kinds = ["parallel" in str(each) for each in operation.attributes["iterator_types"]]
    operands = []
    for each in maps:
        positions = [_position(expression, len(kinds)) for expression in each.results]
        if None in positions:
            return None
        operands.append(tuple(positions))
    return tuple(operands), kinds


def _named(operation: ir.Operation) -> tuple[tuple[tuple[Position, ...], ...], list[bool]] | None:
    if "indexing_maps" in operation.attributes and operation.name != "linalg.generic":
        maps = [ir.AffineMapAttr(each).value for each in operation.attributes["indexing_maps"]]
        if any(len(each.results) != len(loops) for each, loops in zip(maps, _NAMED[operation.name], strict=True)):
            return None
        count = maps[0].n_dims
        positions = [[_position(expression, count) for expression in each.results] for each in maps]
        if any(position is None for each in positions for position in each):
            return None
        results = {position.loop for position in positions[-1]}
        return tuple(map(tuple, positions)), [d in results for d in range(count)]
    names = "".join(dict.fromkeys("".join(reversed(_NAMED[operation.name]))))

    def position(name: str) -> Position:
        return Position(tuple(int(each == name) for each in names), 0)

    loops = _NAMED[operation.name]
    return tuple(tuple(map(position, each)) for each in loops), [name in loops[-1] for name in names]


def _position(expression: ir.AffineExpr, loops: int) -> Position | None:
    match expression:
        case ir.AffineDimExpr():
            return Position(tuple(int(d == expression.position) for d in range(loops)), 0)
        case ir.AffineConstantExpr():
            return Position((0,) * loops, expression.value)
        case ir.AffineAddExpr():
            terms = [_position(each, loops) for each in (expression.lhs, expression.rhs)]
            if None in terms:
                return None
            pairs = zip(terms[0].factors, terms[1].factors, strict=True)
            return Position(tuple(map(sum, pairs)), terms[0].constant + terms[1].constant)
        case ir.AffineMulExpr():
            left, right = (_position(each, loops) for each in (expression.lhs, expression.rhs))
            if left is None or right is None or any(right.factors):
                return None
            return Position(tuple(each * right.constant for each in left.factors), left.constant * right.constant)
        case _:
            return None
