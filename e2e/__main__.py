# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m e2e`: runs the registry and prints a table."""

import argparse
import dataclasses
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.backends import Backend
from e2e.cases import registry
from e2e.expected_failures import EXPECTED_FAILURES
from e2e.runner import Registry, Result, Status, run_all
from torq_mlir.report import HOST

_HEADER = (
    "case",
    "status",
    "layers",
    "mismatches",
    "LSB",
    "LSB end",
    "rate end",
    "SQNR dB",
    "cosine",
    "top-1",
    "NPU",
    "s",
)


def main(
    arguments: Sequence[str] | None = None,
    registry: Registry = registry,
    expected_failures: Mapping[str, str] = EXPECTED_FAILURES,
) -> int:
    """Runs the cases that the arguments select; returns the exit code."""
    options = _parser().parse_args(arguments)
    cases = [
        name for name, case in registry().items() if options.filter.search(name) and not (case.slow and options.fast)
    ]
    if not cases:
        print(f"no case matches {options.filter.pattern!r}", file=sys.stderr)
        return 1
    if options.list:
        print("\n".join(cases))
        return 0
    results: list[Result] = []
    start = time.perf_counter()
    for result in run_all(registry, list(cases), options.backend, options.jobs, expected_failures):
        results.append(result)
        progress = f"[{len(results)}/{len(cases)}] {result.name}: {result.status.value}, {result.seconds:.1f} s"
        print(progress, file=sys.stderr)
    results.sort(key=lambda result: cases.index(result.name))
    print(table(results))
    print(summary(results, time.perf_counter() - start))
    if options.json:
        options.json.write_text(json.dumps([as_json(result) for result in results], indent=1) + "\n", encoding="utf-8")
    return 0 if all(result.is_good for result in results) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m e2e", description="Compares compiled models with ONNX Runtime, layer by layer and as a whole."
    )
    parser.add_argument("--filter", type=_pattern, default="", metavar="RE", help="only cases whose name it matches")
    parser.add_argument("--fast", action="store_true", help="leave out the slow cases")
    parser.add_argument(
        "--backend",
        type=_backend,
        default="all",
        metavar="NAME[,NAME]",
        help="what runs the compiled models: interpreter, cpu, jit, iree, or all, the first three",
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cases that run at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return parser


def _backend(text: str) -> Backend:
    try:
        return Backend.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def table(results: Sequence[Result]) -> str:
    """One line for each case.

    `mismatches` and `LSB` are those of the layers on the same inputs, `LSB end` and `rate end` those of the last
    quantized tensors of the model run as a whole, `NPU` the nodes of which the host computes nothing.
    """
    rows = [_HEADER, *(_row(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        cells += [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(result: Result) -> tuple[str, ...]:
    report, whole = result.report, result.report.agreement
    mismatches = f"{report.mismatches}/{report.elements}"
    row = (result.name, result.status.value, str(report.layers), mismatches, str(report.max_lsb))
    nodes = report.nodes
    placed = f"{sum(nodes.values()) - nodes.get(HOST, 0)}/{sum(nodes.values())}" if nodes else ""
    if whole is None:
        return (*row, "", "", "", "", "", placed, f"{result.seconds:.1f}")
    last = ("", "") if whole.max_lsb is None else (str(whole.max_lsb), f"{whole.mismatch_rate:.4f}")
    outputs = (f"{whole.sqnr_db:.1f}", f"{whole.cosine:.5f}", f"{whole.top1:.2f}")
    return (*row, *last, *outputs, placed, f"{result.seconds:.1f}")


def summary(results: Sequence[Result], seconds: float) -> str:
    """The failures in full, and the counts."""
    lines = []
    for result in results:
        if not result.is_good:
            lines.append(f"\n{result.name}: {result.status.value} {result.reason}".rstrip())
            lines += [f"  {failure}" for failure in result.report.failures[:8]]
            if len(result.report.failures) > 8:
                lines.append(f"  and {len(result.report.failures) - 8} more")
    counts = Counter(result.status for result in results)
    totals = ", ".join(f"{counts[status]} {status.value}" for status in Status if counts[status])
    return "\n".join([*lines, f"\n{totals}, {seconds:.0f} s"])


def as_json(result: Result) -> dict:
    """What `--json` writes of a result."""
    return dataclasses.asdict(result) | {"status": result.status.value}


if __name__ == "__main__":
    sys.exit(main())
