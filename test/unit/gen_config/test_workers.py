# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks that crash, hang or fail, and what becomes of the others."""

import contextlib
import functools
import signal
import subprocess
import sys
import time

import pytest
from misbehaving import double, hang, kill_self, leave, refuse

from torq_mlir.errors import ModelError, TorqError
from torq_mlir.gen_config import workers


def test_what_ends_a_process_ends_one_task():
    with workers.open_workers(2, None, 5.0) as pool:
        futures = [
            pool.submit(double, 4),
            pool.submit(kill_self, signal.SIGSEGV),
            pool.submit(leave, 3),
            pool.submit(refuse, "a reason"),
            pool.submit(double, 5),
        ]
        assert workers.result_of(futures[0]) == 8
        with pytest.raises(workers.TaskFailure, match=r"the process crashed \(SIGSEGV\)"):
            workers.result_of(futures[1])
        with pytest.raises(workers.TaskFailure, match="the process ended with exit code 3"):
            workers.result_of(futures[2])
        with pytest.raises(ModelError, match="a reason"):
            workers.result_of(futures[3])
        assert workers.result_of(futures[4]) == 10


def test_time_limit():
    with workers.open_workers(1, None, 0.5) as pool:
        future, after = pool.submit(hang, 60), pool.submit(double, 1)
        with pytest.raises(workers.TaskFailure, match=r"took longer than 0\.5 s"):
            workers.result_of(future)
        assert workers.result_of(after) == 2


def test_closing_does_not_wait():
    begin = time.monotonic()
    with workers.open_workers(1, None, None) as pool:
        pool.submit(hang, 60)
    assert time.monotonic() - begin < 30


_SCRIPT = """
from torq_mlir.gen_config import workers

with workers.open_workers(1, None, 60) as pool:
    print(workers.result_of(pool.submit(abs, -4)))
"""


def test_a_script_that_does_not_look_at_its_name(tmp_path):
    """Processes do not import it: they would start processes in it again, without end."""
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("4\n", "", 0)


def _result_in_the_end(pool):
    for _ in range(10):
        with contextlib.suppress(workers.WorkersEnded):
            return workers.result_of(pool.submit(double, 1))
    return None


def test_processes_that_end_before_they_do_anything(monkeypatch):
    monkeypatch.setattr(workers, "_one_thread", functools.partial(leave, 1))
    with workers.open_workers(1, None, None) as pool, pytest.raises(TorqError, match="worker processes end before"):
        _result_in_the_end(pool)


def test_in_this_process():
    with workers.open_workers(0, None, None) as pool:
        assert workers.result_of(pool.submit(double, 3)) == 6


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(workers, "_CONNECTION_SECONDS", 0.2)
    with pytest.raises(TorqError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        workers.DaskWorkers("tcp://127.0.0.1:1")
