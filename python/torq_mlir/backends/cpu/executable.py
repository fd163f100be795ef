# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a compiled program with numpy arrays, on several threads."""

import ctypes
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from torq_mlir.errors import CompileError, InputError

from .layout import Layout
from .planning import Planner
from .program import ENTRY, TIME_WORDS
from .steps import aligned_bytes

_WORD = np.dtype(np.intp)


class CpuExecutable:
    """A compiled program.

    It may be called from several threads at once: each call has its own memory. Python's lock is not held meanwhile.

    Attributes:
      arena_bytes: memory of activations of one call.
      constant_bytes: memory of packed weights.
      num_threads: threads of one call.
    """

    def __init__(self, plan: Planner, module: ir.Module, *, num_threads: int | None, opt_level: int) -> None:
        """Raises:
        CompileError: LLVM could not link the code.
        ValueError: the number of threads is not positive.
        """
        self.num_threads = (os.cpu_count() or 1) if num_threads is None else num_threads
        if self.num_threads < 1:
            raise ValueError(f"the number of threads is {num_threads}, not 1 or more")
        self._inputs, self._outputs, self._steps = plan.inputs, plan.outputs, len(plan.steps)
        self.arena_bytes, self.constant_bytes = plan.arena, plan.constants.size
        try:
            self._engine = ExecutionEngine(module, opt_level=opt_level)
        except RuntimeError as error:
            raise CompileError(str(error)) from error
        address = self._engine.raw_lookup(ENTRY)
        if not address:
            raise CompileError("the code needs a function that the process does not have")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        self._constants = plan.constants.block()
        self._free: list[np.ndarray] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(self.num_threads - 1, "torq") if self.num_threads > 1 else None

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Computes the results.

        Args:
          inputs: one array for each input, of its shape and dtype, in any memory layout. None is written.

        Returns:
          New arrays.

        Raises:
          InputError: the number, shape or dtype of the inputs is not that of the function.
        """
        outputs, _ = self._call(inputs, timed=False)
        return outputs

    def profile(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
        """The results, and the seconds that each step of the plan took.

        Raises:
          as a call.
        """
        outputs, times = self._call(inputs, timed=True)
        return outputs, np.diff(times @ np.array([1e9, 1.0])) * 1e-9

    def _call(self, inputs: Sequence[np.ndarray], timed: bool) -> tuple[list[np.ndarray], np.ndarray]:
        if len(inputs) != len(self._inputs):
            raise InputError(f"expected {len(self._inputs)} inputs, got {len(inputs)}")
        pairs = zip(inputs, self._inputs, strict=True)
        arrays = [_checked(array, layout, position) for position, (array, layout) in enumerate(pairs)]
        outputs = [np.empty(layout.shape, layout.dtype) for layout in self._outputs]
        times = np.zeros((self._steps + 1, TIME_WORDS), np.int64)
        arena = self._take()
        try:
            self._run([*arrays, *outputs, arena, self._constants, times], timed)
        finally:
            with self._lock:
                self._free.append(arena)
        return outputs, times

    def _take(self) -> np.ndarray:
        with self._lock:
            return self._free.pop() if self._free else aligned_bytes(max(self.arena_bytes, 1))

    def _run(self, buffers: list[np.ndarray], timed: bool) -> None:
        counter = np.zeros(1, np.int32)
        pointers = [array.ctypes.data for array in (*buffers, counter)]
        calls = [np.array([*pointers, thread, self.num_threads, timed], _WORD) for thread in range(self.num_threads)]
        slots = [call.ctypes.data + _WORD.itemsize * np.arange(len(call), dtype=_WORD) for call in calls]
        others = [self._pool.submit(self._function, slot.ctypes.data) for slot in slots[1:]] if self._pool else []
        self._function(slots[0].ctypes.data)
        for other in others:
            other.result()


def _checked(array: np.ndarray, layout: Layout, position: int) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype != layout.dtype:
        raise InputError(f"input {position} is {array.dtype}, expected {layout.dtype}")
    if array.shape != layout.shape:
        expected = "x".join(map(str, layout.shape)) or "a scalar"
        raise InputError(f"input {position} has shape {array.shape}, expected {expected}")
    return np.ascontiguousarray(array)
