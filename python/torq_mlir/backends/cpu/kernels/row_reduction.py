# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions along the innermost dimension.

Where the order does not matter, the lanes of a vector are neighbours in a row, and are combined at the end. Sums of
floats keep their order: the lanes are rows. A square of elements is loaded row by row, transposed in registers, and
added column by column.
"""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    integer,
    load,
    load_scalar,
    loop,
    mask,
    minimum,
    scale,
    store,
    store_scalar,
)
from torq_mlir.backends.cpu.machine import Cpu

from .body import Body, from_memory, spread, to_memory
from .elementwise import Operand

# Independent vectors of a row.
_UNROLLED = 4


@dataclasses.dataclass(frozen=True)
class RowReduction:
    """y[outer, row] = the elements of the row, combined with an initial value.

    Attributes:
      body: combines an element with the only accumulator by its last instruction.
      outer: sizes of the loops around the rows.
      rows, columns: of the two inner loops.
      operands: the inputs, the initial value and the result, with strides for the outer loops, rows and columns. The
        stride along columns is 0 or 1.
      in_order: whether the elements of a row are combined one after the other.
    """

    body: Body
    outer: tuple[int, ...]
    rows: int
    columns: int
    operands: tuple[Operand, ...]
    in_order: bool

    @property
    def name(self) -> str:
        return "reduction"

    @property
    def products(self) -> int:
        return 0

    def lanes(self, cpu: Cpu) -> int:
        """Columns that are loaded together."""
        if not self.in_order:
            return cpu.lanes * 32 // self.body.width
        return min(cpu.lanes, 1 << (self.rows - 1).bit_length())

    def _blocks(self, cpu: Cpu) -> int:
        return -(-self.rows // self.lanes(cpu)) if self.in_order else self.rows

    def tasks(self, cpu: Cpu) -> int:
        count = self._blocks(cpu)
        for size in self.outer:
            count *= size
        return count

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        buffers = [buffer_type(operand.elements, operand.width) for operand in self.operands]
        return [*buffers, *(integer(type_.width) for type_ in self.body.parameters)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        task, block = divide(task, self._blocks(cpu))
        places: list[Index] = []
        for size in reversed(self.outer):
            task, place = divide(task, size)
            places.insert(0, place)
        positions = []
        for operand in self.operands:
            terms = (scale(place, stride) for place, stride in zip(places, operand.strides, strict=False))
            positions.append(add(operand.origin, *terms))
        rows = _Rows(self, cpu, arguments)
        if self.in_order:
            rows.in_order(positions, scale(block, self.lanes(cpu)))
        else:
            rows.in_any_order(rows.at(positions, block))


class _Rows:
    def __init__(self, kernel: RowReduction, cpu: Cpu, arguments: list[ir.Value]) -> None:
        self.kernel, self.body, self.lanes = kernel, kernel.body, kernel.lanes(cpu)
        count = len(kernel.operands)
        self.buffers = arguments[:count]
        body = kernel.body
        numbers = range(body.first_parameter, body.first_result)
        pairs = zip(numbers, arguments[count:], body.parameters, strict=True)
        self.parameters = {number: from_memory(value, type_, False) for number, value, type_ in pairs}
        (self.accumulator,), (self.result,) = body.accumulators, body.results
        self.used = [number for number in range(len(body.inputs)) if number in body.used()]
        instructions = range(body.first_result, body.first_result + len(body.instructions))
        self.combining = sorted(body.depending_on({self.accumulator}) - {self.accumulator})
        self.before = [number for number in instructions if number not in self.combining]
        needed = {value for each in self.combining for value in body.instructions[each - body.first_result].operands}
        # What goes from one part to the other.
        self.crossing = sorted(needed - {self.accumulator, *self.combining, *self.parameters})

    def at(self, positions: list[Index], row: Index) -> list[Index]:
        pairs = zip(positions, self.kernel.operands, strict=True)
        return [add(position, scale(row, operand.strides[-2])) for position, operand in pairs]

    def _element(self, operand: int, at: Index) -> ir.Value:
        types = (*self.body.inputs, *self.body.outputs * 2)  # of the initial value and the result
        each = self.kernel.operands[operand]
        return from_memory(load_scalar(self.buffers[operand], at), types[operand], each.biased)

    def _uniform(self, positions: list[Index]) -> dict[int, ir.Value]:
        """What is the same for a whole row."""
        operands = self.kernel.operands
        values = dict(self.parameters)
        values |= {n: self._element(n, positions[n]) for n in self.used if operands[n].strides[-1] == 0}
        varying = self.body.depending_on({self.accumulator, *(n for n in self.used if n not in values)})
        self.body.emit(values, [n for n in self.before if n not in varying], self.lanes, None)
        return values

    def _columns(
        self, uniform: dict[int, ir.Value], positions: list[Index], column: Index, valid: int | None
    ) -> dict[int, ir.Value]:
        """The values of all instructions before the accumulator, for neighbouring columns of a row."""
        values = dict(uniform)
        for number in self.used:
            if number not in values:
                each = self.kernel.operands[number]
                stored = load(self.buffers[number], add(positions[number], column), self.lanes, valid)
                values[number] = from_memory(stored, self.body.inputs[number], each.biased)
        self.body.emit(values, [n for n in self.before if n not in values], self.lanes, None)
        return values

    def _combined(self, total: ir.Value, values: dict[int, ir.Value], lanes: int) -> ir.Value:
        values = {**self.parameters, **values, self.accumulator: total}
        self.body.emit(values, self.combining, lanes, None)
        return values[self.result]

    def _combining_name(self) -> str:
        (number,) = self.combining
        return self.body.instructions[number - self.body.first_result].name

    def in_any_order(self, positions: list[Index]) -> None:
        """One row. The combining instruction has an element and the total as operands."""
        lanes, columns = self.lanes, self.kernel.columns
        uniform = self._uniform(positions)
        ((element,), neutral) = self.crossing, _neutral(self._combining_name(), self.body.outputs[0])
        type_ = ir.VectorType.get([lanes], self.body.outputs[0])
        count = min(_UNROLLED, columns // lanes)
        totals = [arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, neutral)) for _ in range(max(count, 1))]

        def together(column: Index, *totals: ir.Value) -> list[ir.Value]:
            result = []
            for k, total in enumerate(totals):
                values = self._columns(uniform, positions, add(column, k * lanes), None)
                result.append(self._combined(total, {element: values[element]}, lanes))
            return result

        end = columns - columns % (lanes * len(totals)) if count else 0
        if end:
            totals = loop(0, end, together, totals, step=lanes * len(totals))
        total = totals[0]
        for each in totals[1:]:
            total = self._combined(total, {element: each}, lanes)
        while end < columns:
            valid = min(lanes, columns - end)
            values = self._columns(uniform, positions, end, valid)
            combined = self._combined(total, {element: spread(values[element], lanes)}, lanes)
            total = combined if valid == lanes else arith.select(mask(valid, lanes), combined, total)
            end += valid
        self._finish(total, element, positions)

    def _finish(self, total: ir.Value, element: int, positions: list[Index]) -> None:
        """Combines the lanes, and the result with the initial value."""
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            half = ir.VectorType.get([lanes], self.body.outputs[0])
            first, second = (vector.extract_strided_slice(half, total, [at], [lanes], [1]) for at in (0, lanes))
            total = self._combined(first, {element: second}, lanes)
        value = vector.extract(total, [], [0])
        value = self._combined(self._element(-2, positions[-2]), {element: value}, 1)
        each = self.kernel.operands[-1]
        store_scalar(to_memory(value, each.width, each.biased), self.buffers[-1], positions[-1])

    def in_order(self, positions: list[Index], first: Index) -> None:
        """As many rows as there are lanes, or fewer at the end; those that are not there are the last one again."""
        kernel, lanes = self.kernel, self.lanes
        rows = [self.at(positions, minimum(add(first, lane), kernel.rows - 1)) for lane in range(lanes)]
        uniform = [self._uniform(row) for row in rows]
        total = _vector([self._element(-2, row[-2]) for row in rows])

        def square(column: Index, total: ir.Value, valid: int | None = None) -> list[ir.Value]:
            values = [self._columns(u, row, column, valid) for u, row in zip(uniform, rows, strict=True)]
            turned = {n: transposed([spread(each[n], lanes) for each in values]) for n in self.crossing}
            for c in range(lanes if valid is None else valid):
                total = self._combined(total, {n: turned[n][c] for n in self.crossing}, lanes)
            return [total]

        whole = kernel.columns - kernel.columns % lanes
        (total,) = loop(0, whole, square, [total], step=lanes)
        if whole < kernel.columns:
            (total,) = square(whole, total, kernel.columns - whole)
        self._store_rows(total, positions, first)

    def _store_rows(self, total: ir.Value, positions: list[Index], first: Index) -> None:
        kernel, each = self.kernel, self.kernel.operands[-1]
        stored, at = to_memory(total, each.width, each.biased), self.at(positions, first)[-1]
        if each.strides[-2] == 1 or kernel.rows == 1:
            whole = kernel.rows % self.lanes == 0
            store(
                stored, self.buffers[-1], at, None if whole else minimum(add(kernel.rows, scale(first, -1)), self.lanes)
            )
            return
        for lane in range(self.lanes):
            # Rows that are not there have the result of the last one.
            row = self.at(positions, minimum(add(first, lane), kernel.rows - 1))[-1]
            store_scalar(vector.extract(stored, [], [lane]), self.buffers[-1], row)


def _vector(scalars: list[ir.Value]) -> ir.Value:
    return vector.from_elements(ir.VectorType.get([len(scalars)], scalars[0].type), scalars)


def transposed(rows: list[ir.Value]) -> list[ir.Value]:
    """The columns of a square matrix, whose size is a power of two.

    Each turn exchanges the blocks beside the diagonal, of half the size of those before.
    """
    size = len(rows)
    distance = size // 2
    while distance:
        low = [lane if not lane & distance else lane - distance + size for lane in range(size)]
        high = [lane + distance if not lane & distance else lane + size for lane in range(size)]
        for row in range(size):
            if not row & distance:
                pair = rows[row], rows[row + distance]
                rows[row], rows[row + distance] = (vector.shuffle(*pair, order) for order in (low, high))
        distance //= 2
    return rows


def _neutral(name: str, type_: ir.Type) -> ir.Attribute:
    """What changes nothing in a combination."""
    operation = name.rpartition(".")[2]
    if isinstance(type_, ir.FloatType):
        return ir.FloatAttr.get(type_, float("-inf") if operation == "maximum" else float("inf"))
    bits = type_.width
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    values = {"addi": 0, "xori": 0, "ori": 0, "maxui": 0, "muli": 1, "andi": -1, "minui": -1}
    return ir.IntegerAttr.get(type_, {**values, "maxsi": least, "minsi": most}[operation])
