# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discovery on a Dask cluster of separate processes, one of which is killed."""

import os
import signal

import distributed
import pytest
from discoveries import Events, discover
from float_models import cnn

from torq_mlir.gen_config import workers
from torq_mlir.gen_config.files import Status

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


class Killing(Events):
    """Kills a process after the third result."""

    def __init__(self, process):
        super().__init__()
        self._process = process

    def finished(self, layer, executor, result, seconds=0.0):
        super().finished(layer, executor, result, seconds)
        if len(self.finished_pairs) == 3:
            os.kill(self._process, signal.SIGKILL)


def test_a_worker_that_is_killed(cluster, tmp_path):
    """Nothing is lost, and nothing is in the report twice."""
    here = discover(cnn(), tmp_path / "here", executors=("nss", "host"))
    events = Killing(next(iter(cluster.workers.values())).pid)
    there = discover(
        cnn(), tmp_path / "there", show=events, scheduler=cluster.scheduler_address, executors=("nss", "host")
    )
    assert sorted(events.finished_pairs) == sorted(
        (layer.name, name) for layer in here.layers for name in ("nss", "host")
    )
    assert there == here
    assert {layer.executors["nss"].status for layer in there.layers} == {Status.SUCCESS}


def test_a_task_that_hangs(cluster):
    from misbehaving import double, hang

    pool = workers.DaskWorkers(cluster.scheduler_address, time_limit=2.0)
    try:
        hanging, working = pool.submit(hang, 600), pool.submit(double, 21)
        assert workers.result_of(working) == 42
        with pytest.raises(workers.TaskFailure, match="the time limit was over"):
            workers.result_of(hanging)
    finally:
        pool.close()
