# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The threads that help the one which calls a program."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Helpers:
    """Threads that sleep between calls.

    A thread that wakes up is often put on the core of the one that woke it, where it waits for milliseconds: as long as
    a whole inference. These are kept away from the core of the caller.
    """

    def __init__(self, count: int) -> None:
        self.process = os.getpid()
        self._pool = ThreadPoolExecutor(count, "torq", self._enter) if count else None
        self._ids: list[int] = []
        self._core: int | None = None
        self._placed = 0

    def _enter(self) -> None:
        self._ids.append(threading.get_native_id())

    def submit(self, function: Callable[..., None], *arguments: object) -> None:
        """Has one of the threads call it."""
        assert self._pool is not None
        self._pool.submit(function, *arguments)

    def keep_away(self) -> None:
        """From the core that the caller is on, if there are others and the system can tell."""
        core = _current_core()
        if core is None or (core == self._core and self._placed == len(self._ids)):
            return
        others = os.sched_getaffinity(0) - {core}
        if not others:
            return
        ids = tuple(self._ids)
        for each in ids:
            os.sched_setaffinity(each, others)
        self._core, self._placed = core, len(ids)


def _current_core() -> int | None:
    return _sched_getcpu() if _sched_getcpu is not None and hasattr(os, "sched_setaffinity") else None


_sched_getcpu = getattr(ctypes.CDLL(None), "sched_getcpu", None) if os.name == "posix" else None
