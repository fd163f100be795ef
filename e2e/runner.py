# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cases in worker processes, and says how each ended."""

import dataclasses
import enum
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from e2e.backends import Backend
from e2e.cases import Case
from e2e.checks import Report
from e2e.reference import THREADS_VARIABLE

Registry = Callable[[], Mapping[str, Case]]


class Status(enum.Enum):
    """How a case ended; `FAIL` and `XPASS` make a run fail."""

    PASS = "pass"
    FAIL = "fail"
    XFAIL = "expected failure"
    XPASS = "unexpected pass"


@dataclasses.dataclass
class Result:
    """One case.

    Attributes:
      seconds: wall time, with making the model.
      reason: why a failure is expected.
    """

    name: str
    status: Status
    seconds: float
    report: Report
    reason: str = ""

    @property
    def is_good(self) -> bool:
        return self.status in (Status.PASS, Status.XFAIL)


def judge(name: str, report: Report, seconds: float, expected_failures: Mapping[str, str]) -> Result:
    """The result of a case that gave `report`: an unexpected pass is as bad as an unexpected failure."""
    reason = expected_failures.get(name, "")
    if name in expected_failures:
        status = Status.XFAIL if report.failures else Status.XPASS
    else:
        status = Status.FAIL if report.failures else Status.PASS
    return Result(name, status, seconds, report, reason)


def _run(registry: Registry, name: str, backend: Backend) -> tuple[Report, float]:
    start = time.perf_counter()
    report = registry()[name].check(backend)
    return report, time.perf_counter() - start


def run_all(
    registry: Registry, names: Sequence[str], backend: Backend, jobs: int, expected_failures: Mapping[str, str]
) -> Iterator[Result]:
    """Runs cases `jobs` at a time; yields results as they come.

    A case that raises, or takes its process down, is a failure of that case alone.

    Args:
      registry: a function of a module, for the worker processes to call.
    """
    for name, future in _in_processes(lambda pool, name: pool.submit(_run, registry, name, backend), names, jobs):
        error = future.exception()
        if error is None:
            report, seconds = future.result()
        else:
            report, seconds = Report(failures=[_describe(error)]), 0.0
        yield judge(name, report, seconds, expected_failures)


def _describe(error: BaseException) -> str:
    if isinstance(error, BrokenProcessPool):
        return "the process died"
    text = str(error).strip().splitlines()
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.relpath(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {text[0] if text else ''}{place}"


def _in_processes(
    submit: Callable[[ProcessPoolExecutor, str], Future], names: Sequence[str], jobs: int
) -> Iterator[tuple[str, Future]]:
    """Completed futures. When a process dies, the cases that were running are run again, each in a pool of its own."""
    os.environ[THREADS_VARIABLE] = os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // jobs))
    waiting = list(reversed(names))
    while waiting:
        suspects: list[str] = []
        with _pool(jobs) as pool:
            running: dict[Future, str] = {}
            while (waiting and not suspects) or running:
                while waiting and not suspects and len(running) < jobs:
                    name = waiting.pop()
                    running[submit(pool, name)] = name
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        suspects.append(name)
                    else:
                        yield name, future
        for name in suspects:
            with _pool(1) as pool:
                future = submit(pool, name)
                wait([future])
            yield name, future


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))  # threads of libraries do not survive a fork
