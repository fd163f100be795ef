# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of tasks, what is left out, and who is to blame when a process crashes."""

import concurrent.futures
from collections import Counter

import pytest

from torq_mlir.gen_config.files import EXECUTORS, ExecutorResult, Status
from torq_mlir.gen_config.scheduling import Plan, execute
from torq_mlir.gen_config.tasks import TaskResult
from torq_mlir.gen_config.workers import TaskFailure, WorkersEnded

SUCCESS = ExecutorResult(Status.SUCCESS)


class CrashingWorkers:
    """Workers whose process ends at any task with one of some pairs of layer and executor."""

    def __init__(self, *crashing):
        self.crashing, self.tasks = set(crashing), []

    def submit(self, function, task):
        layer, executors = task
        self.tasks.append(task)
        future = concurrent.futures.Future()
        if any((layer, executor) in self.crashing for executor in executors):
            future.set_exception(TaskFailure("the process crashed (SIGSEGV)"))
        else:
            future.set_result([TaskResult(layer, executor, SUCCESS) for executor in executors])
        return future


class EndingWorkers(CrashingWorkers):
    """Workers that end at the first task of each layer, for a reason that is not the task's."""

    def submit(self, function, task):
        future = super().submit(function, task)
        if self.tasks.count(task) == 1:
            future = concurrent.futures.Future()
            future.set_exception(WorkersEnded("the processes ended"))
        return future


def run(pool, layers=("a", "b"), known=(), stop_at_success=False):
    known = {(layer, executor): TaskResult(layer, executor, SUCCESS) for layer, executor in known}
    plan = Plan(layers, EXECUTORS, known, stop_at_success, lambda layer, executors: (layer, executors))
    results = list(execute(plan, pool, lambda layer, executor: None))
    assert max(Counter((each.layer, each.executor) for each in results).values()) == 1
    return {(each.layer, each.executor): each.result.status for each in results}


def test_all_executors_of_a_layer_are_one_task():
    pool = CrashingWorkers()
    assert set(run(pool).values()) == {Status.SUCCESS}
    assert pool.tasks == [("a", EXECUTORS), ("b", EXECUTORS)]


@pytest.mark.parametrize("crashing", EXECUTORS)
def test_an_executor_that_crashes_does_not_take_the_others_with_it(crashing):
    found = run(CrashingWorkers(("a", crashing)))
    assert found.pop(("a", crashing)) is Status.ERROR
    assert len(found) == 5
    assert set(found.values()) == {Status.SUCCESS}


def test_tasks_that_are_not_to_blame_are_done_again():
    pool = EndingWorkers()
    assert set(run(pool).values()) == {Status.SUCCESS}
    assert sorted(pool.tasks) == [("a", EXECUTORS), ("a", EXECUTORS), ("b", EXECUTORS), ("b", EXECUTORS)]


def test_a_layer_that_always_crashes():
    found = run(CrashingWorkers(*(("a", executor) for executor in EXECUTORS)))
    assert [found["a", executor] for executor in EXECUTORS] == [Status.ERROR] * 3
    assert [found["b", executor] for executor in EXECUTORS] == [Status.SUCCESS] * 3


def test_after_a_crash_the_first_success_is_still_enough():
    found = run(CrashingWorkers(("a", "nss")), layers=("a",), stop_at_success=True)
    assert [found["a", executor] for executor in EXECUTORS] == [Status.ERROR, Status.SUCCESS, Status.SKIPPED]


def test_what_is_known_is_not_done_again():
    pool = CrashingWorkers()
    run(pool, known=[("a", "nss"), ("a", "css"), ("a", "host"), ("b", "css")])
    assert pool.tasks == [("b", ("nss", "host"))]
    pool = CrashingWorkers()
    found = run(pool, known=[("a", "nss")], layers=("a",), stop_at_success=True)
    assert pool.tasks == []
    assert [found["a", executor] for executor in EXECUTORS] == [Status.SUCCESS, Status.SKIPPED, Status.SKIPPED]
