# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the page says, as the template takes it: plain values and finished texts."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torq_mlir.gen_config.explaining import notes, outcome
from torq_mlir.gen_config.files import (
    EXECUTORS,
    Comparison,
    ExecutorResult,
    IrText,
    Layer,
    Metrics,
    Report,
    Status,
    Values,
    summarize,
)
from torq_mlir.gen_config.page.charts import percent, sqnr_percent
from torq_mlir.gen_config.wording import (
    decibels,
    differences,
    duration,
    largest_difference,
    number,
    result_line,
    shown_flags,
)

MARKS = {Status.SUCCESS: "✓", Status.DIFFERENCE: "≠", Status.ERROR: "✕", Status.SKIPPED: "-"}
# Layers whose histograms are shown without opening them.
_WORST = 6
_LONGEST_IR = 30_000


@dataclass(frozen=True)
class Bar:
    """A figure, the length of its bar in percent, and the key to sort by."""

    text: str
    percent: float
    key: float
    beyond: bool = False


@dataclass(frozen=True)
class ResultRow:
    """A layer on one executor."""

    executor: str
    status: Status
    line: str
    metrics: Metrics | None
    time: str
    values: Values | None
    ir: str


@dataclass(frozen=True)
class LayerRow:
    """A layer; `anchor` is what links to it."""

    anchor: str
    layer: Layer
    outcome: Status
    results: list[ResultRow]
    difference: Bar | None
    sqnr: Bar | None
    time: Bar | None
    notes: list[str]
    facts: list[tuple[str, str]]
    ir: str


def page_content(report: Report, folder: Path | None) -> dict[str, Any]:
    """The variables of the template."""
    anchors = dict(zip((layer.name for layer in report.layers), _anchors(report), strict=True))
    largest = _Largest(report)
    rows = [_row(report, layer, anchors[layer.name], largest, folder) for layer in report.layers]
    summary = summarize(report)
    return {
        "report": report,
        "summary": summary,
        "rows": rows,
        "worst": _worst(rows),
        "timed": largest.seconds > 0,
        "anchors": anchors,
        "executors": EXECUTORS,
        "marks": MARKS,
        "statuses": {status: sum(row.outcome is status for row in rows) for status in Status},
        "flags": shown_flags(report.flags),
        "tried": sum(bool(layer.executors) for layer in report.layers),
        "decibels": lambda value: decibels(value).replace("inf", "∞"),
        "number": number,
        "differences": differences,
        "sqnr_percent": sqnr_percent,
        "comparisons": list(_comparisons(report)),
    }


class _Largest:
    """What fills a bar: the largest difference on any executor, the longest time on a recommended one."""

    def __init__(self, report: Report) -> None:
        results = [result for layer in report.layers for result in layer.executors.values()]
        steps = [each.metrics.max_lsb for each in results if each.metrics and each.metrics.max_lsb is not None]
        # One step of four is not to look like much, even where nothing differs by more.
        self.lsb = max(4.0, *(each for each in steps if math.isfinite(each)), 0.0)
        chosen = [found for layer in report.layers if (found := _chosen(layer)) is not None]
        self.seconds = max((each.timing.median_s for each in chosen if each.timing), default=0.0)


def _chosen(layer: Layer) -> ExecutorResult | None:
    return layer.executors.get(layer.recommended_executor or "")


def _anchors(report: Report) -> Iterator[str]:
    """A link for each layer: its name as far as a URL can have it, and unique."""
    taken: set[str] = set()
    for layer in report.layers:
        base = "layer-" + (re.sub(r"[^A-Za-z0-9_.]+", "-", layer.name).strip("-") or str(layer.node_index))
        anchor, count = base, 1
        while anchor in taken:
            count += 1
            anchor = f"{base}-{count}"
        taken.add(anchor)
        yield anchor


def _row(report: Report, layer: Layer, anchor: str, largest: _Largest, folder: Path | None) -> LayerRow:
    result = _chosen(layer)
    metrics = result.metrics if result is not None else None
    timing = result.timing if result is not None else None
    known = [name for name in EXECUTORS if name in layer.executors]
    return LayerRow(
        anchor,
        layer,
        outcome(layer),
        [_result(name, layer.executors[name], folder) for name in known],
        None if metrics is None else _difference(metrics, result, largest),
        None if metrics is None else _sqnr(metrics),
        None
        if timing is None
        else Bar(duration(timing.median_s), percent(timing.median_s, largest.seconds), timing.median_s),
        notes(report, layer),
        _facts(layer),
        _ir(layer.ir, folder),
    )


def _result(name: str, result: ExecutorResult, folder: Path | None) -> ResultRow:
    timing = result.timing
    time = "" if timing is None else f"{duration(timing.median_s)}, at best {duration(timing.min_s)}"
    return ResultRow(
        name, result.status, result_line(result), result.metrics, time, result.values, _ir(result.ir, folder)
    )


def _difference(metrics: Metrics, result: ExecutorResult, largest: _Largest) -> Bar:
    beyond = result.status is Status.DIFFERENCE
    if metrics.max_lsb is None:
        return Bar(largest_difference(metrics), 0.0, -1.0, beyond)
    return Bar(largest_difference(metrics), percent(metrics.max_lsb, largest.lsb), _key(metrics.max_lsb), beyond)


def _sqnr(metrics: Metrics) -> Bar:
    text = decibels(metrics.sqnr_db).replace("inf", "∞")
    return Bar(f"{text} dB", sqnr_percent(metrics.sqnr_db), -_key(-metrics.sqnr_db))


def _key(value: float) -> float:
    """What is no number is worse than any; JavaScript reads 1e308 as a number, but not "inf"."""
    return 1e308 if math.isnan(value) else min(max(value, -1e308), 1e308)


def _facts(layer: Layer) -> list[tuple[str, str]]:
    tolerance = layer.tolerance
    limits = f"{number(tolerance.max_lsb)} LSB, {number(100 * tolerance.mismatch_rate)} % of the elements; "
    return [
        ("operator", layer.op_type),
        ("node", f"{layer.node_index} of the graph" + (f", {layer.source_name}" if layer.source_name else "")),
        ("in the quantized MLIR", f"line:col {layer.mlir_location}" if layer.mlir_location else "no operation"),
        *(("input", f"{each.name}: {_shape(each.shape)} {each.dtype}") for each in layer.inputs),
        *(("output", f"{each.name}: {_shape(each.shape)} {each.dtype}") for each in layer.outputs),
        ("tolerance", limits + f"float {number(tolerance.rtol)} relative, {number(tolerance.atol)} absolute"),
    ]


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _worst(rows: list[LayerRow]) -> list[tuple[LayerRow, ResultRow]]:
    """Results with a histogram, those with the lowest SQNR first; of identical layers the one that was tested."""
    tested = [row for row in rows if row.layer.duplicate_of is None]
    found = [
        (row, each) for row in tested for each in row.results if each.values is not None and each.metrics is not None
    ]
    found.sort(key=lambda pair: -_key(-pair[1].metrics.sqnr_db))
    return found[:_WORST]


def _comparisons(report: Report) -> Iterator[Comparison]:
    """Tensors of the full model that are compared, its outputs last."""
    if report.run is not None:
        yield from report.run.tensors
        yield from report.run.outputs


def _ir(ir: IrText | None, folder: Path | None) -> str:
    """The text of the IR, or that it is not there."""
    if ir is None or not (ir.text or ir.file):
        return ""
    text = ir.text or _read_ir(ir.file, folder)
    return text if len(text) <= _LONGEST_IR else f"{text[:_LONGEST_IR]}\n... {len(text) - _LONGEST_IR} more characters"


def _read_ir(file: str, folder: Path | None) -> str:
    """Files in the folder of the report alone: a report may come from elsewhere."""
    if folder is None or not (folder / file).resolve().is_relative_to(folder.resolve()):
        return f"({file} is not in the folder of the report)"
    try:
        return (folder / file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"({file}: {error.strerror})"
