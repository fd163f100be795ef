# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of float matrices.

    y[b, m, n] = 0 + sum over k of x[b, m, k] * w[b, k, n]        product and sum rounded, one k after the other

The lanes of a vector are columns, so that each sum keeps its order. A tile of rows by vectors of columns is in
registers while the sum runs. Matrices are read where they are; the columns of `w` and of the result are neighbours.
"""

import dataclasses
import math

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    index,
    load,
    load_scalar,
    loop,
    maximum,
    minimum,
    scale,
    store,
)
from torq_mlir.backends.cpu.machine import Cpu


@dataclasses.dataclass(frozen=True)
class Matrices:
    """Attributes:
    elements: of the buffer.
    origin: position of the first element.
    batch: distances of matrices, for each loop of the batch.
    row, column: distances within a matrix.
    """

    elements: int
    origin: int
    batch: tuple[int, ...]
    row: int
    column: int


@dataclasses.dataclass(frozen=True)
class FloatProduct:
    """Attributes:
    width: bits of an element.
    batch: sizes of the loops over matrices.
    rows, inner, columns: of a product.
    tile_rows, blocks: rows, and vectors of columns, of a tile.
    """

    width: int
    batch: tuple[int, ...]
    rows: int
    inner: int
    columns: int
    first: Matrices
    second: Matrices
    result: Matrices
    tile_rows: int
    blocks: int

    @property
    def name(self) -> str:
        return "float_product"

    @property
    def products(self) -> int:
        return math.prod(self.batch) * self.rows * self.inner * self.columns

    def lanes(self, cpu: Cpu) -> int:
        return cpu.lanes * 32 // self.width

    def _column_tiles(self, cpu: Cpu) -> int:
        return -(-self.columns // (self.blocks * self.lanes(cpu)))

    @property
    def _row_tiles(self) -> int:
        return -(-self.rows // self.tile_rows)

    def tasks(self, cpu: Cpu) -> int:
        return math.prod(self.batch) * self._column_tiles(cpu) * self._row_tiles

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        return [buffer_type(each.elements, self.width) for each in (self.first, self.second, self.result)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        task, row_tile = divide(task, self._row_tiles)
        task, column_tile = divide(task, self._column_tiles(cpu))
        matrices: list[Index] = [each.origin for each in (self.first, self.second, self.result)]
        for number in reversed(range(len(self.batch))):
            task, place = divide(task, self.batch[number])
            strides = (each.batch[number] for each in (self.first, self.second, self.result))
            matrices = [add(at, scale(place, stride)) for at, stride in zip(matrices, strides, strict=True)]
        # The last tile begins so that it ends with the last row.
        row = minimum(scale(row_tile, self.tile_rows), self.rows - self.tile_rows)
        column = scale(column_tile, self.blocks * self.lanes(cpu))
        _Tile(self, cpu, arguments, matrices, row, column).emit()


class _Tile:
    def __init__(self, kernel: FloatProduct, cpu: Cpu, buffers: list[ir.Value], matrices: list[Index], *place: Index):
        self.kernel, self.lanes, self.buffers = kernel, kernel.lanes(cpu), buffers
        self.row, self.column = place
        first, second, result = matrices
        self.first = add(first, scale(self.row, kernel.first.row))
        self.second = add(second, self.column)
        self.result = add(result, scale(self.row, kernel.result.row), self.column)
        self.element = ir.F32Type.get() if kernel.width == 32 else ir.F64Type.get()
        self.type = ir.VectorType.get([self.lanes], self.element)

    def emit(self) -> None:
        kernel = self.kernel
        zero = arith.constant(self.type, ir.DenseElementsAttr.get_splat(self.type, ir.FloatAttr.get(self.element, 0.0)))
        totals = loop(0, kernel.inner, self._step, [zero] * (kernel.tile_rows * kernel.blocks))
        for m in range(kernel.tile_rows):
            for b in range(kernel.blocks):
                value = arith.bitcast(self._integers(), totals[m * kernel.blocks + b])
                position = add(self.result, m * kernel.result.row + b * self.lanes)
                store(value, self.buffers[2], position, self._valid(b))

    def _integers(self) -> ir.VectorType:
        return ir.VectorType.get([self.lanes], ir.IntegerType.get_signless(self.kernel.width))

    def _valid(self, block: int) -> Index | None:
        """Columns of a block; None for all lanes."""
        kernel = self.kernel
        if kernel.columns % (kernel.blocks * self.lanes) == 0:
            return None
        left = add(index(kernel.columns - block * self.lanes), scale(self.column, -1))
        return maximum(minimum(left, self.lanes), 0)

    def _step(self, k: Index, *totals: ir.Value) -> list[ir.Value]:
        kernel, lanes = self.kernel, self.lanes
        at = add(self.second, scale(k, kernel.second.row))
        loaded = [load(self.buffers[1], add(at, b * lanes), lanes, self._valid(b)) for b in range(kernel.blocks)]
        weights = [arith.bitcast(self.type, each) for each in loaded]
        first, result = add(self.first, scale(k, kernel.first.column)), []
        for m in range(kernel.tile_rows):
            value = arith.bitcast(self.element, load_scalar(self.buffers[0], add(first, m * kernel.first.row)))
            x = vector.broadcast(self.type, value)
            for b in range(kernel.blocks):
                result.append(arith.addf(totals[m * kernel.blocks + b], arith.mulf(x, weights[b])))
        return result
