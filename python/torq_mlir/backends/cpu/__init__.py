# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module on the host CPU, with kernels that are generated for its shapes and for the processor."""

from torch_mlir import ir

from torq_mlir.execution.signature import entry_function

from .executable import CpuExecutable
from .machine import CPUS, Cpu, detect, select
from .planning import Planner
from .program import build
from .selection import HANDLERS


def compile(
    module: ir.Module, *, cpu: str | None = None, num_threads: int | None = None, opt_level: int = 3
) -> CpuExecutable:
    """Compiles the function `main` of a module in torq_hl, or its only public function.

    Args:
      module: torq_hl, and what is beside it, on tensors of static shape. It is not modified.
      cpu: name of one of `CPUS`; the best one that this machine can run for None.
      num_threads: threads of a call; as many as the machine has cores for None.
      opt_level: of LLVM, 0 to 3.

    Raises:
      CompileError: a shape is not static, an operation has no lowering, or this machine cannot run code for that cpu.
    """
    with module.context, ir.Location.unknown():
        plan = Planner(entry_function(module).operation, select(cpu), HANDLERS)
        program = build(plan, module.context)
    return CpuExecutable(plan, program, num_threads=num_threads, opt_level=opt_level)


__all__ = ["CPUS", "Cpu", "CpuExecutable", "compile", "detect"]
