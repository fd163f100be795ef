# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of several functions that take turns, so that what slows down the machine slows down all of them."""

import contextlib
import ctypes
import gc
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

_PAGE = resource.getpagesize()
# Threads of a runtime that has just ended go on looking for work for some milliseconds.
_PAUSE = 0.02
# Of one turn: what is faster is called several times. What is slower than that by far needs no call that warms up.
_TURN, _SLOW = 0.03, 0.3


class Effort(NamedTuple):
    """How long to measure.

    Attributes:
      rounds: turns of each function, at least.
      seconds: in all, beyond the least number of rounds.
    """

    rounds: int
    seconds: float


FULL, QUICK = Effort(11, 20.0), Effort(3, 0.5)


class Times(NamedTuple):
    """Seconds of each call."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def minimum(self) -> float:
        return min(self.seconds)


def take_turns(functions: Mapping[str, Callable[[], object]], effort: Effort, *, threads: int = 1) -> dict[str, Times]:
    """Times of each function. In each round all of them are called, beginning with another one each time.

    A turn begins with a call that is not counted, which brings code and weights into the caches; but not of a function
    that takes so long that this makes no difference.
    """
    if not functions:
        return {}
    calls = {name: _calls(function) for name, function in functions.items()}
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    order, end, number = list(functions), time.perf_counter() + effort.seconds, 0
    gc.disable()
    try:
        while number < effort.rounds or time.perf_counter() < end:
            for name in order[number % len(order) :] + order[: number % len(order)]:
                if threads > 1:
                    time.sleep(_PAUSE)
                if calls[name]:
                    functions[name]()
                seconds[name] += [seconds_of(functions[name]) for _ in range(calls[name] or 1)]
            number += 1
    finally:
        gc.enable()
    return {name: Times(tuple(each)) for name, each in seconds.items()}


def seconds_of(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _calls(function: Callable[[], object]) -> int:
    """That are timed in a turn; 0 for a function that is so slow that it is only timed once."""
    function()
    seconds = seconds_of(function)
    return 0 if seconds > _SLOW else max(1, min(30, int(_TURN / max(seconds, 1e-6))))


@contextlib.contextmanager
def pinned(threads: int) -> Iterator[None]:
    """All threads of the process run on so many cores only; on systems without such a call, wherever they want."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    _pin(_cores(sorted(before))[:threads])
    try:
        yield
    finally:
        _pin(before)


def _pin(cores: Sequence[int] | set[int]) -> None:
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(task), cores)


def _cores(logical: Sequence[int]) -> list[int]:
    """Those that share no core with another first."""
    first, second, seen = [], [], set()
    for core in logical:
        path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        siblings = path.read_text().strip() if path.exists() else str(core)
        (second if siblings in seen else first).append(core)
        seen.add(siblings)
    return first + second


class Memory:
    """Bytes that the process takes on top of what it had, at the peak.

    with Memory() as memory: ...
    memory.bytes
    """

    bytes = 0

    def __enter__(self) -> "Memory":
        gc.collect()
        _return_free_memory()
        self._before = int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
        with contextlib.suppress(OSError):  # without the permission, the peak is that of the process so far
            Path("/proc/self/clear_refs").write_text("5")
        return self

    def __exit__(self, *_: object) -> None:
        lines = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
        self.bytes = max(0, peak - self._before)


def _return_free_memory() -> None:
    """To the system: what was freed before and is used again would not be counted."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def copy_bandwidth(megabytes: int = 128) -> float:
    """Bytes in a second that one core reads and writes when it copies what fits in no cache."""
    source, target = np.ones(megabytes << 20, np.uint8), np.zeros(megabytes << 20, np.uint8)
    return 2 * source.nbytes / min(seconds_of(lambda: np.copyto(target, source)) for _ in range(7))
