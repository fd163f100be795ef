# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over elements, and reductions that keep neighbouring results in the lanes of a vector.

    for each vector of results:  y = init;  for each element of the reduction:  y = body(inputs, y)

The order in which each element is reduced is that of the loops of the linalg.generic.
"""

import dataclasses
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    index,
    integer,
    load,
    load_scalar,
    loop,
    mask,
    minimum,
    scale,
    splat,
    store,
    vector_constant,
    vector_type,
)
from torq_mlir.backends.cpu.machine import Cpu

from .body import Body, from_memory, spread, to_memory
from .elementwise import Operand

# Elements that a task has at least, where there is one loop alone.
_RUN = 1 << 13
# Vectors whose sums are in registers at the same time.
_UNROLLED = 4


def gathers(width: int) -> bool:
    """Whether there are instructions that load elements of so many bits from different places."""
    return width in (32, 64)


@dataclasses.dataclass(frozen=True)
class Generic:
    """Attributes:
    sizes: of the parallel loops. The last one is that of the lanes.
    reductions: sizes of the loops inside.
    operands: inputs, initial values where the body reads them, and outputs, with a stride for each loop.
    reads_inits: whether there are initial values.
    loops: which loop of the linalg.generic each one is.
    """

    body: Body
    sizes: tuple[int, ...]
    reductions: tuple[int, ...]
    operands: tuple[Operand, ...]
    reads_inits: bool
    loops: tuple[int, ...]

    @property
    def name(self) -> str:
        return "reduction" if self.reductions else "elementwise"

    @property
    def products(self) -> int:
        return 0

    def lanes(self, cpu: Cpu) -> int:
        """1 where elements are apart that no instruction loads together."""
        apart = [each for each in self.operands if each.strides[len(self.sizes) - 1] not in (0, 1)]
        outputs = self.operands[-len(self.body.outputs) :]
        if self.sizes[-1] == 1 or any(each in outputs or not gathers(each.width) for each in apart):
            return 1
        return cpu.lanes * 32 // self.body.width

    def _runs(self, cpu: Cpu) -> int:
        """Parts of the only parallel loop."""
        unit = self.lanes(cpu) * _UNROLLED if self.reductions else _RUN
        return max(1, self.sizes[-1] // unit)

    def tasks(self, cpu: Cpu) -> int:
        return self.sizes[0] if len(self.sizes) > 1 else self._runs(cpu)

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        buffers = [buffer_type(operand.elements, operand.width) for operand in self.operands]
        return [*buffers, *(integer(type_.width) for type_ in self.body.parameters)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        _Nest(self, cpu, arguments).emit(task)


class _Nest:
    def __init__(self, kernel: Generic, cpu: Cpu, arguments: list[ir.Value]) -> None:
        self.kernel, self.cpu, self.body, self.lanes = kernel, cpu, kernel.body, kernel.lanes(cpu)
        count = len(kernel.operands)
        self.buffers, self.parameters = arguments[:count], arguments[count:]
        body = self.body
        self.outputs = range(count - len(body.outputs), count)
        inits = range(len(body.inputs), len(body.inputs) + len(body.outputs)) if kernel.reads_inits else range(0)
        # Operand and value of what is read for each vector, and for each element of a reduction.
        self.inits = list(zip(inits, body.accumulators, strict=False))
        self.inputs = [(number, number) for number in range(len(body.inputs)) if number in body.used()]
        self.places: dict[int, Index] = {}

    def emit(self, task: Index) -> None:
        kernel = self.kernel
        origins = [operand.origin for operand in kernel.operands]
        if len(kernel.sizes) > 1:
            self.places[0] = task
            self._rows(1, self._advanced(origins, 0, task))
            return
        per_task = -(-kernel.sizes[0] // kernel._runs(self.cpu))
        per_task += -per_task % (self.lanes * _UNROLLED)
        first = scale(task, per_task)
        self._row(first, minimum(add(first, per_task), kernel.sizes[0]), origins)

    def _rows(self, number: int, positions: list[Index]) -> None:
        """The loops from that number on."""
        kernel = self.kernel
        if number == len(kernel.sizes) - 1:
            self._row(0, kernel.sizes[number], positions)
            return

        def step(i: Index) -> None:
            self.places[number] = i
            self._rows(number + 1, self._advanced(positions, number, i))

        loop(0, kernel.sizes[number], step)

    def _advanced(self, positions: Sequence[Index], number: int, i: Index) -> list[Index]:
        operands = self.kernel.operands
        return [add(at, scale(i, each.strides[number])) for at, each in zip(positions, operands, strict=True)]

    def _row(self, start: Index, stop: Index, positions: list[Index]) -> None:
        """The vectors of the last parallel loop. What is the same for all of them is computed before."""
        kernel, lanes, unrolled = self.kernel, self.lanes, _UNROLLED if self.kernel.reductions else 1
        uniform = {} if kernel.reductions else self._uniform(positions)
        size, left = kernel.sizes[-1], kernel.sizes[-1] % lanes
        whole = stop - stop % lanes if isinstance(stop, int) else minimum(stop, size - left)
        many = start
        if unrolled > 1 and size >= lanes * unrolled:
            many = _rounded(start, whole, lanes * unrolled)
            loop(start, many, lambda i: self._vectors(i, positions, uniform, unrolled, None), step=lanes * unrolled)
        loop(many, whole, lambda i: self._vectors(i, positions, uniform, 1, None), step=lanes)
        if left and isinstance(stop, int):
            self._vectors(whole, positions, uniform, 1, left)
        elif left:
            loop(whole, stop, lambda i: self._vectors(i, positions, uniform, 1, left), step=lanes)

    def _uniform(self, positions: list[Index]) -> dict[int, ir.Value]:
        body, last = self.body, len(self.kernel.sizes) - 1
        fixed = [each for each in (*self.inputs, *self.inits) if self.kernel.operands[each[0]].strides[last] == 0]
        values = {number: self._scalar(operand, positions[operand]) for operand, number in fixed}
        values |= self._parameters()
        varying = body.depending_on({number for _, number in (*self.inputs, *self.inits)} - set(values))
        varying |= body.depending_on(self._indices(last))
        own = [number for number in self._instructions() if number not in varying]
        body.emit(values, own, self.lanes, lambda dim: self._place(dim, None))
        return values

    def _parameters(self) -> dict[int, ir.Value]:
        numbers = range(self.body.first_parameter, self.body.first_result)
        pairs = zip(numbers, self.parameters, self.body.parameters, strict=True)
        return {number: from_memory(value, type_, False) for number, value, type_ in pairs}

    def _instructions(self) -> range:
        return range(self.body.first_result, self.body.first_result + len(self.body.instructions))

    def _indices(self, last: int) -> set[int]:
        """Values that are positions in the loop of the lanes."""
        dimension = self.kernel.loops[last] if self.kernel.loops else -1
        return {
            number
            for number in self._instructions()
            if (each := self.body.instructions[number - self.body.first_result]).name == "linalg.index"
            and ir.IntegerAttr(dict(each.attributes)["dim"]).value == dimension
        }

    def _place(self, dimension: int, i: Index | None) -> ir.Value:
        """The position in a loop of the linalg.generic."""
        number = self.kernel.loops.index(dimension)
        if number != len(self.kernel.sizes) - 1:
            return index(self.places[number])
        type_ = ir.VectorType.get([self.lanes], ir.IndexType.get())
        steps = arith.index_cast(type_, vector_constant(range(self.lanes), 32))
        return arith.addi(vector.broadcast(type_, index(i)), steps)

    def _vectors(
        self, i: Index, positions: list[Index], uniform: dict[int, ir.Value], count: int, valid: int | None
    ) -> None:
        """`count` neighbouring vectors of results, the last of them with `valid` lanes."""
        kernel, last = self.kernel, len(self.kernel.sizes) - 1
        starts = [self._advanced(positions, last, add(i, k * self.lanes)) for k in range(count)]
        if not kernel.reductions:
            values = dict(uniform)
            self._compute(values, i, starts[0], valid)
            self._store([values[number] for number in self.body.results], starts[0], valid)
            return
        totals = [
            spread(self._load(operand, start[operand], valid), self.lanes)
            for start in starts
            for operand, _ in self.inits
        ]
        totals = self._reduce(0, starts, i, valid, totals)
        outputs = len(self.body.outputs)
        for k, start in enumerate(starts):
            self._store(totals[k * outputs : (k + 1) * outputs], start, valid)

    def _reduce(
        self, number: int, starts: list[list[Index]], i: Index, valid: int | None, totals: list[ir.Value]
    ) -> list[ir.Value]:
        """The reduction loops from that number on."""
        kernel, outputs = self.kernel, len(self.body.outputs)
        if number == len(kernel.reductions):
            result = []
            for k, start in enumerate(starts):
                values = self._parameters()
                own = totals[k * outputs : (k + 1) * outputs]
                values |= zip(self.body.accumulators, own, strict=True)
                self._compute(values, add(i, k * self.lanes), start, valid)
                result += [spread(values[each], self.lanes) for each in self.body.results]
            return result

        def step(j: Index, *totals: ir.Value) -> list[ir.Value]:
            place = len(kernel.sizes) + number
            self.places[place] = j
            inner = [self._advanced(start, place, j) for start in starts]
            return self._reduce(number + 1, inner, i, valid, list(totals))

        return loop(0, kernel.reductions[number], step, totals)

    def _compute(self, values: dict[int, ir.Value], i: Index, positions: list[Index], valid: int | None) -> None:
        """Loads what is not there, and emits the instructions that are not."""
        for operand, number in (*self.inputs, *self.inits):
            if number not in values:
                values[number] = self._load(operand, positions[operand], valid)
        missing = [number for number in self._instructions() if number not in values]
        self.body.emit(values, missing, self.lanes, lambda dim: self._place(dim, i))

    def _type(self, operand: int) -> ir.Type:
        types = (*self.body.inputs, *self.body.outputs)
        return self.body.outputs[operand - self.outputs.start] if operand in self.outputs else types[operand]

    def _scalar(self, operand: int, at: Index) -> ir.Value:
        each = self.kernel.operands[operand]
        return from_memory(load_scalar(self.buffers[operand], at), self._type(operand), each.biased)

    def _load(self, operand: int, at: Index, valid: int | None) -> ir.Value:
        each = self.kernel.operands[operand]
        stride = each.strides[len(self.kernel.sizes) - 1]
        if stride == 0:
            return self._scalar(operand, at)
        buffer = self.buffers[operand]
        if stride == 1 or self.lanes == 1:
            value = load(buffer, at, self.lanes, valid)
        else:
            type_ = vector_type(self.lanes, each.width)
            offsets = vector_constant([lane * stride for lane in range(self.lanes)], 32)
            which = mask(self.lanes if valid is None else valid, self.lanes)
            value = vector.gather(type_, buffer, [index(at)], offsets, which, splat(0, type_))
        return from_memory(value, self._type(operand), each.biased)

    def _store(self, values: Sequence[ir.Value], positions: list[Index], valid: int | None) -> None:
        for operand, value in zip(self.outputs, values, strict=True):
            each = self.kernel.operands[operand]
            stored = to_memory(spread(value, self.lanes), each.width, each.biased)
            store(stored, self.buffers[operand], positions[operand], valid)


def _rounded(start: Index, stop: Index, unit: int) -> Index:
    """The last position before `stop` that is a number of units from `start`."""
    length = add(stop, scale(start, -1))
    count, _ = divide(length, unit)
    return add(start, scale(count, unit))
