# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of tasks: what is known is not done again, and what is not needed is not done at all."""

import concurrent.futures
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torq_mlir.gen_config import workers
from torq_mlir.gen_config.files import ExecutorResult, Status
from torq_mlir.gen_config.tasks import LayerTask, TaskResult, run_task

# What to say of an executor that was not tried.
NOT_NEEDED = "an executor before it succeeds (--skip-mode)"

Key = tuple[str, str]


@dataclass(frozen=True)
class Plan:
    """What to find out.

    Attributes:
      layers: names, in order.
      executors: to try, in order.
      known: results that need no work.
      stop_at_success: leave out the executors of a layer after the first one that succeeds.
      make_task: the work for a layer and some executors.
    """

    layers: Sequence[str]
    executors: Sequence[str]
    known: Mapping[Key, TaskResult]
    stop_at_success: bool
    make_task: Callable[[str, tuple[str, ...]], LayerTask]


def execute(plan: Plan, pool: workers.Workers, started: Callable[[str, str], object]) -> Iterator[TaskResult]:
    """The results of all layers and executors, in the order in which they are known, those that are known first.

    All executors of a layer are one task. If that ends without a result, each of them is one: who is to blame is an
    error, and the others are not.

    Args:
      started: called with layer and executor when a task is handed out.
    """
    yield from (plan.known[key] for key in _known(plan))
    running: dict[concurrent.futures.Future, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}

    def submit(layer: str, executors: tuple[str, ...], later: tuple[str, ...] = ()) -> None:
        for executor in executors:
            started(layer, executor)
        running[pool.submit(run_task, plan.make_task(layer, executors))] = layer, executors, later

    for layer in plan.layers:
        missing = tuple(name for name in plan.executors if (layer, name) not in plan.known)
        if plan.stop_at_success and _has_success(plan, layer):
            yield from _skipped(layer, missing)
        elif missing:
            submit(layer, missing)
    while running:
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            layer, executors, later = running.pop(future)
            try:
                results = workers.result_of(future)
            except workers.WorkersEnded:
                submit(layer, executors, later)
                continue
            except workers.TaskFailure as failure:
                if len(executors) > 1:
                    submit(layer, executors[:1], executors[1:])
                    continue
                results = [TaskResult(layer, executors[0], ExecutorResult(Status.ERROR, str(failure)))]
            yield from results
            yield from _skipped(layer, executors[len(results) :])
            succeeded = any(each.result.status is Status.SUCCESS for each in results)
            if later and plan.stop_at_success and succeeded:
                yield from _skipped(layer, later)
            elif later:
                submit(layer, later[:1], later[1:])


def _known(plan: Plan) -> list[Key]:
    keys = [(layer, executor) for layer in plan.layers for executor in plan.executors]
    return [key for key in keys if key in plan.known]


def _has_success(plan: Plan, layer: str) -> bool:
    found = (plan.known.get((layer, executor)) for executor in plan.executors)
    return any(each is not None and each.result.status is Status.SUCCESS for each in found)


def _skipped(layer: str, executors: Sequence[str]) -> Iterator[TaskResult]:
    for executor in executors:
        yield TaskResult(layer, executor, ExecutorResult(Status.SKIPPED, NOT_NEEDED))
