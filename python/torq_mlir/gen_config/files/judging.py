# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From figures to a verdict, and from verdicts to the executor that is recommended."""

import math
from collections.abc import Mapping

from torq_mlir.gen_config.files.report import EXECUTORS, ExecutorResult, Metrics, Status, Tolerance


def judge(metrics: Metrics, tolerance: Tolerance) -> Status:
    """SUCCESS if the figures are within the tolerance, else DIFFERENCE. NaN is never within."""
    if metrics.max_lsb is None:
        within = metrics.max_abs <= tolerance.atol + tolerance.rtol * metrics.max_reference
    else:
        within = (
            metrics.max_lsb <= tolerance.max_lsb and metrics.mismatches <= tolerance.mismatch_rate * metrics.elements
        )
    return Status.SUCCESS if within else Status.DIFFERENCE


def recommend(results: Mapping[str, ExecutorResult], *, by_timing: bool = False) -> str | None:
    """The executor to recommend: the first success, else the first difference, else None.

    Args:
      results: by executor.
      by_timing: of several successes the fastest; those without a timing come last, in the usual order.
    """
    for status in (Status.SUCCESS, Status.DIFFERENCE):
        found = [name for name in EXECUTORS if name in results and results[name].status is status]
        if found:
            return min(found, key=lambda name: _median(results[name])) if by_timing else found[0]
    return None


def _median(result: ExecutorResult) -> float:
    return math.inf if result.timing is None else result.timing.median_s
