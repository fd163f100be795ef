# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where buffers are in one block of memory: those that are not needed at the same time share it."""

import dataclasses
from collections.abc import Iterable, Sequence

ALIGNMENT = 64


@dataclasses.dataclass
class Buffer:
    """Memory of a tensor, or of several that are one as they are stored.

    Attributes:
      bytes: its size.
      place: "arena", "input", "output" or "constant".
      position: in the arena or the constants, in bytes; number of the input or output.
      first, last: steps that use it.
    """

    bytes: int
    place: str = "arena"
    position: int = 0
    first: int = -1
    last: int = -1

    def use(self, step: int) -> None:
        self.first = step if self.first < 0 else self.first
        self.last = max(self.last, step)


def assign(buffers: Iterable[Buffer]) -> int:
    """Gives every buffer a position, the largest first, in the lowest gap that it fits; returns the size of all."""
    placed: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda each: (-each.bytes, each.first)):
        alive = [each for each in placed if each.first <= buffer.last and buffer.first <= each.last]
        buffer.position = _lowest_gap(sorted(alive, key=lambda each: each.position), buffer.bytes)
        placed.append(buffer)
    return max((aligned(each.position + each.bytes) for each in placed), default=0)


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _lowest_gap(occupied: Sequence[Buffer], size: int) -> int:
    start = 0
    for each in occupied:
        if start + size <= each.position:
            break
        start = max(start, aligned(each.position + each.bytes))
    return start
