# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations of 8 bits: integer sums over a group, which are scaled and added up in f32.

    y[m, n] = y[m, n] + f32(sum of x[m, k] * weight[k, n] - zero point[m] * sum of weight[k, n]) * scale

Activations are stored plus 128, so that the second sum counts for 128 more.
"""

import dataclasses
from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.backends.cpu.dot_product import WORD, dot_product
from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    bitcast,
    buffer_type,
    integer,
    intrinsic,
    load,
    load_scalar,
    loop,
    scalar,
    scale,
    splat,
    vector_type,
    widen,
)
from torq_mlir.backends.cpu.machine import Cpu

from .grouped import Grouped, Tile
from .grouped_weights import ROWS, Groups

_BIAS = 128
# Of a product with which no sum of two saturates 16 bits: 2 * 255 * 64 < 2^15.
LARGEST_WEIGHT = 64


@dataclasses.dataclass(frozen=True)
class GroupedIntegers(Grouped):
    """Attributes:
    source_elements, source_row: of the buffer of the input, and distance of its rows. It has room for whole words after
      the last group.
    zero_points: of the input: one for each row, 1 for all, or 0 where there are none.
    """

    rows: int
    weights: Groups
    tile_rows: int
    adds: bool
    source_elements: int
    source_row: int
    zero_points: int

    @property
    def name(self) -> str:
        return "grouped_integers"

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        zero_points = [buffer_type(self.zero_points, 32)] if self.zero_points else []
        return [buffer_type(self.source_elements, 8), self.weights.argument(cpu), *zero_points, *self.of_result()]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        _IntegerTile(self, cpu, arguments, task).emit()


class _IntegerTile(Tile):
    def __init__(self, kernel: GroupedIntegers, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        self._x, w, *others = arguments
        zero_points, results = (others[:1], others[1:]) if kernel.zero_points else ([], others)
        super().__init__(kernel, cpu, w, results, task)
        self._type = vector_type(cpu.lanes, 32)
        self._factors = [self._minus_zero_point(zero_points, row) for row in self.rows]

    def sums(self, part: Index, first_row: Index) -> list[ir.Value]:
        blocks = range(self.weights.blocks)
        sums = [widen(self.weights.sums(self.cpu, self.w, part, b), 32) for b in blocks]
        totals = [arith.muli(sums[b], factor) for factor in self._factors for b in blocks]
        codes = self.weights.codes(self.cpu, part)
        if self.weights.bits == 4:
            return self._sums_of_words(part, codes, first_row, totals)
        dot = dot_product(self.cpu)

        def step(k: Index, *totals: ir.Value) -> list[ir.Value]:
            at = add(codes, scale(k, self.weights.blocks * dot.step))
            w = [dot.weights(self.w, add(at, b * dot.step)) for b in blocks]
            position = add(first_row, scale(k, WORD))
            xs = [dot.activations(self._x, self._place(row, position)) for row in self.rows]
            return self._added(totals, xs, w, dot.accumulate)

        return loop(0, -(-self.weights.size // WORD), step, totals)

    def _sums_of_words(self, part: Index, codes: Index, first_row: Index, totals: list[ir.Value]) -> list[ir.Value]:
        blocks, bytes_ = range(self.weights.blocks), WORD * self.cpu.lanes
        nibbles = _Nibbles(self.cpu)
        zeros = [self._zero_points_of_codes(part, b) for b in blocks]

        def step(k: Index, *totals: ir.Value, rows: int = ROWS) -> list[ir.Value]:
            at = add(codes, scale(k, self.weights.blocks * bytes_))
            stored = [bitcast(load(self.w, add(at, b * bytes_), bytes_), 32) for b in blocks]
            for half in range(-(-rows // WORD)):
                w = [nibbles.weights(stored[b], half, zeros[b]) for b in blocks]
                position, valid = add(first_row, scale(k, ROWS), half * WORD), min(WORD, rows - half * WORD)
                xs = [nibbles.activations(self._x, self._place(row, position), valid) for row in self.rows]
                totals = self._added(totals, xs, w, nibbles.accumulate)
            return totals

        whole, left = divmod(self.weights.size, ROWS)
        totals = loop(0, whole, step, totals)
        return step(whole, *totals, rows=left) if left else totals

    def _added(self, totals: list[ir.Value], xs: list, w: list, accumulate: Callable[..., ir.Value]) -> list[ir.Value]:
        count = len(w)
        return [accumulate(total, xs[place // count], w[place % count]) for place, total in enumerate(totals)]

    def scaled(self, sum_: ir.Value, scales: ir.Value, total: ir.Value) -> ir.Value:
        return arith.addf(total, arith.mulf(arith.sitofp(self.float_type, sum_), scales))

    def _place(self, row: Index, column: Index) -> Index:
        return add(scale(row, self.kernel.source_row), column)

    def _minus_zero_point(self, zero_points: list[ir.Value], row: Index) -> ir.Value:
        """Of a stored row, in all lanes."""
        if not zero_points:
            return splat(-_BIAS, self._type)
        zero_point = load_scalar(zero_points[0], row if self.kernel.zero_points > 1 else 0)
        return splat(arith.subi(scalar(-_BIAS, 32), zero_point), self._type)

    def _zero_points_of_codes(self, part: Index, block: int) -> ir.Value | None:
        """i32 in each lane, for each of its four bytes."""
        if self.weights.zero_point is None:
            stored = widen(self.weights.zero_points(self.cpu, self.w, part, block), 32, unsigned=True)
            return arith.muli(stored, splat(0x01010101, self._type))
        if self.weights.zero_point == 0:
            return None
        return splat((self.weights.zero_point & 0xFF) * 0x01010101, self._type)


class _Nibbles:
    """Sums of four products of u8 and codes of 4 bits less a zero point, in each lane."""

    def __init__(self, cpu: Cpu) -> None:
        self._cpu, self._type = cpu, vector_type(cpu.lanes, 32)

    def weights(self, words: ir.Value, half: int, zeros: ir.Value | None) -> tuple[ir.Value, ...]:
        """Of rows 0 to 3 of words, or 4 to 7: bytes, or for other processors a vector of i32 for each row."""
        words = arith.shrui(words, splat(4 * half, self._type)) if half else words
        if self._cpu.is_x86:
            codes = bitcast(arith.andi(words, splat(0x0F0F0F0F, self._type)), 8)
            return (codes if zeros is None else arith.subi(codes, bitcast(zeros, 8)),)
        rows = (arith.shrui(words, splat(8 * j, self._type)) for j in range(WORD))
        codes = [arith.andi(row, splat(15, self._type)) for row in rows]
        if zeros is None:
            return tuple(codes)
        zero = arith.shrsi(zeros, splat(24, self._type))
        return tuple(arith.subi(code, zero) for code in codes)

    def activations(self, buffer: ir.Value, position: Index, valid: int) -> tuple[ir.Value, ...]:
        """The first bytes of four, and 0 for the others, in all lanes."""
        word = vector.extract(bitcast(load(buffer, position, WORD), 32), [], [0])
        if valid < WORD:
            word = arith.andi(word, scalar((1 << 8 * valid) - 1, 32))
        if self._cpu.is_x86:
            return (bitcast(vector.broadcast(self._type, word), 8),)
        elements = bitcast(vector.broadcast(vector_type(1, 32), word), 8)
        bytes_ = (arith.extui(integer(32), vector.extract(elements, [], [j])) for j in range(WORD))
        return tuple(vector.broadcast(self._type, each) for each in bytes_)

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        if self._cpu.has_dot_product:
            return intrinsic(f"llvm.x86.avx512.vpdpbusd.{32 * self._cpu.lanes}", total.type, total, *x, *w)
        if self._cpu.is_x86:  # sums of two products fit in 16 bits
            pairs = intrinsic("llvm.x86.avx2.pmadd.ub.sw", vector_type(2 * self._cpu.lanes, 16), *x, *w)
            ones = splat(1, pairs.type)
            return arith.addi(total, intrinsic("llvm.x86.avx2.pmadd.wd", total.type, pairs, ones))
        for values, weights in zip(x, w, strict=True):
            total = arith.addi(total, arith.muli(values, weights))
        return total
