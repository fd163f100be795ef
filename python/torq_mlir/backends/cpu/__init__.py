# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module on the host CPU, with kernels that are generated for its shapes and for the processor."""

from os import PathLike

from torch_mlir import ir

from . import caching, library
from .code import Code, Program
from .executable import CpuExecutable
from .machine import CPUS, Cpu, available, detect, select
from .planning import NotPlannedError, Planner
from .preparation import prepare
from .profile import Profile
from .program import build
from .selection import HANDLERS


def compile(
    module: ir.Module,
    *,
    cpu: str | None = None,
    num_threads: int | None = None,
    opt_level: int = 3,
    cache_dir: str | PathLike | None = None,
) -> CpuExecutable:
    """Compiles the function `main` of a module in torq_hl, or its only public function.

    Args:
      module: torq_hl, and what is beside it, on tensors of static shape. It is not modified.
      cpu: name of one of `CPUS`; the best one that this machine can run for None.
      num_threads: threads of a call; as many as the machine has cores for None.
      opt_level: of LLVM, 0 to 3.
      cache_dir: folder where compiled code is kept, and taken from if it is there.

    Raises:
      NotPlannedError: a shape is not static, or a function is called.
      CompileError: an operation has no lowering, or this machine cannot run code for that cpu.
      ValueError: the number of threads is not positive.
    """
    processor = select(cpu)
    key = (module, processor, opt_level, cache_dir)
    if cache_dir is not None and (cached := caching.load(*key)) is not None:
        return CpuExecutable(*cached, num_threads=num_threads)
    plan, program = plan_and_build(module, processor)
    if cache_dir is not None and caching.store(*key, plan, program) and (cached := caching.load(*key)) is not None:
        return CpuExecutable(*cached, num_threads=num_threads)
    return CpuExecutable(Program.of(plan), Code.in_process(plan, program, opt_level), num_threads=num_threads)


def plan_and_build(module: ir.Module, processor: Cpu) -> tuple[Planner, ir.Module]:
    """The plan of a module, and its program in the LLVM dialect.

    Raises:
      as `compile`.
    """
    module = prepare(module, HANDLERS)
    with module.context, ir.Location.unknown():
        plan = Planner(module, processor, HANDLERS)
        return plan, build(plan, module.context)


__all__ = [
    "CPUS",
    "Cpu",
    "CpuExecutable",
    "NotPlannedError",
    "Profile",
    "available",
    "compile",
    "detect",
    "library",
    "plan_and_build",
    "select",
]
