# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How threads share the tasks of a step.

Each step has two counters: tasks that a thread has taken, and tasks that are done. A thread takes tasks until none is
left, then waits until all are done. None waits for another thread as such: what one does that is late, or never
comes, the others do.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref, scf

from .emission import buffer_type, index, integer, intrinsic, scalar
from .machine import Cpu

# Counters of a step.
WORDS = 2
# Parts that the tasks of each thread are taken in: a thread that is late leaves the rest to others.
_PARTS = 4
# Turns of waiting before a thread gives its core to others.
_SPINS = 2000
_WAIT, _YIELD = "wait", "sched_yield"


def share(counters: ir.Value, threads: ir.Value, tasks: int, compute: Callable[[ir.Value, ir.Value], None]) -> None:
    """Code that takes tasks, from the first one to before the last one at a time, until there are none."""
    part = _part(threads, tasks)
    loop = scf.WhileOp([integer(32)], [])
    with ir.InsertionPoint(loop.before.blocks.append()):
        first = memref.atomic_rmw(arith.AtomicRMWKind.addi, part, counters, [index(0)])
        scf.ConditionOp(arith.cmpi(arith.CmpIPredicate.slt, first, scalar(tasks, 32)), [first])
    after = loop.after.blocks.append(integer(32))
    with ir.InsertionPoint(after):
        first = after.arguments[0]
        last = arith.minsi(arith.addi(first, part), scalar(tasks, 32))
        compute(*(arith.index_cast(ir.IndexType.get(), each) for each in (first, last)))
        memref.atomic_rmw(arith.AtomicRMWKind.addi, arith.subi(last, first), counters, [index(1)])
        scf.YieldOp([])


def _part(threads: ir.Value, tasks: int) -> ir.Value:
    """How many tasks a thread takes at a time; all if it is alone."""
    count = arith.index_cast(integer(32), threads)
    alone = arith.cmpi(arith.CmpIPredicate.eq, count, scalar(1, 32))
    divided = arith.divui(scalar(tasks, 32), arith.muli(count, scalar(_PARTS, 32)))
    return arith.select(alone, scalar(tasks, 32), arith.maxsi(divided, scalar(1, 32)))


def emit_waiting(cpu: Cpu) -> func.FuncOp:
    """A function that returns when as many tasks are done as it is told."""
    func.FuncOp(_YIELD, ([], [integer(32)]), visibility="private")
    function = func.FuncOp(_WAIT, ([buffer_type(WORDS, 32), integer(32)], []), visibility="private")
    function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
    function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    with ir.InsertionPoint(function.add_entry_block()):
        counters, tasks = function.arguments
        wait = scf.WhileOp([integer(32)], [scalar(0, 32)])
        before = wait.before.blocks.append(integer(32))
        with ir.InsertionPoint(before):
            done = memref.atomic_rmw(arith.AtomicRMWKind.addi, scalar(0, 32), counters, [index(1)])
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
