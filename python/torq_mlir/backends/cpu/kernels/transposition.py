# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies in which the elements that are neighbours in the source are not those that are neighbours in the result.

A square of elements is loaded row by row, transposed in registers, and stored column by column.
"""

import dataclasses
import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.emission import Index, add, buffer_type, divide, load, loop, minimum, scale, splat, store
from torq_mlir.backends.cpu.machine import Cpu

from .elementwise import Map, Operand
from .operations import Copy
from .row_reduction import transposed

# Rows and columns of a square of bytes or of 16 bits.
_SIDE = 16
# Fewer are copied one by one.
_FEWEST = 4


@dataclasses.dataclass(frozen=True)
class Transposition:
    """Attributes:
    outer: sizes of the loops around.
    rows, columns: sizes of the loops over neighbours in the result, and in the source.
    source, result: with strides for the outer loops, rows and columns.
    """

    outer: tuple[int, ...]
    rows: int
    columns: int
    source: Operand
    result: Operand

    @classmethod
    def of(cls, copy: Map) -> "Transposition | None":
        """The same as a copy that is no faster by other means."""
        if not isinstance(copy.operation, Copy) or copy.operation.width > 32 or len(copy.sizes) < 2:
            return None
        source, result = copy.operands
        if source.strides[-1] in (0, 1) or result.strides[-1] != 1 or 1 not in source.strides:
            return None
        inner = source.strides.index(1)
        if min(copy.sizes[-1], copy.sizes[inner]) < _FEWEST:
            return None
        order = [*(d for d in range(len(copy.sizes) - 1) if d != inner), len(copy.sizes) - 1, inner]
        *outer, rows, columns = (copy.sizes[d] for d in order)
        operands = (
            dataclasses.replace(each, strides=tuple(each.strides[d] for d in order)) for each in (source, result)
        )
        return cls(tuple(outer), rows, columns, *operands)

    @property
    def name(self) -> str:
        return "copy"

    @property
    def products(self) -> int:
        return 0

    def _side(self, cpu: Cpu) -> int:
        return cpu.lanes if self.source.width == 32 else _SIDE

    def tasks(self, cpu: Cpu) -> int:
        return math.prod(self.outer) * -(-self.columns // self._side(cpu))

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        return [buffer_type(each.elements, each.width) for each in (self.source, self.result)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        side = self._side(cpu)
        task, tile = divide(task, -(-self.columns // side))
        column = minimum(scale(tile, side), max(self.columns - side, 0))
        places = [self.source.origin, self.result.origin]
        operands = (self.source, self.result)
        for number in reversed(range(len(self.outer))):
            task, place = divide(task, self.outer[number])
            places = [add(at, scale(place, e.strides[number])) for at, e in zip(places, operands, strict=True)]
        start, end = (add(at, scale(column, e.strides[-1])) for at, e in zip(places, operands, strict=True))

        def square(row: Index) -> None:
            # The last square ends with the last row.
            row = minimum(row, max(self.rows - side, 0))
            source, result = add(start, scale(row, self.source.strides[-2])), add(end, row)
            self._square(arguments, source, result, side)

        loop(0, self.rows, square, step=side)

    def _square(self, arguments: list[ir.Value], source: Index, result: Index, side: int) -> None:
        rows, columns = min(self.rows, side), min(self.columns, side)
        loaded = [
            load(arguments[0], add(source, row * self.source.strides[-2]), side, columns if columns < side else None)
            for row in range(rows)
        ]
        loaded += loaded[-1:] * (side - rows)
        for column, value in enumerate(transposed(loaded)[:columns]):
            if self.source.biased != self.result.biased:
                value = arith.xori(value, splat(-128, value.type))
            position = add(result, column * self.result.strides[-1])
            store(value, arguments[1], position, rows if rows < side else None)
