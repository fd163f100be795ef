# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are known at run time only: packed as `Convolution` reads them, with the biases that belong to them."""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.dot_product import WORD, dot_product
from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    bitcast,
    buffer_type,
    divide,
    index,
    integer,
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

_BIAS = 128


@dataclasses.dataclass(frozen=True)
class Pack:
    """Matrices [groups, rows, columns] of stored bytes, or of i16. The bias of a column is that of an argument, for
    bytes minus 128 times the sum of the column.

    Attributes:
      width: bits of an element.
      elements, row: of the buffer, and the distance of its rows.
      steps, blocks, tiles: of the `Convolution` that reads it.
    """

    width: int
    groups: int
    rows: int
    columns: int
    elements: int
    row: int
    steps: int
    blocks: int
    tiles: int

    @property
    def name(self) -> str:
        return "pack"

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return self.groups * self.tiles

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        vectors = self.groups * self.tiles * self.blocks
        weights = buffer_type(vectors * self.steps * dot_product(cpu, self.width).step, 8)
        return [buffer_type(self.elements, self.width), integer(32), weights, buffer_type(4 * vectors * cpu.lanes, 8)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        source, bias, weights, biases = arguments
        dot, lanes, group_size = dot_product(cpu, self.width), cpu.lanes, 8 * WORD // self.width
        group, tile = divide(task, self.tiles)
        matrix = scale(group, self.rows * self.row)
        first = scale(tile, self.blocks * lanes)
        packed = scale(task, self.steps * self.blocks * dot.step)

        def block(b: int) -> None:
            column = add(first, b * lanes)
            valid = maximum(minimum(add(index(self.columns), scale(column, -1)), lanes), 0)
            at = add(matrix, column)

            def step(k: Index, total: ir.Value, rows: int = group_size) -> list[ir.Value]:
                start = add(at, scale(k, group_size * self.row))
                loaded = [load(source, add(start, j * self.row), lanes, valid) for j in range(rows)]
                signed = [arith.xori(row, splat(-_BIAS, row.type)) for row in loaded] if self.width == 8 else loaded
                signed += [splat(0, vector_type(lanes, self.width))] * (group_size - rows)
                position = add(packed, scale(add(scale(k, self.blocks), b), dot.step))
                dot.store(signed, weights, position)
                return [dot.accumulate(total, dot.ones(), dot.weights(weights, position))]

            whole, left = divmod(self.rows, group_size)
            totals = loop(0, whole, step, [splat(0, vector_type(lanes, 32))])
            (total,) = step(whole, *totals, rows=left) if left else totals
            added = _BIAS if self.width == 8 else 0  # to the activations as they are stored
            value = arith.subi(splat(bias, total.type), arith.muli(total, splat(added, total.type)))
            position = add(scale(task, self.blocks * lanes), b * lanes)
            store(bitcast(value, 8), biases, scale(position, 4))

        for b in range(self.blocks):
            block(b)
