# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where tasks run: processes of this machine, or a Dask cluster. A task that takes its process down ends alone."""

import concurrent.futures
import contextlib
import faulthandler
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.spawn
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol, TypeVar

import pebble

from torq_mlir.errors import TorqError, UntestedVersionWarning
from torq_mlir.extras import require

# What is imported once, by the process that the others are forked from.
_PRELOADED = ["torq_mlir.gen_config.preloaded"]
# How often in a row processes may end before one of them has done anything.
_MOST_BROKEN = 3
_WATCH_SECONDS = 1.0

T, R = TypeVar("T"), TypeVar("R")


class TaskFailure(TorqError):
    """A task ended without a result: its process crashed, was killed, or took too long. The text is one line."""


class WorkersEnded(TorqError):
    """A task was not done for a reason that is not its own: a process ended that had no task, and took others along."""


class Workers(Protocol):
    """Something that runs tasks."""

    def submit(self, function: Callable[[T], R], task: T) -> "concurrent.futures.Future[R]":
        """Run `function(task)` elsewhere; `result_of` gives what came of it."""


def default_jobs() -> int:
    """As many as there are cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def result_of(future: "concurrent.futures.Future[R]") -> R:
    """The result of a task that is done.

    Raises:
      TaskFailure: the process of the task ended, or the time was over.
      WorkersEnded: the task is to be submitted again.
      Exception: whatever the task raised.
    """
    try:
        return future.result()
    except concurrent.futures.TimeoutError as error:
        raise TaskFailure(_timeout_message(error)) from None
    except pebble.ProcessExpired as error:
        raise TaskFailure(_exit_message(error.exitcode)) from None
    except concurrent.futures.BrokenExecutor:
        raise WorkersEnded("the processes ended") from None
    except _killed_worker():
        raise TaskFailure("the process of the worker crashed, or the time limit was over") from None


def _killed_worker() -> type[BaseException] | tuple[()]:
    """Dask's exception for a task that has ended several workers; nothing where Dask is not in use."""
    scheduler = sys.modules.get("distributed.scheduler")
    return () if scheduler is None else scheduler.KilledWorker


def _timeout_message(error: BaseException) -> str:
    limit = next((each for each in error.args if isinstance(each, int | float)), None)
    return f"took longer than {limit:g} s" if limit else "took too long"


def _exit_message(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"the process crashed ({signal.Signals(-code).name})"
    return f"the process ended with exit code {code}"


def start_early() -> None:
    """Start the process that local workers are forked from, which imports in the background."""
    _forkserver()
    multiprocessing.forkserver.ensure_running()


class _Process(multiprocessing.context.ForkServerProcess):
    """A process that does not import the script that started it: what it needs is in this package, and a script that
    does not look at `__name__` would start processes in it again."""

    def start(self) -> None:
        with _without_script():
            super().start()


class _Context(multiprocessing.context.ForkServerContext):
    Process = _Process


_starting = threading.Lock()


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    """Processes that this thread starts meanwhile are not told of the script; `multiprocessing` has no such option."""
    starter = threading.get_ident()
    with _starting:
        original = multiprocessing.spawn.get_preparation_data

        def prepared(name: str) -> dict[str, object]:
            data = original(name)
            own = threading.get_ident() == starter
            return {key: value for key, value in data.items() if not (own and key.startswith("init_main_"))}

        multiprocessing.spawn.get_preparation_data = prepared
        try:
            yield
        finally:
            multiprocessing.spawn.get_preparation_data = original


def _forkserver() -> multiprocessing.context.BaseContext:
    context = _Context()
    context.set_forkserver_preload(_PRELOADED)
    return context


class LocalWorkers:
    """Processes of this machine, forked from one that has imported all that is needed."""

    def __init__(self, jobs: int, time_limit: float | None = None) -> None:
        """
        Args:
          jobs: number of processes.
          time_limit: of one task, in seconds.
        """
        self._jobs, self._time_limit = jobs, time_limit
        self._broken = 0
        self._pending: set[concurrent.futures.Future] = set()
        self._pool = self._open()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _open(self) -> pebble.ProcessPool:
        return pebble.ProcessPool(max_workers=self._jobs, context=_forkserver(), initializer=_one_thread)

    def submit(self, function: Callable[[T], R], task: T) -> "concurrent.futures.Future[R]":
        """
        Raises:
          TorqError: processes end again and again before they do anything.
        """
        while True:
            try:
                future = self._pool.schedule(function, args=(task,), timeout=self._time_limit)
            except RuntimeError:  # a process that ended while it had no task broke the pool
                self._reopen()
                continue
            self._pending.add(future)
            future.add_done_callback(self._note)
            return future

    def _reopen(self) -> None:
        self._broken += 1
        if self._broken > _MOST_BROKEN:
            raise TorqError("worker processes end before they do anything; with --jobs 0 all is done in this one")
        self._stop()
        _end(self._pending.copy())
        self._pool = self._open()

    def _note(self, future: "concurrent.futures.Future") -> None:
        self._pending.discard(future)
        if not future.cancelled() and future.exception() is None:
            self._broken = 0

    def _watch(self) -> None:
        """A pool that breaks while it is given a task forgets that one, which nobody would hear of again."""
        before: tuple[pebble.ProcessPool, set[concurrent.futures.Future]] | None = None
        while not self._closed.wait(_WATCH_SECONDS):
            pool, pending = self._pool, self._pending.copy()
            broken = bool(pending) and not pool.active
            if broken and before is not None and before[0] is pool:
                _end(pending & before[1])
            before = (pool, pending) if broken else None

    def close(self) -> None:
        """Ends the processes, whatever they are doing."""
        self._closed.set()
        self._stop()

    def _stop(self) -> None:
        self._pool.stop()
        self._pool.join()


def _end(futures: set[concurrent.futures.Future]) -> None:
    """Fail those that are not done, as what the pool has not forgotten fails."""
    for future in futures:
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            future.set_exception(BrokenProcessPool("the processes ended"))


def _one_thread() -> None:
    """There is a process for each core. What interrupts the whole group is for its parent to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    warnings.simplefilter("ignore", UntestedVersionWarning)  # which the parent has given


class InProcessWorkers:
    """This process, one task after the other: for a debugger. A task that crashes ends all."""

    def submit(self, function: Callable[[T], R], task: T) -> "concurrent.futures.Future[R]":
        future: concurrent.futures.Future[R] = concurrent.futures.Future()
        future.set_result(function(task))
        return future

    def close(self) -> None:
        pass


class DaskWorkers:
    """The workers of an existing Dask cluster."""

    def __init__(self, address: str, time_limit: float | None = None) -> None:
        """
        Args:
          address: of the scheduler, as in tcp://host:8786.
          time_limit: of one task, in seconds. A worker whose task takes longer ends, and its nanny starts another one.

        Raises:
          MissingPackageError: Dask is not installed.
          TorqError: there is no scheduler at the address.
        """
        distributed = require("distributed", "distributed")
        try:
            self._client = distributed.Client(address, set_as_default=False, timeout=_CONNECTION_SECONDS)
        except (OSError, ValueError) as error:
            raise TorqError(f"no Dask scheduler at {address}: {' '.join(str(error).split())}") from error
        self._executor = self._client.get_executor(pure=False)
        self._time_limit = time_limit

    def submit(self, function: Callable[[T], R], task: T) -> "concurrent.futures.Future[R]":
        return self._executor.submit(_limited, function, task, self._time_limit)

    def close(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()


_CONNECTION_SECONDS = 10


def _limited(function: Callable[[T], R], task: T, time_limit: float | None) -> R:
    """Runs a task; code that hangs where Python cannot interrupt it takes the process with it."""
    if time_limit is None:
        return function(task)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(time_limit, exit=True, file=nowhere)
        try:
            return function(task)
        finally:
            faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def open_workers(jobs: int | None, scheduler: str | None, time_limit: float | None) -> Iterator[Workers]:
    """The workers that the options ask for, closed at the end.

    Args:
      jobs: local processes; None for one for each core, 0 for this process.
      scheduler: address of a Dask scheduler, in place of local processes.
    """
    if scheduler is not None:
        workers = DaskWorkers(scheduler, time_limit)
    elif jobs == 0:
        workers = InProcessWorkers()
    else:
        workers = LocalWorkers(jobs or default_jobs(), time_limit)
    try:
        yield workers
    finally:
        workers.close()
