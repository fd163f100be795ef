# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a compiled program with numpy arrays, on several threads."""

import os
import threading
from collections.abc import Callable, Sequence

import numpy as np

from torq_mlir.errors import InputError

from .code import Code, Program
from .helpers import Helpers
from .machine import select
from .peak import peak_gmacs
from .profile import Profile, Timing
from .steps import aligned_bytes

_WORD = np.dtype(np.intp)


class CpuExecutable:
    """A compiled program.

    It may be called from several threads at once: each call has its own memory. Python's lock is not held meanwhile.

    Attributes:
      program: inputs, outputs, memory and steps.
      num_threads: threads of one call.
    """

    def __init__(self, program: Program, code: Code, *, num_threads: int | None = None) -> None:
        """Raises:
        ValueError: the number of threads is not positive.
        """
        self.num_threads = _cores() if num_threads is None else num_threads
        if self.num_threads < 1:
            raise ValueError(f"the number of threads is {num_threads}, not 1 or more")
        self.program, self._code = program, code
        self._free: list[np.ndarray] = []
        self._lock = threading.Lock()
        self._helpers = Helpers(self.num_threads - 1)

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

    def profile(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], Profile]:
        """The results, and how long each step took.

        Raises:
          as a call.
        """
        outputs, times = self._call(inputs, timed=True)
        moments = (times[:, 0] - times[0, 0]) + (times[:, 1] - times[0, 1]) * 1e-9
        spans = zip(self.program.steps, moments.tolist(), np.diff(moments).tolist(), strict=False)
        timings = [Timing(step, start, seconds) for step, start, seconds in spans]
        peak = peak_gmacs(select(self.program.cpu), self.num_threads)
        return outputs, Profile(timings, peak, self.program.arena_bytes, self.program.constant_bytes)

    def _call(self, inputs: Sequence[np.ndarray], timed: bool) -> tuple[list[np.ndarray], np.ndarray]:
        program = self.program
        if len(inputs) != len(program.inputs):
            raise InputError(f"expected {len(program.inputs)} inputs, got {len(inputs)}")
        pairs = zip(inputs, program.inputs, strict=True)
        arrays = [_checked(array, *expected, position) for position, (array, expected) in enumerate(pairs)]
        outputs = [np.empty(shape, dtype) for shape, dtype in program.outputs]
        times = np.zeros(program.clock_shape, np.int64)
        if self._helpers.process != os.getpid():  # the child of a fork, which has no threads
            self._helpers, self._lock = Helpers(self.num_threads - 1), threading.Lock()
        arena = self._take()
        try:
            self._run([array.ctypes.data for array in (*arrays, *outputs, arena)], times, timed)
        finally:
            with self._lock:
                self._free.append(arena)
        return outputs, times

    def _take(self) -> np.ndarray:
        with self._lock:
            return self._free.pop() if self._free else aligned_bytes(max(self.program.arena_bytes, 1))

    def _run(self, buffers: list[int], times: np.ndarray, timed: bool) -> None:
        counters, function = np.zeros(self.program.counter_shape, np.int32), self._code.function
        pointers = [*buffers, self._code.constants, times.ctypes.data, counters.ctypes.data]
        calls = np.array([[*pointers, thread, self.num_threads, timed] for thread in range(self.num_threads)], _WORD)
        places = np.arange(calls.ctypes.data, calls.ctypes.data + calls.nbytes, _WORD.itemsize, _WORD)
        slots = list(places.reshape(calls.shape))
        if self.num_threads > 1:
            self._helpers.keep_away()
        for slot in slots[1:]:
            # A thread that comes when all is done sees that in the counters, and touches nothing else. By then the
            # executable may be gone.
            self._helpers.submit(_help, function, slot, (self._code, calls, counters, times))
        function(slots[0].ctypes.data)


def _help(function: Callable[[int], None], slots: np.ndarray, keeps: object) -> None:
    """Takes tasks of a call. `keeps` has the machine code and what the arguments point to."""
    function(slots.ctypes.data)


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(array: np.ndarray, shape: tuple[int, ...], dtype: np.dtype, position: int) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype != dtype:
        raise InputError(f"input {position} is {array.dtype}, expected {dtype}")
    if array.shape != shape:
        expected = "x".join(map(str, shape)) or "a scalar"
        raise InputError(f"input {position} has shape {array.shape}, expected {expected}")
    return np.ascontiguousarray(array)
