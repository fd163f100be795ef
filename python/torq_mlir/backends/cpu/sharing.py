# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How threads share the tasks of a step.

The rows of a step are divided into bands, one for each thread: what a thread has written in one step it mostly reads in
the next, so that little moves between the caches of cores. A thread takes tasks of its own band, then of the others
until none is left, and waits until all are done. None waits for another thread as such: what one does that is late, or
never comes, the others do.

A step has a counter of the tasks that are done, and one for each band of those that are taken.
"""

from collections.abc import Callable
from typing import NamedTuple

from torch_mlir import ir
from torch_mlir.dialects import arith, func, llvm, memref, scf

from .emission import (
    Index,
    add,
    buffer_type,
    divide,
    index,
    integer,
    intrinsic,
    loop,
    minimum,
    scalar,
    scale,
)
from .machine import Cpu

# More threads than this share bands. Each counter has a cache line of its own.
_BANDS, _LINE = 8, 16
# Counters of a step, as words of 32 bits.
WORDS = (1 + _BANDS) * _LINE
# Parts that the tasks of a band are taken in: a thread that is late leaves the rest to others.
_PARTS = 8
# Turns of waiting before a thread gives its core to others.
_SPINS = 2000
_WAIT, _YIELD = "wait", "sched_yield"


class Grid(NamedTuple):
    """Tasks of a step.

    Attributes:
      rows: that threads divide among them.
      columns: tasks of each row. Task t is of row t % rows.
      block: rows whose tasks come before those of the next ones.
    """

    rows: int
    columns: int = 1
    block: int = 1

    @property
    def tasks(self) -> int:
        return self.rows * self.columns

    def place(self, position: ir.Value, rows: ir.Value) -> tuple[Index, Index]:
        """Column and row of the task at a position among those of so many rows."""
        if self.columns == 1:
            return 0, position
        if self.block >= self.rows:
            return divide(position, rows)
        number, rest = divide(position, self.block * self.columns)
        first = scale(number, self.block)
        column, row = divide(rest, minimum(add(rows, scale(first, -1)), self.block))
        return column, add(first, row)


def share(
    counters: ir.Value,
    thread: ir.Value,
    threads: ir.Value,
    grid: Grid,
    compute: Callable[[ir.Value], None],
) -> None:
    """Code that takes tasks until there are none.

    Args:
      counters: of the step.
      thread, threads: number of this thread, and of all.
      grid: the tasks.
      compute: emits the code of a task.
    """
    bands = arith.minui(threads, index(_BANDS))
    part_of = arith.select(arith.cmpi(arith.CmpIPredicate.eq, threads, index(1)), index(1), index(_PARTS))

    def band(turn: ir.Value) -> None:
        number = arith.remui(arith.addi(thread, turn), bands)
        first_row, end = (
            arith.divui(arith.muli(each, index(grid.rows)), bands) for each in (number, arith.addi(number, index(1)))
        )
        count = arith.subi(end, first_row)
        tasks = arith.muli(count, index(grid.columns))
        part = arith.maxui(arith.divui(tasks, part_of), index(1))
        taken = arith.muli(arith.addi(number, index(1)), index(_LINE))

        def compute_part(first: ir.Value, last: ir.Value) -> None:
            def one(position: ir.Value) -> None:
                column, row = grid.place(position, count)
                compute(add(scale(column, grid.rows), first_row, row))

            loop(first, last, one)

        _take(counters, taken, part, tasks, compute_part)

    loop(0, bands, band)


def _take(
    counters: ir.Value,
    taken: ir.Value,
    part: ir.Value,
    tasks: ir.Value,
    compute: Callable[[ir.Value, ir.Value], None],
) -> None:
    """Code that takes tasks of a band, from the first one to before the last one at a time."""
    word, type_ = integer(32), ir.IndexType.get()
    addi = arith.AtomicRMWKind.addi
    part_word = arith.index_cast(word, part)
    repeat = scf.WhileOp([type_], [])
    with ir.InsertionPoint(repeat.before.blocks.append()):
        first = arith.index_cast(type_, memref.atomic_rmw(addi, part_word, counters, [taken]))
        scf.ConditionOp(arith.cmpi(arith.CmpIPredicate.slt, first, tasks), [first])
    after = repeat.after.blocks.append(type_)
    with ir.InsertionPoint(after):
        first = after.arguments[0]
        last = arith.minui(arith.addi(first, part), tasks)
        compute(first, last)
        memref.atomic_rmw(addi, arith.index_cast(word, arith.subi(last, first)), counters, [index(0)])
        scf.YieldOp([])


def emit_waiting(cpu: Cpu) -> func.FuncOp:
    """A function that returns when as many tasks are done as it is told."""
    func.FuncOp(_YIELD, ([], [integer(32)]), visibility="private")
    function = func.FuncOp(_WAIT, ([buffer_type(WORDS, 32), integer(32)], []), visibility="private")
    function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
    function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    with ir.InsertionPoint(function.add_entry_block()):
        counters, tasks = function.arguments
        address = memref.extract_aligned_pointer_as_index(counters)
        pointer = llvm.inttoptr(ir.Type.parse("!llvm.ptr"), arith.index_cast(integer(64), address))
        wait = scf.WhileOp([integer(32)], [scalar(0, 32)])
        before = wait.before.blocks.append(integer(32))
        with ir.InsertionPoint(before):
            done = llvm.load(integer(32), pointer, alignment=4, ordering=llvm.AtomicOrdering.acquire)
            scf.ConditionOp(arith.cmpi(arith.CmpIPredicate.slt, done, tasks), [before.arguments[0]])
        after = wait.after.blocks.append(integer(32))
        with ir.InsertionPoint(after):
            if cpu.is_x86:
                intrinsic("llvm.x86.sse2.pause", None)
            turns = arith.addi(after.arguments[0], scalar(1, 32))
            patient = scf.IfOp(arith.cmpi(arith.CmpIPredicate.sge, turns, scalar(_SPINS, 32)))
            with ir.InsertionPoint(patient.then_block):
                func.CallOp([integer(32)], ir.FlatSymbolRefAttr.get(_YIELD), [])
                scf.YieldOp([])
            scf.YieldOp([turns])
        func.ReturnOp([])
    return function
