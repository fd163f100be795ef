# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Progress that goes to several places."""

import contextlib
from collections.abc import Callable, Iterator

from torq_mlir.gen_config.files import ExecutorResult
from torq_mlir.gen_config.progress import SILENT, Progress, display

# Given the number of pairs of a layer and an executor, what to tell progress to until the context is left.
Show = Callable[[int], contextlib.AbstractContextManager[Progress]]


class Both:
    """Tells two others."""

    def __init__(self, first: Progress, second: Progress) -> None:
        self._all = first, second

    def started(self, layer: str, executor: str) -> None:
        for each in self._all:
            each.started(layer, executor)

    def finished(self, layer: str, executor: str, result: ExecutorResult, seconds: float = 0.0) -> None:
        for each in self._all:
            each.finished(layer, executor, result, seconds)

    def note(self, text: str) -> None:
        for each in self._all:
            each.note(text)


@contextlib.contextmanager
def silently(total: int) -> Iterator[Progress]:
    """Tells nobody."""
    yield SILENT


def on_terminal(log_file: str | None = None) -> Show:
    """Tells the terminal, and a file if one is given.

    Raises:
      OSError: when the context is entered, the file cannot be written.
    """

    @contextlib.contextmanager
    def show(total: int) -> Iterator[Progress]:
        with contextlib.ExitStack() as stack:
            shown = stack.enter_context(display(total))
            if log_file is not None:
                file = stack.enter_context(open(log_file, "w", encoding="utf-8"))
                shown = Both(shown, stack.enter_context(display(total, stream=file)))
            yield shown

    return show
