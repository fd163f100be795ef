# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be done around passes: callbacks, printing, timing, and files of the IR after each pass."""

import sys
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from torch_mlir import ir

from torq_mlir.pipelines.scheduling import ScheduledPass, ScheduledPipeline


class Instrumentation:
    """Callbacks around passes; each does nothing unless overridden."""

    def prepare_pass(self, scheduled: ScheduledPass) -> None:
        """Called once for each pass when the instrumentation is added to a pipeline."""

    def before_pipeline(self, pipeline: ScheduledPipeline, operation: ir.Operation) -> None:
        """Called before the passes of a nested pipeline run on `operation`."""

    def after_pipeline(self, pipeline: ScheduledPipeline, operation: ir.Operation) -> None:
        """Called when the passes of a nested pipeline have run on `operation`, or one of them has failed."""

    def before_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        """Called before a pass runs on `operation`."""

    def after_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        """Called after a pass has changed `operation`, which has been verified."""

    def after_pass_failed(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        """Called after a pass has failed; `operation` may be invalid."""


class _Everything(Container):
    def __contains__(self, item: object) -> bool:
        return True


EVERY_PASS: Container[str] = _Everything()


@dataclass
class PrintIR(Instrumentation):
    """Prints the IR to stderr before and after passes, as MLIR's printer does.

    Attributes:
      before, after: names of the passes.
      only_changes: print after a pass only if it changed the IR.
      only_failures: print after a pass only if it failed.
      module_scope: print the outermost op whatever the pass runs on.
      elements_limit, resource_limit: number of elements or characters above which a constant is elided.
    """

    before: Container[str] = ()
    after: Container[str] = ()
    only_changes: bool = False
    only_failures: bool = False
    module_scope: bool = False
    elements_limit: int | None = None
    resource_limit: int | None = None
    debug_info: bool = False
    generic: bool = False

    def prepare_pass(self, scheduled: ScheduledPass) -> None:
        before, after = scheduled.name in self.before, scheduled.name in self.after
        if before or after:
            scheduled.manager.enable_ir_printing(
                print_before_all=before,
                print_after_all=after,
                print_module_scope=self.module_scope,
                print_after_change=self.only_changes,
                print_after_failure=self.only_failures,
                large_elements_limit=self.elements_limit,
                large_resource_limit=self.resource_limit,
                enable_debug_info=self.debug_info,
                print_generic_op_form=self.generic,
            )

    def before_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        sys.stderr.flush()  # MLIR writes to the same stream, past Python's buffer


@dataclass
class DumpIR(Instrumentation):
    """Writes the outermost op after each pass to `directory`, in files numbered in the order of the passes.

    The name of a file is `<number>_<pass>.mlir`, or `<number>_<pass>_<symbol>.mlir` for a pass on a nested op.
    """

    directory: Path
    elements_limit: int | None = 16
    debug_info: bool = False
    count: int = field(default=0, init=False)

    def after_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        self._write(scheduled.name, operation, assume_verified=True)

    def after_pass_failed(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        self._write(f"{scheduled.name}_failed", operation, print_generic_op_form=True)

    def _write(self, name: str, operation: ir.Operation, **flags: bool) -> None:
        outermost, symbol = operation, ""
        while outermost.parent is not None:
            outermost = outermost.parent.operation
        if outermost is not operation and "sym_name" in operation.attributes:
            symbol = f"_{ir.StringAttr(operation.attributes['sym_name']).value}"
        text = outermost.get_asm(large_elements_limit=self.elements_limit, enable_debug_info=self.debug_info, **flags)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.count += 1
        (self.directory / f"{self.count:03d}_{name}{symbol}.mlir").write_text(f"{text}\n", encoding="utf-8")


@dataclass
class _Row:
    name: str
    seconds: float = 0.0
    rows: dict[object, "_Row"] = field(default_factory=dict)


class Timing(Instrumentation):
    """Wall time of each pass and phase, reported in the format of `mlir-opt --mlir-timing`."""

    def __init__(self) -> None:
        self._root = _Row("")
        self._stack = [self._root]
        self._starts = [time.perf_counter()]

    def _begin(self, key: object, name: str) -> None:
        self._stack.append(self._stack[-1].rows.setdefault(key, _Row(name)))
        self._starts.append(time.perf_counter())

    def _end(self) -> None:
        self._stack.pop().seconds += time.perf_counter() - self._starts.pop()

    def prepare_pass(self, scheduled: ScheduledPass) -> None:
        scheduled.load()  # importing a pass is not running it

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times what is not a pass, such as parsing."""
        self._begin(name, name)
        try:
            yield
        finally:
            self._end()

    def before_pipeline(self, pipeline: ScheduledPipeline, operation: ir.Operation) -> None:
        self._begin(pipeline, f"'{pipeline.anchor}' Pipeline")

    def after_pipeline(self, pipeline: ScheduledPipeline, operation: ir.Operation) -> None:
        self._end()

    def before_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        self._begin(scheduled, scheduled.name)

    def after_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        self._end()

    def after_pass_failed(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        self._end()

    def report(self) -> str:
        """The time since construction: one line for each pass, in the order of the pipeline."""
        total = time.perf_counter() - self._starts[0]
        rule = "===" + "-" * 73 + "==="
        lines = [rule, "... Execution time report ...".center(79).rstrip(), rule]
        lines += [f"  Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        rest = _Row("Rest", total - sum(row.seconds for row in self._root.rows.values()))
        for depth, row in (*_walk(self._root), (0, rest), (0, _Row("Total", total))):
            share = 100 * row.seconds / total if total else 0.0
            lines.append(f"  {row.seconds:8.4f} ({share:5.1f}%)  {'  ' * depth}{row.name}")
        return "\n".join(lines) + "\n"


def _walk(row: _Row, depth: int = 0) -> Iterator[tuple[int, _Row]]:
    for inner in row.rows.values():
        yield depth, inner
        yield from _walk(inner, depth + 1)
