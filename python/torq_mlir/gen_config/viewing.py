# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`view`: a report in the terminal or as a page, and whether it is good enough."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from rich.console import Console

from torq_mlir.files import write_atomically
from torq_mlir.gen_config import table
from torq_mlir.gen_config.explaining import outcome
from torq_mlir.gen_config.files import EXECUTORS, Layer, Report, Status, read_report
from torq_mlir.gen_config.selecting import select

# Wide enough for any table: what reads a file or a pipe wants whole names.
_NO_TERMINAL_WIDTH = 10_000


def view(
    report: Report | str | os.PathLike,
    *,
    html: str | os.PathLike | None = None,
    layers: str | Sequence[str] = (),
    statuses: Iterable[str] = (),
    executors: Sequence[str] = EXECUTORS,
    stream: IO[str] | None = None,
) -> Report:
    """Print a report, or write it as a page, and return it.

    Args:
      report: a report or the path of one.
      html: write one self-contained page there instead of printing.
      layers: names, parts of names or wildcards of the layers to print; all if empty.
      statuses: print only layers that end with one of them on the recommended executor.
      executors: columns to print.
      stream: where to print; standard output by default. Styled and fitted to its width if it is a terminal, plain
        text otherwise; NO_COLOR is respected.

    Raises:
      ConfigFileError: the report cannot be read.
      TorqError: no layer has such a name.
      OSError: the page cannot be written.
    """
    folder = None if isinstance(report, Report) else Path(report).parent
    report = report if isinstance(report, Report) else read_report(report)
    if html is not None:
        from torq_mlir.gen_config.page import render_page

        page = render_page(report, folder)
        write_atomically(html, lambda file: file.write(page.encode("utf-8", "replace")))
        return report
    wanted = {Status(status) for status in statuses}
    named = select(report, layers) if layers else report.layers
    shown = [layer for layer in named if not wanted or outcome(layer) in wanted]
    _print(report, shown, executors, sys.stdout if stream is None else stream)
    return report


def failures(
    report: Report, fail_on: str, executors: Sequence[str] = (), layers: str | Sequence[str] = ()
) -> list[str]:
    """What is not good enough, one line each.

    Args:
      fail_on: "error": layers that no executor takes, a full model that does not run, a discovery that has not
        finished. "difference": also layers and a full model outside their tolerance.
      executors: judge the layers on these, whatever is recommended.
      layers: judge these layers, given as for `view`; all if empty.

    Raises:
      TorqError: no layer has such a name.
    """
    bad = {Status.ERROR} if fail_on == Status.ERROR else {Status.ERROR, Status.DIFFERENCE}
    found = [] if report.complete else ["discovery has not finished"]
    for layer in select(report, layers) if layers else report.layers:
        if not executors and outcome(layer) in bad:
            found.append(f"{layer.name}: {outcome(layer)} on {layer.recommended_executor or 'every executor'}")
        results = {name: layer.executors[name] for name in executors if name in layer.executors}
        found += [f"{layer.name}: {each.status} on {name}" for name, each in results.items() if each.status in bad]
    if report.run is not None and report.run.status in bad:
        found.append(f"full model: {report.run.status}")
    return found


def _print(report: Report, layers: Sequence[Layer], executors: Sequence[str], stream: IO[str]) -> None:
    console = Console(file=stream, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        console = Console(file=stream, highlight=False, force_terminal=False, width=_NO_TERMINAL_WIDTH)
    elif console.no_color:
        console = Console(file=stream, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(table.render(report, layers, executors, console))
    stream.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
