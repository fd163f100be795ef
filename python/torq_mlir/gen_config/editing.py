# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`edit`: another executor or another tolerance for layers of a report."""

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass

from torq_mlir.errors import TorqError
from torq_mlir.gen_config.files import (
    EXECUTORS,
    ExecutorResult,
    Layer,
    Report,
    Status,
    Tolerance,
    judge,
    read_report,
    recommend,
    write_report,
)
from torq_mlir.gen_config.selecting import select
from torq_mlir.gen_config.wording import number, printable

# The executor that discovery recommends.
AUTO = "auto"
# The executor that the layer has.
KEEP = "keep"


@dataclass(frozen=True)
class Change:
    """`what` of `layer` from `before` to `after`; `remark` is what to know about it, if anything."""

    layer: str
    what: str
    before: str
    after: str
    remark: str = ""

    def __str__(self) -> str:
        remark = f" ({self.remark})" if self.remark else ""
        return printable(f"{self.layer}: {self.what} {self.before} -> {self.after}{remark}")


def edit(
    report: str | os.PathLike,
    names: str | Sequence[str],
    *,
    executor: str | None = KEEP,
    max_lsb: float | None = None,
    mismatch_rate: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    dry_run: bool = False,
) -> list[Change]:
    """Change layers of a report file. With another tolerance, what was measured is judged anew.

    What the full model did with other executors or tolerances is dropped.

    Args:
      report: path of the report.
      names: exact names, parts of names, wildcards, or "ALL".
      executor: who is to execute the layers; None leaves that to the compiler, "auto" is what discovery recommends.
      max_lsb, mismatch_rate, rtol, atol: see `Tolerance`; None leaves it as it is.
      dry_run: write nothing.

    Returns:
      What changes; the file is not written if that is nothing.

    Raises:
      ConfigFileError: the file is no report, for instance the compiler file.
      TorqError: a name fits no layer, or a value makes no sense.
      OSError: the file cannot be written.
    """
    if executor not in (*EXECUTORS, None, AUTO, KEEP):
        raise TorqError(f"'{executor}' is no executor: {', '.join(EXECUTORS)}, null or {AUTO}")
    limits = {"max_lsb": max_lsb, "mismatch_rate": mismatch_rate, "rtol": rtol, "atol": atol}
    limits = {name: value for name, value in limits.items() if value is not None}
    _check(limits)
    old = read_report(report)
    chosen = {layer.name for layer in select(old, names)}
    layers = tuple(_edited(old, layer, executor, limits) if layer.name in chosen else layer for layer in old.layers)
    changes = [change for before, after in zip(old.layers, layers, strict=True) for change in _changes(before, after)]
    if layers == old.layers:
        return changes
    if old.run is not None:
        changes.append(Change("full model", "outcome", old.run.status, "not run"))
    if not dry_run:
        write_report(report, dataclasses.replace(old, layers=layers, run=None))
    return changes


def _check(limits: dict[str, float]) -> None:
    for name, value in limits.items():
        if not value >= 0:
            raise TorqError(f"{name} is {value}, but cannot be below 0")
    if limits.get("mismatch_rate", 0) > 1:
        raise TorqError(f"mismatch_rate is {limits['mismatch_rate']}, but cannot be above 1")


def _edited(report: Report, layer: Layer, executor: str | None, limits: dict[str, float]) -> Layer:
    tolerance = dataclasses.replace(layer.tolerance, **limits)
    executors = layer.executors
    if tolerance != layer.tolerance:
        executors = {name: rejudged(result, tolerance) for name, result in layer.executors.items()}
        layer = dataclasses.replace(layer, tolerance_edited=True)
    if executor in (*EXECUTORS, None):
        return dataclasses.replace(
            layer, tolerance=tolerance, executors=executors, recommended_executor=executor, edited=True
        )
    edited, chosen = layer.edited and executor != AUTO, layer.recommended_executor
    if not edited and (executor == AUTO or executors != layer.executors):
        chosen = recommend(executors, by_timing=report.flags.get("recommend-by-timing") is True)
    return dataclasses.replace(
        layer, tolerance=tolerance, executors=executors, recommended_executor=chosen, edited=edited
    )


def rejudged(result: ExecutorResult, tolerance: Tolerance) -> ExecutorResult:
    """A result with the status that its figures have under another tolerance."""
    if result.metrics is None or result.status not in (Status.SUCCESS, Status.DIFFERENCE):
        return result
    return dataclasses.replace(result, status=judge(result.metrics, tolerance))


def _changes(before: Layer, after: Layer) -> list[Change]:
    old, new = dataclasses.asdict(before.tolerance), dataclasses.asdict(after.tolerance)
    found = [
        Change(after.name, name, number(old[name]), number(new[name]))
        for name in new
        if number(old[name]) != number(new[name])
    ]
    for name, result in after.executors.items():
        if result.status is not before.executors[name].status:
            found.append(Change(after.name, name, before.executors[name].status, result.status))
    was, now = before.recommended_executor or "null", after.recommended_executor or "null"
    if was == now and before.edited != after.edited:
        by = ("by discovery", "by hand")
        found.append(Change(after.name, f"executor {now}, set", by[before.edited], by[after.edited]))
    if was != now:
        found.append(Change(after.name, "executor", was, now, _remark(after)))
    return found


def _remark(layer: Layer) -> str:
    if layer.fused_into is not None:
        return f"without effect: fused into {layer.fused_into} in the full model"
    result = layer.executors.get(layer.recommended_executor or "")
    if layer.recommended_executor is not None and result is None:
        return f"not tried on {layer.recommended_executor}"
    if result is None or result.status is Status.SUCCESS:
        return ""
    return f"{layer.recommended_executor}: {result.status}{', ' if result.reason else ''}{result.reason}"
