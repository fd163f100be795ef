# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program: calls of kernels, in order, on buffers."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects.locations import source_names

from .kernels import Kernel
from .layout import Layout
from .memory import Buffer, aligned


@dataclasses.dataclass
class Tensor:
    """Where the elements of a value are.

    Attributes:
      fill: what is stored in the room around the image; None where that is not known.
    """

    buffer: Buffer
    layout: Layout
    fill: int | None = None


@dataclasses.dataclass
class Step:
    """A call.

    Attributes:
      kernel: what is called; a name is that of a function for operations that have no kernel.
      arguments: a buffer or an integer for each argument.
      operation: of torq_hl or linalg, that it is for.
    """

    kernel: Kernel | str
    arguments: Sequence[Buffer | int]
    operation: ir.Operation


@dataclasses.dataclass(frozen=True)
class StepInfo:
    """What is told of a step.

    Attributes:
      names: of the operators of the source model that it is for.
      operation: of torq_hl or linalg.
      kernel: kind of its code.
      products: multiplications of an activation with a weight.
      bytes: size of the buffers that it reads and writes.
    """

    names: tuple[str, ...]
    operation: str
    kernel: str
    products: int
    bytes: int

    @classmethod
    def of(cls, step: Step) -> "StepInfo":
        kernel = step.kernel
        kind, products = ("linalg", 0) if isinstance(kernel, str) else (kernel.name, kernel.products)
        size = sum(each.bytes for each in step.arguments if isinstance(each, Buffer))
        return cls(tuple(source_names(step.operation.location)), step.operation.name, kind, products, size)


class Constants:
    """Packed constants, as one block of bytes."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._known: dict[tuple[int, bytes], Buffer] = {}
        self.size = 0

    def add(self, array: np.ndarray) -> Buffer:
        """The buffer of an array; that of an equal one, if small, which is there already."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        key = (data.size, data.tobytes()) if data.size <= 1 << 16 else None
        if key in self._known:
            return self._known[key]
        buffer = Buffer(data.size, "constant", self.size)
        self._parts.append(data)
        self.size = aligned(self.size + data.size)
        if key is not None:
            self._known[key] = buffer
        return buffer

    def block(self) -> np.ndarray:
        """All of them, aligned as vectors are loaded fastest."""
        block = aligned_bytes(self.size)
        position = 0
        for part in self._parts:
            block[position : position + part.size] = part
            position = aligned(position + part.size)
        return block


def aligned_bytes(size: int) -> np.ndarray:
    """Zeros from an address that is a multiple of 64."""
    block = np.zeros(size + 64, np.uint8)
    start = -block.ctypes.data % 64
    return block[start : start + size]
