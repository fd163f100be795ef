# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as a table for the terminal; plain text where there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleRenderable, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from torq_mlir.gen_config.explaining import grouped_notes, outcome
from torq_mlir.gen_config.files import EXECUTORS, FullModelRun, Layer, Metrics, Report, Status, summarize
from torq_mlir.gen_config.progress import STYLES
from torq_mlir.gen_config.wording import (
    decibels,
    differences,
    duration,
    largest_difference,
    number,
    printable,
    shown_flags,
)

_NOT_TRIED = "-"


@dataclass(frozen=True)
class _Column:
    """`width`: columns that the terminal must have for it to be shown."""

    title: str
    cell: Callable[[Layer], Text]
    width: int = 0
    right: bool = False


def render(report: Report, layers: Sequence[Layer], executors: Sequence[str], console: Console) -> ConsoleRenderable:
    """`layers` of `report` with the columns that the console has room for."""
    columns = [column for column in _columns(report, executors) if console.width >= column.width]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.title, justify="right" if column.right else "left", overflow="fold")
    for layer in layers:
        table.add_row(*(column.cell(layer) for column in columns))
    parts = [_heading(report), Text(), table, *_notes(report, layers), *_sensitivity(report), *_run(report.run)]
    return Group(*parts, Text(), _summary(report))


def _columns(report: Report, executors: Sequence[str]) -> list[_Column]:
    timed = any(result.timing for layer in report.layers for result in layer.executors.values())
    columns = [
        _Column("#", lambda layer: Text(str(layer.node_index)), 60, right=True),
        _Column("layer", lambda layer: Text(printable(layer.name))),
        _Column("operator", lambda layer: Text(printable(layer.op_type)), 80),
        *(_Column(name, lambda layer, name=name: _status(layer, name), 50) for name in executors),
        _Column("use", _chosen),
        _Column("max diff.", lambda layer: _figure(layer, largest_difference), 72, right=True),
        _Column("SQNR dB", lambda layer: _figure(layer, lambda metrics: decibels(metrics.sqnr_db)), 92, right=True),
        _Column("line:col", lambda layer: Text(layer.mlir_location or ""), 100, right=True),
    ]
    return [*columns, _Column("time", _time, 110, right=True)] if timed else columns


def _status(layer: Layer, executor: str) -> Text:
    result = layer.executors.get(executor)
    return Text(_NOT_TRIED) if result is None else Text(result.status, style=STYLES[result.status])


def _chosen(layer: Layer) -> Text:
    style = STYLES[outcome(layer)]
    return Text((layer.recommended_executor or "none") + ("*" if layer.edited else ""), style=style)


def _figure(layer: Layer, show: Callable[[Metrics], str]) -> Text:
    result = layer.executors.get(layer.recommended_executor or "")
    return Text(show(result.metrics)) if result is not None and result.metrics is not None else Text()


def _time(layer: Layer) -> Text:
    result = layer.executors.get(layer.recommended_executor or "")
    return Text(duration(result.timing.median_s)) if result is not None and result.timing is not None else Text()


def _heading(report: Report) -> Text:
    flags = ", ".join(shown_flags(report.flags))
    text = Text(printable(report.model.name), style="bold")
    text.append(f"  {printable(report.model.path)}", style="not bold")
    if flags:
        text.append(f"\n{printable(flags)}", style="not bold")
    if not report.complete:
        tried = sum(bool(layer.executors) for layer in report.layers)
        text.append(f"\ndiscovery has not finished: {tried} of {len(report.layers)} layers", style="yellow")
    return text


def _notes(report: Report, layers: Sequence[Layer]) -> list[ConsoleRenderable]:
    found = grouped_notes(report, layers)
    return [Text("\nnotes", style="bold"), *map(_hanging, found)] if found else []


def _hanging(text: str) -> ConsoleRenderable:
    return Padding(Text(text), (0, 0, 0, 2), expand=False)


def _sensitivity(report: Report) -> list[ConsoleRenderable]:
    if report.sensitivity is None:
        return []
    lines = [
        _hanging(f"{decibels(each.sqnr_db):>6} dB  {printable(each.layer)}") for each in report.sensitivity.layers[:10]
    ]
    keep = ", ".join(map(printable, report.sensitivity.suggested_float))
    advice = [_hanging(f"to keep in float: {keep}")] if keep else []
    return [Text("\nSQNR at the output when one layer alone is quantized", style="bold"), *lines, *advice]


def _run(run: FullModelRun | None) -> list[ConsoleRenderable]:
    if run is None:
        return []
    title = Text("\nfull model: ", style="bold")
    title.append(run.status, style=STYLES[run.status])
    lines = [printable(run.reason)] if run.reason else []
    for output in run.outputs:
        if output.metrics is None:
            lines.append(f"{printable(output.tensor)}: {output.status}")
            continue
        figures = f"SQNR {decibels(output.metrics.sqnr_db)} dB, cosine {number(output.metrics.cosine)}"
        lines.append(f"{printable(output.tensor)}: {output.status}, {differences(output.metrics)}, {figures}")
    if run.first_divergence is not None:
        lines.append(f"the first tensor outside the tolerance: {printable(run.first_divergence)}")
    return [title, *map(_hanging, lines)]


def _summary(report: Report) -> Text:
    summary = summarize(report)
    copied = f" ({summary.duplicates} identical to another)" if summary.duplicates else ""
    chosen = ", ".join(f"{count} on {name}" for name, count in summary.recommended.items() if name in EXECUTORS)
    undecided = summary.recommended.get("none", 0)
    parts = [f"{summary.layers} layers{copied}", chosen, f"{undecided} without an executor" if undecided else ""]
    text = Text(": ".join(parts[:2]) + (f", {parts[2]}" if parts[2] else ""), style="bold")
    text.append(_counts({status: _outcomes(report, status) for status in Status}), style="not bold")
    if summary.critical_failures:
        names = ", ".join(map(printable, summary.critical_failures))
        text.append(f"\nno executor takes: {names}", style="not bold red")
    return text


def _outcomes(report: Report, status: Status) -> int:
    return sum(outcome(layer) is status for layer in report.layers)


def _counts(counts: Mapping[Status, int]) -> str:
    return "\n" + ", ".join(f"{count} {status}" for status, count in counts.items() if count)
