# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tests in processes of their own: one that takes its process down ends alone."""

import concurrent.futures
import importlib
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence

import pebble

from e2e.onnx_suite.suite import Outcome, Status, one_line, run

# What is imported once, by the process that the others are forked from: making the tests takes seconds.
_PRELOADED = "e2e.onnx_suite.preloaded"
_TIME_LIMIT = 600.0


def run_all(names: Sequence[str], jobs: int) -> Iterator[Outcome]:
    """Run tests, `jobs` at a time; yields outcomes as they come."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    with (
        tempfile.TemporaryDirectory() as folder,
        pebble.ProcessPool(max_workers=jobs, context=context, initializer=_initialize, initargs=(folder,)) as pool,
    ):
        futures = {pool.schedule(run, args=(name,), timeout=_TIME_LIMIT): name for name in names}
        for future in concurrent.futures.as_completed(futures):
            yield _outcome(futures[future], future)


def _initialize(folder: str) -> None:
    """Where the suite writes what it makes of the light models."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["ONNX_HOME"] = folder
    importlib.import_module(_PRELOADED)


def _outcome(name: str, future: concurrent.futures.Future) -> Outcome:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, concurrent.futures.TimeoutError):
        return Outcome(name, Status.CRASH, f"took longer than {_TIME_LIMIT:g} s")
    if isinstance(error, pebble.ProcessExpired):
        code = error.exitcode
        what = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        return Outcome(name, Status.CRASH, f"the process ended with {what}")
    return Outcome(name, Status.ERROR, f"{type(error).__name__}: {one_line(error)}")
