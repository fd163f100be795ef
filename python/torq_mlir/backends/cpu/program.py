# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module of a program: a function for each kernel, and one that calls them in order.

    func @torq_entry(inputs..., outputs..., arena, constants, clock, barrier, thread, threads, timed)

All buffers are passed as pointers. Each thread calls it, computes its part of every step, and waits for the others
before the next one. If it is timed, the first thread reads the clock before each step and at the end.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref, scf
from torch_mlir.passmanager import PassManager

from .emission import buffer_type, index, integer, intrinsic, loop, scalar
from .kernels import Kernel
from .machine import Cpu
from .memory import Buffer
from .planning import Planner
from .steps import Step

ENTRY = "torq_entry"
_BARRIER, _YIELD, _CLOCK = "barrier", "sched_yield", "clock_gettime"
# Of a monotonic clock, seconds and nanoseconds; CLOCK_MONOTONIC of Linux.
TIME_WORDS, _MONOTONIC = 2, 1
# Turns of waiting before a thread gives its core to others.
_SPINS = 2000
LOWER = (
    "builtin.module(canonicalize,cse,convert-vector-to-scf,convert-scf-to-cf,convert-vector-to-llvm,"
    "expand-strided-metadata,lower-affine,canonicalize,cse,convert-to-llvm,reconcile-unrealized-casts)"
)


def build(plan: Planner, context: ir.Context) -> ir.Module:
    """The program in the LLVM dialect."""
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            _Builder(plan).emit()
        PassManager.parse(LOWER).run(module.operation)
        for island in plan.islands:
            _merge(module, island.module)
    return module


def clock_bytes(plan: Planner) -> int:
    """Of the times of all steps."""
    return 8 * TIME_WORDS * (len(plan.steps) + 1)


class _Builder:
    def __init__(self, plan: Planner) -> None:
        self.plan, self.cpu = plan, plan.cpu
        self.functions: dict[Kernel | str, func.FuncOp] = {}

    def emit(self) -> None:
        func.FuncOp(_YIELD, ([], [integer(32)]), visibility="private")
        clock = func.FuncOp(_CLOCK, ([integer(32), buffer_type(TIME_WORDS, 64)], [integer(32)]), visibility="private")
        clock.attributes["llvm.bareptr"] = ir.UnitAttr.get()
        barrier = _emit_barrier(self.cpu)
        for step in self.plan.steps:
            if step.kernel not in self.functions:
                self.functions[step.kernel] = self._function(step)
        self._main(barrier)

    def _function(self, step: Step) -> func.FuncOp:
        """The function of a kernel: a range of its tasks. That of an island is defined elsewhere."""
        kernel = step.kernel
        if isinstance(kernel, str):
            types = [buffer_type(each.bytes, 8) for each in step.arguments]
            function = func.FuncOp(kernel, (types, []), visibility="private")
            function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
            return function
        types = [*kernel.arguments(self.cpu), *[ir.IndexType.get()] * 2]
        function = func.FuncOp(f"{kernel.name}_{len(self.functions)}", (types, []), visibility="private")
        set_attributes(function, self.cpu)
        with ir.InsertionPoint(function.add_entry_block()):
            *arguments, first, last = function.arguments
            loop(first, last, lambda task: kernel.emit(self.cpu, arguments, task))
            func.ReturnOp([])
        return function

    def _main(self, barrier: func.FuncOp) -> None:
        plan = self.plan
        layouts = [*plan.inputs, *plan.outputs]
        types = [buffer_type(layout.bytes, 8) for layout in layouts]
        types += [buffer_type(max(size, 1), 8) for size in (plan.arena, plan.constants.size)]
        types += [buffer_type(clock_bytes(plan), 8), buffer_type(1, 32), *[ir.IndexType.get()] * 3]
        function = func.FuncOp(ENTRY, (types, []))
        function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
        with ir.InsertionPoint(function.add_entry_block()):
            arguments = list(function.arguments)
            places = _Places(arguments, len(plan.inputs), len(layouts))
            times, counter, thread, threads, timed = arguments[-5:]
            timed = arith.cmpi(arith.CmpIPredicate.ugt, timed, thread)
            for number, step in enumerate(plan.steps):
                _read_clock(times, timed, number)
                self._call(step, places, thread, threads)
                _wait(barrier, counter, threads, number + 1)
            _read_clock(times, timed, len(plan.steps))
            func.ReturnOp([])

    def _call(self, step: Step, places: "_Places", thread: ir.Value, threads: ir.Value) -> None:
        function = self.functions[step.kernel]
        with step.operation.location:
            types = function.type.inputs
            arguments = [
                places.buffer(each, type_) if isinstance(each, Buffer) else _constant(each, type_)
                for each, type_ in zip(step.arguments, types, strict=False)
            ]
            if isinstance(step.kernel, str):
                alone = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, thread, index(0)))
                with ir.InsertionPoint(alone.then_block):
                    func.CallOp(function, arguments)
                    scf.YieldOp([])
                return
            tasks = index(step.kernel.tasks(self.cpu))
            bounds = [arith.divui(arith.muli(tasks, each), threads) for each in (thread, arith.addi(thread, index(1)))]
            func.CallOp(function, [*arguments, *bounds])


class _Places:
    """Buffers as values, of the types that functions take."""

    def __init__(self, arguments: Sequence[ir.Value], inputs: int, buffers: int) -> None:
        self._inputs, self._outputs = arguments[:inputs], arguments[inputs:buffers]
        self._arena, self._constants = arguments[buffers : buffers + 2]

    def buffer(self, buffer: Buffer, type_: ir.Type) -> ir.Value:
        if buffer.place in ("input", "output"):
            source, position = (self._inputs if buffer.place == "input" else self._outputs)[buffer.position], 0
        else:
            source, position = (self._arena if buffer.place == "arena" else self._constants), buffer.position
        return memref.view(type_, source, index(position), [])


def _constant(value: int, type_: ir.Type) -> ir.Value:
    half = 1 << (ir.IntegerType(type_).width - 1)
    return arith.constant(type_, (value + half) % (2 * half) - half)


def set_attributes(function: func.FuncOp, cpu: Cpu, linkage: str = "internal") -> None:
    """Makes it a function of pointers, with the instructions of that processor."""
    attributes = function.attributes
    attributes["llvm.bareptr"] = ir.UnitAttr.get()
    attributes["llvm.linkage"] = ir.Attribute.parse(f"#llvm.linkage<{linkage}>")
    if cpu.target is not None:
        pair = ir.ArrayAttr.get([ir.StringAttr.get("target-cpu"), ir.StringAttr.get(cpu.target)])
        attributes["passthrough"] = ir.ArrayAttr.get([pair])


def _emit_barrier(cpu: Cpu) -> func.FuncOp:
    """Adds one to the counter, and returns when it has reached what it is to reach."""
    function = func.FuncOp(_BARRIER, ([buffer_type(1, 32), integer(32)], []), visibility="private")
    function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
    function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    with ir.InsertionPoint(function.add_entry_block()):
        counter, target = function.arguments
        _add(counter, 1)
        wait = scf.WhileOp([integer(32)], [scalar(0, 32)])
        before = wait.before.blocks.append(integer(32))
        with ir.InsertionPoint(before):
            behind = arith.cmpi(arith.CmpIPredicate.slt, _add(counter, 0), target)
            scf.ConditionOp(behind, [before.arguments[0]])
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


def _add(counter: ir.Value, value: int) -> ir.Value:
    return memref.atomic_rmw(arith.AtomicRMWKind.addi, scalar(value, 32), counter, [index(0)])


def _read_clock(times: ir.Value, timed: ir.Value, number: int) -> None:
    with ir.InsertionPoint(scf.IfOp(timed).then_block):
        time = memref.view(buffer_type(TIME_WORDS, 64), times, index(8 * TIME_WORDS * number), [])
        func.CallOp([integer(32)], ir.FlatSymbolRefAttr.get(_CLOCK), [scalar(_MONOTONIC, 32), time])
        scf.YieldOp([])


def _wait(barrier: func.FuncOp, counter: ir.Value, threads: ir.Value, round_: int) -> None:
    several = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ugt, threads, index(1)))
    with ir.InsertionPoint(several.then_block):
        target = arith.muli(arith.index_cast(integer(32), threads), scalar(round_, 32))
        func.CallOp(barrier, [counter, target])
        scf.YieldOp([])


def _merge(module: ir.Module, other: ir.Module) -> None:
    """Copies what another module defines, and declares what it calls."""
    known = {_symbol(operation): operation.operation for operation in module.body.operations}
    for operation in other.body.operations:
        symbol = _symbol(operation)
        declared = known.get(symbol)
        if declared is not None and len(operation.regions) and len(operation.regions[0].blocks):
            declared.erase()
        elif declared is not None:
            continue
        with ir.InsertionPoint(module.body):
            known[symbol] = operation.operation.clone().operation


def _symbol(operation: ir.OpView) -> str | None:
    return operation.attributes["sym_name"].value if "sym_name" in operation.attributes else None
