# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of a program, from LLVM in this process or from a library, and what has to be known to call it."""

import ctypes
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from torq_mlir.errors import CompileError

from . import sharing
from .layout import Layout
from .planning import Planner
from .program import ENTRY, TIME_WORDS
from .steps import StepInfo


@dataclasses.dataclass(frozen=True)
class Program:
    """Attributes:
    inputs, outputs: shape and dtype of each.
    cpu: name of the processor that it is for.
    arena_bytes: memory of the activations of one call.
    constant_bytes: memory of packed weights.
    steps: calls of kernels, in order.
    """

    inputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    outputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    cpu: str
    arena_bytes: int
    constant_bytes: int
    steps: tuple[StepInfo, ...]

    @classmethod
    def of(cls, plan: Planner) -> "Program":
        def described(layouts: list[Layout]) -> tuple[tuple[tuple[int, ...], np.dtype], ...]:
            return tuple((layout.shape, layout.dtype) for layout in layouts)

        steps = tuple(StepInfo.of(step) for step in plan.steps)
        arrays = described(plan.inputs), described(plan.outputs)
        return cls(*arrays, plan.cpu.name, plan.arena, plan.constants.size, steps)

    @property
    def counter_shape(self) -> tuple[int, int]:
        """Of the counters that the threads of a run share the steps by."""
        return len(self.steps), sharing.WORDS

    @property
    def clock_shape(self) -> tuple[int, int]:
        """Of the times that a run can write."""
        return len(self.steps) + 1, TIME_WORDS

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        arrays = {name: [[shape, dtype.name] for shape, dtype in getattr(self, name)] for name in ("inputs", "outputs")}
        return dataclasses.asdict(self) | arrays

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Program":
        arrays = {
            name: tuple((tuple(shape), np.dtype(dtype)) for shape, dtype in values[name])
            for name in ("inputs", "outputs")
        }
        steps = tuple(StepInfo(**{**step, "names": tuple(step["names"])}) for step in values["steps"])
        return cls(**{**values, **arrays, "steps": steps})


@dataclasses.dataclass(frozen=True)
class Code:
    """Attributes:
    function: takes an array of pointers to its arguments.
    constants: address of the packed weights.
    keeps: what has to stay alive.
    """

    function: ctypes._CFuncPtr
    constants: int
    keeps: Any

    @classmethod
    def in_process(cls, plan: Planner, module: ir.Module, opt_level: int) -> "Code":
        """Raises:
        CompileError: LLVM could not link the code.
        """
        try:
            engine = ExecutionEngine(module, opt_level=opt_level)
        except RuntimeError as error:
            raise CompileError(str(error)) from error
        address = engine.raw_lookup(ENTRY)
        if not address:
            raise CompileError("the code needs a function that the process does not have")
        constants = plan.constants.block()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        return cls(function, constants.ctypes.data, (engine, constants))

    @classmethod
    def of_library(cls, path: Path, prefix: str) -> "Code":
        """From a library whose names begin with that.

        Raises:
          OSError: it is not a library that can be loaded.
          AttributeError, ValueError: it lacks a name.
        """
        library = ctypes.CDLL(str(path))
        function = getattr(library, f"_mlir_{prefix}_entry")
        function.restype, function.argtypes = None, [ctypes.c_void_p]
        constants = ctypes.addressof(ctypes.c_char.in_dll(library, f"{prefix}_constants"))
        return cls(function, constants, library)
