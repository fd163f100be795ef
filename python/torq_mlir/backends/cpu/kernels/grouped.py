# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of a matrix with weights that are quantized in groups of rows.

    y[m, n] = y[m, n] + (sum over the rows k of a group of x[m, k] * weight[k, n]) * scale       group after group

The lanes of a vector are columns, so that every element is summed up in the order of its definition. A tile of rows by
vectors of columns is in registers while the sum runs over all groups.
"""

import abc
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import vector

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    bitcast,
    buffer_type,
    divide,
    index,
    load,
    loop,
    maximum,
    minimum,
    scale,
    splat,
    store,
    vector_type,
)
from torq_mlir.backends.cpu.machine import Cpu

from .grouped_weights import Groups


class Grouped(abc.ABC):
    """A product.

    Attributes:
      rows: of the result.
      weights: as they are stored.
      tile_rows: rows of a tile.
      adds: to what is in a buffer; to 0 otherwise.
    """

    rows: int
    weights: Groups
    tile_rows: int
    adds: bool

    @property
    def products(self) -> int:
        return self.rows * self.weights.depth * self.weights.columns

    @property
    def row_tiles(self) -> int:
        return -(-self.rows // self.tile_rows)

    def tasks(self, cpu: Cpu) -> int:
        return self.weights.tiles(cpu) * self.row_tiles

    def of_result(self) -> list[ir.Type]:
        """Types of what is added to, and of the result."""
        return [buffer_type(self.rows * self.weights.columns, 32)] * (1 + self.adds)


class Tile(abc.ABC):
    """Code for a tile of rows and columns. Totals of row r and block b are at r * blocks + b.

    Attributes:
      w: buffer of the weights.
      rows: positions of the rows.
      float_type: of a vector.
    """

    def __init__(self, kernel: Grouped, cpu: Cpu, w: ir.Value, results: Sequence[ir.Value], task: Index) -> None:
        """Takes the buffers of the weights, of what is added to, and of the result."""
        self.kernel, self.weights, self.cpu, self.w = kernel, kernel.weights, cpu, w
        *self._initial, self._y = results
        self.tile, row_tile = divide(task, kernel.row_tiles)
        first = scale(row_tile, kernel.tile_rows)
        # The last tile computes its last row several times.
        self.rows = [minimum(add(first, r), kernel.rows - 1) for r in range(kernel.tile_rows)]
        self._column = scale(self.tile, self.weights.blocks * cpu.lanes)
        self.float_type = ir.VectorType.get([cpu.lanes], ir.F32Type.get())

    @abc.abstractmethod
    def sums(self, part: Index, first_row: Index) -> list[ir.Value]:
        """Of the products of a group.

        Args:
          part: where its weights are.
          first_row: of the group.
        """

    @abc.abstractmethod
    def scaled(self, sum_: ir.Value, scales: ir.Value, total: ir.Value) -> ir.Value:
        """`total + sum_ * scales`."""

    def emit(self) -> None:
        lanes, places = self.cpu.lanes, [(row, b) for row in self.rows for b in range(self.weights.blocks)]
        if not self.weights.has_scales:
            totals = self.sums(self.weights.part(self.cpu, self.tile, 0), 0)
        else:
            totals = [self.zero()] * len(places)
            if self._initial:
                (initial,) = self._initial
                totals = [self.as_float(load(initial, self._at(*each), lanes, self._valid(each[1]))) for each in places]
            totals = loop(0, self.weights.groups, self._group, totals)
        for place, total in zip(places, totals, strict=True):
            store(bitcast(total, 32), self._y, self._at(*place), self._valid(place[1]))

    def _group(self, group: Index, *totals: ir.Value) -> list[ir.Value]:
        part = self.weights.part(self.cpu, self.tile, group)
        sums = self.sums(part, scale(group, self.weights.size))
        blocks = range(self.weights.blocks)
        scales = [self.as_float(self.weights.scales(self.cpu, self.w, part, b)) for b in blocks] * len(self.rows)
        return [self.scaled(*each) for each in zip(sums, scales, totals, strict=True)]

    def zero(self) -> ir.Value:
        return self.as_float(splat(0, vector_type(self.cpu.lanes, 32)))

    def as_float(self, bits: ir.Value) -> ir.Value:
        return vector.bitcast(self.float_type, bits)

    def _at(self, row: Index, block: int) -> Index:
        return add(scale(row, self.weights.columns), self._column, block * self.cpu.lanes)

    def _valid(self, block: int) -> Index | None:
        """Columns of a vector that there are."""
        lanes, columns = self.cpu.lanes, self.weights.columns
        if columns % (self.weights.blocks * lanes) == 0:
            return None
        left = add(index(columns - block * lanes), scale(self._column, -1))
        return maximum(minimum(left, lanes), 0)
