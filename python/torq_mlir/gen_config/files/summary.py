# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts over a report. They are written with it for other readers; here they are always counted anew."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from torq_mlir.gen_config.files.report import EXECUTORS, Layer, Report, Status


@dataclass(frozen=True)
class Summary:
    """Counts over the layers of a report.

    Attributes:
      layers, duplicates: all of them, and those whose results were copied from another.
      recommended: number of layers by recommended executor; "none" for those without.
      statuses: by executor, number of layers by status.
      critical_failures: layers that no executor takes.
    """

    layers: int
    duplicates: int
    recommended: Mapping[str, int]
    statuses: Mapping[str, Mapping[str, int]]
    critical_failures: tuple[str, ...]


def summarize(report: Report) -> Summary:
    """Counts over the layers of `report`."""
    chosen = Counter(layer.recommended_executor or "none" for layer in report.layers)
    statuses = {name: _statuses(report, name) for name in EXECUTORS}
    return Summary(
        layers=len(report.layers),
        duplicates=sum(layer.duplicate_of is not None for layer in report.layers),
        recommended={name: chosen[name] for name in (*EXECUTORS, "none") if chosen[name]},
        statuses={name: counts for name, counts in statuses.items() if counts},
        critical_failures=tuple(layer.name for layer in critical_failures(report)),
    )


def critical_failures(report: Report) -> list[Layer]:
    """The layers that were tried and that no executor takes, with the right result or a wrong one."""
    return [layer for layer in report.layers if _failed(layer)]


def _failed(layer: Layer) -> bool:
    statuses = {result.status for result in layer.executors.values()}
    return Status.ERROR in statuses and statuses <= {Status.ERROR, Status.SKIPPED}


def _statuses(report: Report, executor: str) -> dict[str, int]:
    counts = Counter(layer.executors[executor].status for layer in report.layers if executor in layer.executors)
    return {status.value: counts[status] for status in Status if counts[status]}
