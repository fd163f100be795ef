# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people see while a discovery goes on: a live display on a terminal, one line for each result elsewhere."""

import contextlib
import sys
from collections.abc import Iterator
from typing import IO, Protocol

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from torq_mlir.gen_config.files import ExecutorResult, Status
from torq_mlir.gen_config.wording import duration, printable, result_line

STYLES = {Status.SUCCESS: "green", Status.DIFFERENCE: "yellow", Status.ERROR: "red", Status.SKIPPED: "bright_black"}

# Of the layers in work, as many names as fit on a line.
_SHOWN_AT_ONCE = 3
# Columns of a terminal that has room for the bar and the counts.
_WIDE = 80


class Progress(Protocol):
    """Takes the events of a discovery. A result that was copied finishes without having started."""

    def started(self, layer: str, executor: str) -> None: ...

    def finished(self, layer: str, executor: str, result: ExecutorResult, seconds: float = 0.0) -> None:
        """`seconds`: how long compilation, runs and comparison took together; 0 if nothing was run."""

    def note(self, text: str) -> None:
        """Something to say that belongs to no layer."""


class _Silent:
    def started(self, layer: str, executor: str) -> None:
        pass

    def finished(self, layer: str, executor: str, result: ExecutorResult, seconds: float = 0.0) -> None:
        pass

    def note(self, text: str) -> None:
        pass


SILENT: Progress = _Silent()


@contextlib.contextmanager
def display(total: int, done: int = 0, stream: IO[str] | None = None) -> Iterator[Progress]:
    """Show progress on `stream` (standard error by default) until the context is left.

    Args:
      total: number of pairs of a layer and an executor.
      done: how many of them a report had already.
    """
    stream = sys.stderr if stream is None else stream
    console = Console(file=stream, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal or console.no_color:
        yield _Lines(stream, total, done)
        return
    columns = (
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(compact=True),
        bars.TextColumn("left"),
        bars.TextColumn("{task.fields[active]}", markup=False),
    )
    if console.width >= _WIDE:
        columns = (bars.BarColumn(bar_width=20), *columns[:3], bars.TextColumn("{task.fields[counts]}"), columns[3])
    with bars.Progress(*columns, console=console, transient=True) as live:
        yield _Live(live, total, done)


class _Lines:
    """One line for each result."""

    def __init__(self, stream: IO[str], total: int, done: int) -> None:
        self._stream, self._total, self._done = stream, total, done

    def started(self, layer: str, executor: str) -> None:
        pass

    def finished(self, layer: str, executor: str, result: ExecutorResult, seconds: float = 0.0) -> None:
        self._done += 1
        self.note(f"[{self._done:{len(str(self._total))}}/{self._total}] {_line(layer, executor, result, seconds)}")

    def note(self, text: str) -> None:
        print(printable(text), file=self._stream, flush=True)


class _Live:
    """A bar with what is in work, and the results above it."""

    def __init__(self, live: bars.Progress, total: int, done: int) -> None:
        self._live, self._active, self._counts = live, {}, dict.fromkeys(Status, 0)
        self._task = live.add_task("", total=total, completed=done, active="", counts="")

    def started(self, layer: str, executor: str) -> None:
        self._active[layer, executor] = f"{printable(layer)} {executor}"
        self._show()

    def finished(self, layer: str, executor: str, result: ExecutorResult, seconds: float = 0.0) -> None:
        self._active.pop((layer, executor), None)
        self._counts[result.status] += 1
        line = Text(_line(layer, executor, result, seconds))
        line.highlight_words([f" {result.status} "], STYLES[result.status])
        self._live.console.print(line, no_wrap=True, overflow="ellipsis")
        self._live.advance(self._task)
        self._show()

    def note(self, text: str) -> None:
        self._live.console.print(Text(printable(text)))

    def _show(self) -> None:
        counts = "  ".join(f"[{STYLES[status]}]{n} {status}[/]" for status, n in self._counts.items() if n)
        names = list(self._active.values())
        more = ", ..." if len(names) > _SHOWN_AT_ONCE else ""
        self._live.update(self._task, active=", ".join(names[:_SHOWN_AT_ONCE]) + more, counts=counts)


def _line(layer: str, executor: str, result: ExecutorResult, seconds: float) -> str:
    text = f"{printable(layer)}  {executor:4}  {result.status:10}  {result_line(result)}".rstrip()
    return f"{text}  ({duration(seconds)})" if seconds else text
