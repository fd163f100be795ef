# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The room around an image, filled with one value."""

import dataclasses

from torch_mlir import ir

from torq_mlir.backends.cpu.emission import Index, add, buffer_type, integer, loop, scale, splat, store, vector_type
from torq_mlir.backends.cpu.machine import Cpu


@dataclasses.dataclass(frozen=True)
class Border:
    """Attributes:
    images, rows, columns: of the buffer, with the room.
    channels: bytes of a pixel.
    left, right, top, bottom: pixels to fill.
    """

    images: int
    rows: int
    columns: int
    channels: int
    left: int
    right: int
    top: int
    bottom: int

    @property
    def name(self) -> str:
        return "border"

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return self.images

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        return [buffer_type(self.images * self.rows * self.columns * self.channels, 8), integer(8)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        buffer, value = arguments
        row = self.columns * self.channels
        image = scale(task, self.rows * row)
        lanes = cpu.lanes * 4
        filled = splat(value, vector_type(lanes, 8))

        def fill(start: Index, count: int) -> None:
            whole = count // lanes * lanes
            loop(0, whole, lambda i: store(filled, buffer, add(start, i)), step=lanes)
            if whole < count:
                store(filled, buffer, add(start, whole), count - whole)

        fill(image, self.top * row)
        fill(add(image, (self.rows - self.bottom) * row), self.bottom * row)

        def sides(i: Index) -> None:
            start = add(image, scale(i, row))
            fill(start, self.left * self.channels)
            fill(add(start, (self.columns - self.right) * self.channels), self.right * self.channels)

        loop(self.top, self.rows - self.bottom, sides)
