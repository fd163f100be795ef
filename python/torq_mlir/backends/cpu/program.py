# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module of a program: a function for each kernel, and one that calls them in order.

    func @torq_entry(inputs..., outputs..., arena, constants, clock, counters, thread, threads, timed)

All buffers are passed as pointers. Each thread calls it and takes tasks of every step, until all of the step are done
(`sharing.py`). If it is timed, the first thread reads the clock before each step and at the end.
"""

import functools
from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref, scf
from torch_mlir.passmanager import PassManager

from . import sharing
from .emission import Index, buffer_type, index, integer, scalar
from .kernels import Kernel, Tiled
from .machine import Cpu
from .memory import Buffer
from .planning import Planner
from .steps import Step

ENTRY = "torq_entry"
_CLOCK = "clock_gettime"
# Of a monotonic clock, seconds and nanoseconds; CLOCK_MONOTONIC of Linux.
TIME_WORDS, _MONOTONIC = 2, 1
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


def counter_bytes(plan: Planner) -> int:
    """Of the counters of all steps, which are 0 before a run."""
    return 4 * sharing.WORDS * len(plan.steps)


class _Builder:
    def __init__(self, plan: Planner) -> None:
        self.plan, self.cpu = plan, plan.cpu
        self.functions: dict[Kernel | str, func.FuncOp] = {}

    def emit(self) -> None:
        clock = func.FuncOp(_CLOCK, ([integer(32), buffer_type(TIME_WORDS, 64)], [integer(32)]), visibility="private")
        clock.attributes["llvm.bareptr"] = ir.UnitAttr.get()
        waiting = sharing.emit_waiting(self.cpu)
        for step in self.plan.steps:
            if step.kernel not in self.functions:
                self.functions[step.kernel] = self._function(step)
        self._main(waiting)

    def _function(self, step: Step) -> func.FuncOp:
        """The function of a step: it computes the tasks that this thread takes."""
        kernel = step.kernel
        if isinstance(kernel, str):
            types = [buffer_type(each.bytes, 8) for each in step.arguments]
            name, emit = f"{kernel}_task", self._declare(kernel, types)
        else:
            types, name = kernel.arguments(self.cpu), f"{kernel.name}_{len(self.functions)}"
            emit = functools.partial(kernel.emit, self.cpu)
        signature = [*types, buffer_type(sharing.WORDS, 32), *[ir.IndexType.get()] * 2]
        function = func.FuncOp(name, (signature, []), visibility="private")
        set_attributes(function, self.cpu)
        with ir.InsertionPoint(function.add_entry_block()):
            *arguments, counters, thread, threads = function.arguments
            sharing.share(counters, thread, threads, self._grid(step), functools.partial(emit, arguments))
            func.ReturnOp([])
        return function

    def _declare(self, name: str, types: Sequence[ir.Type]) -> Callable[[list[ir.Value], Index], None]:
        """The call of a function that is defined elsewhere, as the code of its only task."""
        function = func.FuncOp(name, (types, []), visibility="private")
        function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
        return lambda arguments, task: func.CallOp(function, arguments) and None

    def _grid(self, step: Step) -> sharing.Grid:
        kernel = step.kernel
        if isinstance(kernel, str):
            return sharing.Grid(1)
        if not isinstance(kernel, Tiled):
            return sharing.Grid(kernel.tasks(self.cpu))
        columns = kernel.tasks_of_row(self.cpu)
        return sharing.Grid(kernel.tasks(self.cpu) // columns, columns, kernel.rows_of_block)

    def _main(self, waiting: func.FuncOp) -> None:
        plan = self.plan
        layouts = [*plan.inputs, *plan.outputs]
        types = [buffer_type(layout.bytes, 8) for layout in layouts]
        types += [buffer_type(max(size, 1), 8) for size in (plan.arena, plan.constants.size)]
        types += [buffer_type(clock_bytes(plan), 8), buffer_type(counter_bytes(plan), 8), *[ir.IndexType.get()] * 3]
        function = func.FuncOp(ENTRY, (types, []))
        function.attributes["llvm.bareptr"] = ir.UnitAttr.get()
        with ir.InsertionPoint(function.add_entry_block()):
            arguments = list(function.arguments)
            places = _Places(arguments, len(plan.inputs), len(layouts))
            times, counters, thread, threads, timed = arguments[-5:]
            timed = arith.cmpi(arith.CmpIPredicate.ugt, timed, thread)
            for number, step in enumerate(plan.steps):
                _read_clock(times, timed, number)
                own = memref.view(buffer_type(sharing.WORDS, 32), counters, index(4 * sharing.WORDS * number), [])
                self._call(step, places, [own, thread, threads])
                func.CallOp(waiting, [own, scalar(self._grid(step).tasks, 32)])
            _read_clock(times, timed, len(plan.steps))
            func.ReturnOp([])

    def _call(self, step: Step, places: "_Places", shared: list[ir.Value]) -> None:
        function = self.functions[step.kernel]
        with step.operation.location:
            types = function.type.inputs
            arguments = [
                places.buffer(each, type_) if isinstance(each, Buffer) else _constant(each, type_)
                for each, type_ in zip(step.arguments, types, strict=False)
            ]
            func.CallOp(function, [*arguments, *shared])


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
        attributes["passthrough"] = passed_target(cpu.target)


def passed_target(name: str) -> ir.Attribute:
    """The attribute `passthrough` of a function for a processor of that name.

    Where features are not said, those of this machine are added.
    """
    pairs = (("target-cpu", name), ("target-features", "+sse2"))
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.StringAttr.get(each) for each in pair]) for pair in pairs])


def _read_clock(times: ir.Value, timed: ir.Value, number: int) -> None:
    with ir.InsertionPoint(scf.IfOp(timed).then_block):
        time = memref.view(buffer_type(TIME_WORDS, 64), times, index(8 * TIME_WORDS * number), [])
        func.CallOp([integer(32)], ir.FlatSymbolRefAttr.get(_CLOCK), [scalar(_MONOTONIC, 32), time])
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
