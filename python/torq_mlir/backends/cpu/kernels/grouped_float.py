# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations in float: each product is added with one rounding, one row of the weights after the other."""

import dataclasses

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math, vector

from torq_mlir.backends.cpu.dot_product import WORD
from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    bitcast,
    buffer_type,
    intrinsic,
    load,
    load_scalar,
    loop,
    scale,
    splat,
    widen,
)
from torq_mlir.backends.cpu.machine import Cpu

from .grouped import Grouped, Tile
from .grouped_weights import ROWS, Groups, position_in_word


@dataclasses.dataclass(frozen=True)
class GroupedFloat(Grouped):
    """Weights of 4 bits are words, those of 8 bits are there row after row."""

    rows: int
    weights: Groups
    tile_rows: int
    adds: bool

    @property
    def name(self) -> str:
        return "grouped_float"

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        source = buffer_type(self.rows * self.weights.depth, 32)
        return [source, self.weights.argument(cpu), *self.of_result()]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        _FloatTile(self, cpu, arguments, task).emit()


class _FloatTile(Tile):
    def __init__(self, kernel: GroupedFloat, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        self._x, w, *results = arguments
        super().__init__(kernel, cpu, w, results, task)
        packed = self.weights.bits == 4
        self._rows_of_step, self._step_bytes = (ROWS, 4 * cpu.lanes) if packed else (1, cpu.lanes)
        self._table = self._table_of_codes() if packed and cpu.name == "avx512-vnni" else None

    def sums(self, part: Index, first_row: Index) -> list[ir.Value]:
        blocks = range(self.weights.blocks)
        zeros = [self._zero_points(part, b) for b in blocks]
        codes = self.weights.codes(self.cpu, part)

        def step(k: Index, *totals: ir.Value, count: int = self._rows_of_step) -> list[ir.Value]:
            at = add(codes, scale(k, self.weights.blocks * self._step_bytes))
            first = add(first_row, scale(k, self._rows_of_step))
            stored = [self._load(add(at, b * self._step_bytes)) for b in blocks]
            totals = list(totals)
            for j in range(count):
                for b in blocks:
                    weight = self._weight(stored[b], j, zeros[b])
                    for r, row in enumerate(self.rows):
                        place = r * self.weights.blocks + b
                        totals[place] = math.fma(self._activation(row, add(first, j)), weight, totals[place])
            return totals

        whole, left = divmod(self.weights.size, self._rows_of_step)
        totals = loop(0, whole, step, [self.zero()] * (len(self.rows) * self.weights.blocks))
        return step(whole, *totals, count=left) if left else totals

    def scaled(self, sum_: ir.Value, scales: ir.Value, total: ir.Value) -> ir.Value:
        return math.fma(sum_, scales, total)

    def _load(self, position: Index) -> list[ir.Value]:
        """Codes of a step in a vector of columns, i32: of 4 bits, a word, or one from each byte of it on."""
        if self.weights.bits == 8:
            codes = load(self.w, position, self._step_bytes)
            return [widen(codes, 32, unsigned=not self.weights.is_signed)]
        # With one row, the units that shift would be the busiest ones; with more, those that load are.
        starts = range(WORD if self._table is not None and len(self.rows) == 1 else 1)
        return [bitcast(load(self.w, add(position, start), self._step_bytes), 32) for start in starts]

    def _weight(self, stored: list[ir.Value], row: int, zeros: ir.Value | None) -> ir.Value:
        """Of one row of a step."""
        codes, type_ = stored[row % len(stored)], stored[0].type
        if self._table is not None:  # the instruction reads the four lowest bits of an index
            position = position_in_word(row) - 8 * (row % len(stored))
            codes = arith.shrui(codes, splat(position, type_)) if position else codes
            value = intrinsic("llvm.x86.avx512.permvar.sf.512", self.float_type, self._table, codes)
        elif self.weights.bits == 4 and self.weights.is_signed:
            codes = arith.shli(codes, splat(28 - position_in_word(row), type_))
            value = arith.sitofp(self.float_type, arith.shrsi(codes, splat(28, type_)))
        elif self.weights.bits == 4:
            codes = arith.shrui(codes, splat(position_in_word(row), type_))
            value = arith.sitofp(self.float_type, arith.andi(codes, splat(15, type_)))
        else:
            value = arith.sitofp(self.float_type, codes)
        return value if zeros is None else arith.subf(value, zeros)

    def _activation(self, row: Index, column: Index) -> ir.Value:
        """An element of the input in all lanes."""
        element = load_scalar(self._x, add(scale(row, self.weights.depth), column))
        return vector.broadcast(self.float_type, arith.bitcast(ir.F32Type.get(), element))

    def _zero_points(self, part: Index, block: int) -> ir.Value | None:
        if self.weights.zero_point is None:
            stored = self.weights.zero_points(self.cpu, self.w, part, block)
            if self.weights.zero_bytes == 4:
                return self.as_float(stored)
            return arith.sitofp(self.float_type, widen(stored, 32))
        if self.weights.zero_point == 0 or self._table is not None:
            return None
        attribute = ir.FloatAttr.get(ir.F32Type.get(), self.weights.zero_point)
        return arith.constant(self.float_type, ir.DenseElementsAttr.get_splat(self.float_type, attribute))

    def _table_of_codes(self) -> ir.Value:
        """What each code of 4 bits is, less the zero point if there is one for all."""
        codes = np.arange(16)
        values = np.where(codes < 8, codes, codes - 16) if self.weights.is_signed else codes
        values = (values - (self.weights.zero_point or 0)).astype(np.float32)
        return arith.constant(self.float_type, ir.DenseElementsAttr.get(values, type=self.float_type))
