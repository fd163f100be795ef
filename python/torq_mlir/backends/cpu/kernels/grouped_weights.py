# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of a matrix product that share parameters in groups of rows, as kernels read them.

    weight = (code - zero point) * scale

Codes have 4 or 8 bits. The columns are cut into tiles of some vectors. For each tile and group there are, one behind
the other, scales, zero points, sums and codes, so that a kernel reads memory from one end to the other. Of 4 bits, a
word of 32 bits has the codes of 8 rows in one column: rows 0 to 3 in the low halves of its bytes, rows 4 to 7 in the
high ones.
"""

import dataclasses

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.dot_product import WORD
from torq_mlir.backends.cpu.emission import Index, add, bitcast, buffer_type, load, scale
from torq_mlir.backends.cpu.machine import Cpu

# Rows of a word of codes with 4 bits.
ROWS = 8


@dataclasses.dataclass(frozen=True)
class Groups:
    """What is stored.

    Attributes:
      groups, size, columns: of the matrix; a group has `size` rows.
      blocks: vectors of a tile.
      bits: of a code.
      is_signed: whether codes are.
      code_bytes: of the codes of a group in one vector of columns.
      zero_point: of all codes; None where each group and column has one.
      zero_bytes: of those: 1 for integers, 4 for floats; 0 for none.
      has_scales: whether there are any.
      sum_bytes: of the sum of the weights of a group and column; 0 where there are none.
    """

    groups: int
    size: int
    columns: int
    blocks: int
    bits: int
    is_signed: bool
    code_bytes: int
    zero_point: int | None = 0
    zero_bytes: int = 0
    has_scales: bool = True
    sum_bytes: int = 0

    @property
    def depth(self) -> int:
        return self.groups * self.size

    def tiles(self, cpu: Cpu) -> int:
        return -(-self.columns // (self.blocks * cpu.lanes))

    def argument(self, cpu: Cpu) -> ir.Type:
        """The type of the buffer."""
        return buffer_type(self.tiles(cpu) * self.groups * self._part(cpu) + WORD, 8)

    def part(self, cpu: Cpu, tile: Index, group: Index) -> Index:
        """Where a group of a tile begins."""
        return scale(add(scale(tile, self.groups), group), self._part(cpu))

    def scales(self, cpu: Cpu, buffer: ir.Value, part: Index, block: int) -> ir.Value:
        """Of a vector of columns, as integers with the bits of f32."""
        return self._parameters(cpu, buffer, part, block, 0, 4)

    def zero_points(self, cpu: Cpu, buffer: ir.Value, part: Index, block: int) -> ir.Value:
        """As they are stored: i8, or i32 with the bits of f32."""
        return self._parameters(cpu, buffer, part, block, 4 * self.has_scales, self.zero_bytes)

    def sums(self, cpu: Cpu, buffer: ir.Value, part: Index, block: int) -> ir.Value:
        """i16 or i32."""
        return self._parameters(cpu, buffer, part, block, 4 * self.has_scales + self.zero_bytes, self.sum_bytes)

    def codes(self, cpu: Cpu, part: Index) -> Index:
        """Where those of a part begin: for each step, those of all its vectors."""
        return add(part, self.blocks * cpu.lanes * self._of_column())

    def pack(
        self, cpu: Cpu, codes: np.ndarray, scales: np.ndarray, zero_points: np.ndarray | None, sums: np.ndarray | None
    ) -> np.ndarray:
        """The bytes of the buffer, with a word after the last code, which may be loaded from any of its bytes on.

        Args:
          codes: [tiles, groups, ..], from `arranged`.
          scales: f32 [groups, columns].
          zero_points, sums: [groups, columns], of the type that is stored.
        """
        parameters = [scales] if self.has_scales else []
        parameters += [each for each in (zero_points, sums) if each is not None]
        parts = [self.arranged(each[:, None], cpu) for each in parameters]
        tiles = self.tiles(cpu)
        result = np.zeros(tiles * self.groups * self._part(cpu) + WORD, np.uint8)
        of_parts = result[:-WORD].reshape(tiles, self.groups, -1)
        parts = [each.reshape(tiles, self.groups, -1).view(np.uint8) for each in (*parts, codes)]
        np.concatenate(parts, 2, out=of_parts)
        return result

    def arranged(self, array: np.ndarray, cpu: Cpu) -> np.ndarray:
        """[groups, rows, columns] as [tiles, groups, rows, columns of a tile]; what fills the last tile is 0."""
        groups, rows, columns = array.shape
        width = self.blocks * cpu.lanes
        result = np.zeros((self.tiles(cpu), groups, rows, width), array.dtype)
        whole, left = divmod(columns, width)
        result[:whole] = array[:, :, : whole * width].reshape(groups, rows, whole, width).transpose(2, 0, 1, 3)
        if left:
            result[whole, :, :, :left] = array[:, :, whole * width :]
        return result

    def _parameters(self, cpu: Cpu, buffer: ir.Value, part: Index, block: int, before: int, size: int) -> ir.Value:
        """One of `size` bytes for each column of a vector; `before` are the bytes of those ahead of it."""
        position = cpu.lanes * (self.blocks * before + block * size)
        return bitcast(load(buffer, add(part, position), cpu.lanes * size), 8 * size)

    def _of_column(self) -> int:
        """Bytes of a group and column besides its codes."""
        return 4 * self.has_scales + self.zero_bytes + self.sum_bytes

    def _part(self, cpu: Cpu) -> int:
        """Bytes of a group and tile."""
        return self.blocks * (cpu.lanes * self._of_column() + self.code_bytes)


def words(codes: np.ndarray) -> np.ndarray:
    """Bytes [groups, rows / 2, columns] with two neighbours along the rows each, as u32 [groups, words, columns]."""
    groups, count, columns = codes.shape
    if count % WORD:
        codes = np.pad(codes, ((0, 0), (0, -count % WORD), (0, 0)))
    rows = codes.view(np.uint8).reshape(groups, -1, WORD, columns)
    result = np.empty((*rows.shape[:2], columns, WORD), np.uint8)
    for half in range(2):  # rows 0 and 1 of a word with 4 and 5, 2 and 3 with 6 and 7
        low, high = rows[:, :, half], rows[:, :, half + 2]
        result[..., 2 * half] = (low & 15) | (high << 4)
        result[..., 2 * half + 1] = (low >> 4) | (high & 0xF0)
    return result.view(np.uint32)[..., 0]


def position_in_word(row: int) -> int:
    """The lowest bit of the code of a row."""
    return 8 * (row % WORD) + 4 * (row // WORD)
