# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over elements: operations of one element of each input, and copies into another layout.

The loops are the dimensions of the output as they are in memory. Where the elements of all operands follow each other
from one row to the next, the rows are one.
"""

import dataclasses
from collections.abc import Sequence
from typing import Protocol

from torch_mlir import ir

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    load,
    load_scalar,
    loop,
    minimum,
    scale,
    splat,
    store,
    vector_type,
)
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.machine import Cpu

# Elements that a task has at least, where there is one loop alone.
_RUN = 1 << 13


@dataclasses.dataclass(frozen=True)
class Operand:
    """Attributes:
    elements, width: of the buffer.
    biased: whether its 8-bit values are stored plus 128.
    origin: position of the first element.
    strides: for each loop.
    """

    elements: int
    width: int
    biased: bool
    origin: int
    strides: tuple[int, ...]


class Operation(Protocol):
    """What is done to vectors of elements."""

    def lanes(self, cpu: Cpu) -> int: ...

    def arguments(self) -> list[ir.Type]:
        """Types of what it needs besides the operands."""

    def emit(
        self, cpu: Cpu, operands: Sequence[Operand], vectors: list[ir.Value], arguments: list[ir.Value], channel: Index
    ) -> ir.Value:
        """The elements of the output as they are stored.

        Args:
          operands: the inputs and the output.
          channel: position in the innermost loop.
        """


@dataclasses.dataclass(frozen=True)
class Map:
    """Attributes:
    sizes: of the loops.
    operands: the inputs, and last the output.
    """

    operation: Operation
    sizes: tuple[int, ...]
    operands: tuple[Operand, ...]

    @classmethod
    def of(
        cls,
        operation: Operation,
        layouts: Sequence[Layout],
        maps: Sequence[Sequence[int | None]],
        *,
        merge: bool = True,
    ) -> "Map":
        """Loops over the elements of the last layout.

        Args:
          maps: for each layout but the last, the dimension of it that each dimension of the output is; None for one
            along which it is repeated.
          merge: rows may be joined; not where parameters depend on the innermost dimension.
        """
        output = layouts[-1]
        logical = [*maps, tuple(range(len(output.shape)))]
        strides = [
            tuple(
                0 if mapping[d] is None or layout.shape[mapping[d]] == 1 else layout.stride_of(mapping[d])
                for d in output.order
            )
            for layout, mapping in zip(layouts, logical, strict=True)
        ]
        sizes, strides = merged(output.sizes, strides, merge)
        operands = tuple(
            Operand(layout.elements, 8 * layout.dtype.itemsize, layout.biased, layout.origin, each)
            for layout, each in zip(layouts, strides, strict=True)
        )
        return cls(operation, sizes, operands)

    @property
    def name(self) -> str:
        return type(self.operation).__name__.lower()

    @property
    def has_vectors(self) -> bool:
        """Whether elements of the innermost loop are side by side, or are one."""
        return all(operand.strides[-1] in (0, 1) for operand in self.operands)

    @property
    def _runs(self) -> int:
        """Parts of the innermost loop that are tasks."""
        return max(1, self.sizes[-1] // _RUN) if len(self.sizes) == 1 else 1

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return self._runs if len(self.sizes) == 1 else self.sizes[0]

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        buffers = [buffer_type(operand.elements, operand.width) for operand in self.operands]
        return [*buffers, *self.operation.arguments()]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        count = len(self.operands)
        _Nest(self, cpu, arguments[:count], arguments[count:]).emit(task)


class _Nest:
    def __init__(self, kernel: Map, cpu: Cpu, buffers: list[ir.Value], parameters: list[ir.Value]) -> None:
        self.kernel, self.cpu, self.buffers, self.parameters = kernel, cpu, buffers, parameters
        self.lanes = kernel.operation.lanes(cpu)

    def emit(self, task: Index) -> None:
        kernel = self.kernel
        origins = [operand.origin for operand in kernel.operands]
        if len(kernel.sizes) > 1:
            self._rows(1, self._advanced(origins, 0, task))
            return
        per_task = -(-kernel.sizes[0] // kernel._runs)
        per_task += -per_task % self.lanes
        first = scale(task, per_task)
        self._row(first, minimum(add(first, per_task), kernel.sizes[0]), origins)

    def _rows(self, loop_number: int, positions: list[Index]) -> None:
        """The loops from that number on."""
        size = self.kernel.sizes[loop_number]
        if loop_number == len(self.kernel.sizes) - 1:
            self._row(0, size, positions)
        else:
            loop(0, size, lambda i: self._rows(loop_number + 1, self._advanced(positions, loop_number, i)))

    def _advanced(self, positions: Sequence[Index], loop_number: int, i: Index) -> list[Index]:
        operands = self.kernel.operands
        return [add(at, scale(i, each.strides[loop_number])) for at, each in zip(positions, operands, strict=True)]

    def _row(self, start: Index, stop: Index, positions: list[Index]) -> None:
        lanes = self.lanes
        if not self.kernel.has_vectors:
            loop(start, stop, lambda i: self._elements(i, positions, 1, None))
            return
        if isinstance(start, int) and isinstance(stop, int):
            whole = start + (stop - start) // lanes * lanes
            loop(start, whole, lambda i: self._elements(i, positions, lanes, None), step=lanes)
            if whole < stop:
                self._elements(whole, positions, lanes, stop - whole)
            return
        count = add(stop, scale(start, -1))
        rest = divide(count, lanes)[1]
        whole = add(stop, scale(rest, -1))
        loop(start, whole, lambda i: self._elements(i, positions, lanes, None), step=lanes)
        loop(whole, stop, lambda i: self._elements(i, positions, lanes, rest), step=lanes)

    def _elements(self, i: Index, positions: list[Index], lanes: int, valid: Index | None) -> None:
        *inputs, result = self._advanced(positions, -1, i)
        vectors = [
            self._load(buffer, at, operand, lanes, valid)
            for buffer, at, operand in zip(self.buffers, inputs, self.kernel.operands, strict=False)
        ]
        value = self.kernel.operation.emit(self.cpu, self.kernel.operands, vectors, self.parameters, i)
        store(value, self.buffers[-1], result, valid)

    def _load(self, buffer: ir.Value, at: Index, operand: Operand, lanes: int, valid: Index | None) -> ir.Value:
        if operand.strides[-1] == 0 and lanes > 1:
            return splat(load_scalar(buffer, at), vector_type(lanes, operand.width))
        return load(buffer, at, lanes, valid)


def merged(
    sizes: Sequence[int], strides: Sequence[Sequence[int]], merge: bool
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Without loops of one iteration, and with neighbours joined where every operand goes on from row to row."""
    loops = [(size, tuple(each[d] for each in strides)) for d, size in enumerate(sizes) if size != 1]
    loops = loops or [(1, (1,) * len(strides))]
    joined = [loops[0]]
    for number, (size, steps) in enumerate(loops[1:], 1):
        outer_size, outer_steps = joined[-1]
        may = merge or number < len(loops) - 1
        if may and all(outer == inner * size for outer, inner in zip(outer_steps, steps, strict=True)):
            joined[-1] = (outer_size * size, steps)
        else:
            joined.append((size, steps))
    return tuple(size for size, _ in joined), [tuple(steps[k] for _, steps in joined) for k in range(len(strides))]
