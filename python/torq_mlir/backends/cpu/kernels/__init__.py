# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: code for one kind of operation, generated for its sizes."""

from typing import Protocol, runtime_checkable

from torch_mlir import ir

from torq_mlir.backends.cpu.emission import Index
from torq_mlir.backends.cpu.machine import Cpu


class Kernel(Protocol):
    """What a function is generated from. Equal kernels share one function."""

    @property
    def name(self) -> str:
        """Start of the function's name."""

    @property
    def products(self) -> int:
        """Multiplications of an activation with a weight; 0 where there are none."""

    def tasks(self, cpu: Cpu) -> int:
        """The work is cut into so many parts, which threads share. No two write to the same element."""

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        """Types of buffers and scalars."""

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        """The code of one task."""


@runtime_checkable
class Tiled(Protocol):
    """A kernel with several tasks in each row of its result: task t is of row t % (tasks / tasks_of_row).

    Attributes:
      rows_of_block: so many rows are computed before the next ones, for what they read and write to stay in the cache.
    """

    rows_of_block: int

    def tasks_of_row(self, cpu: Cpu) -> int:
        """Tasks of a row."""
