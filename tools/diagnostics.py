# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics as the tools of MLIR print them, and their verification against `expected-*` comments."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torch_mlir import ir

# The name that the bindings give to text that is not in a file.
TEXT_NAME = "-"
_TAB = 8
_CALL_STACK_LIMIT = 10


class Position(NamedTuple):
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int


def file_position(location: ir.Location) -> Position | None:
    """The first place in a file that `location` names, or None."""
    if isinstance(location, ir.FileLineColLoc):
        return Position(location.filename, location.start_line, location.start_col)
    for child in _children(location):
        if position := file_position(child):
            return position
    return None


def _children(location: ir.Location) -> tuple[ir.Location, ...]:
    if isinstance(location, ir.NameLoc):
        return (location.child_loc,)
    if isinstance(location, ir.CallSiteLoc):
        return location.callee, location.caller
    if isinstance(location, ir.FusedLoc):
        return tuple(location.locations)
    return ()


def _call_site(location: ir.Location) -> ir.CallSiteLoc | None:
    if isinstance(location, ir.CallSiteLoc):
        return location
    inside = () if isinstance(location, ir.FileLineColLoc) else _children(location)
    return next((site for site in map(_call_site, inside) if site), None)


def _callers(location: ir.Location) -> Iterator[ir.Location]:
    for _ in range(_CALL_STACK_LIMIT):
        site = _call_site(location)
        if site is None:
            return
        location = site.caller
        yield location


class DiagnosticPrinter:
    """Prints diagnostics with the source line and a caret. A handler for `Context.attach_diagnostic_handler`.

    Attributes:
      text_name: name of the text that is being parsed, where the bindings know none.
      errors: number of errors printed.
    """

    def __init__(self) -> None:
        self.text_name = TEXT_NAME
        self.errors = 0
        self._lines: dict[str, list[str]] = {}

    def add_source(self, name: str, text: bytes) -> None:
        """Makes the text of a source known; files that exist are read when they are first needed."""
        self._lines[name] = text.decode(errors="replace").split("\n")

    def __call__(self, diagnostic: ir.Diagnostic) -> bool:
        self.errors += diagnostic.severity == ir.DiagnosticSeverity.ERROR
        location = diagnostic.location
        self.print(location, diagnostic.severity.name.lower(), diagnostic.message)
        for caller in _callers(location):
            self.print(caller, "note", "called from")
            location = caller
        for note in diagnostic.notes:
            self.print(note.location, "note", note.message, show_line=note.location != location)
            location = note.location
        return True

    def print(self, location: ir.Location, kind: str, message: str, show_line: bool = True) -> None:
        position = self.position(location)
        if position is None:
            prefix = "" if isinstance(location, ir.UnknownLoc) else f"{location}: "
            self.print_at(None, kind, prefix + message)
        else:
            self.print_at(position, kind, message, show_line=show_line)

    def position(self, location: ir.Location) -> Position | None:
        position = file_position(location)
        return position._replace(file=self.text_name) if position and position.file == TEXT_NAME else position

    def print_at(
        self, position: Position | None, kind: str, message: str, length: int = 1, show_line: bool = True
    ) -> None:
        """Prints a message on `length` characters of a source line."""
        if position is None:
            print(f"<unknown>:0: {kind}: {message}", file=sys.stderr)
            return
        print(f"{position.file}:{position.line}:{position.column}: {kind}: {message}", file=sys.stderr)
        line = self._line(position) if show_line else None
        if line is not None:
            print(line.expandtabs(_TAB), file=sys.stderr)
            before = _characters(line, position.column - 1).expandtabs(_TAB)
            print(" " * len(before) + "^" + "~" * (length - 1), file=sys.stderr)

    def _line(self, position: Position) -> str | None:
        if position.file not in self._lines:
            path = Path(position.file)
            self.add_source(position.file, path.read_bytes() if path.is_file() else b"")
        lines = self._lines[position.file]
        if not 1 <= position.line <= len(lines) or position.column < 1:
            return None
        line = lines[position.line - 1]
        return line if position.column <= len(line.encode()) + 1 else None


def _characters(line: str, columns: int) -> str:
    """The part of `line` before a column, which counts bytes."""
    return line.encode()[:columns].decode(errors="replace")


_EXPECTED = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(@(?P<line>[+-][0-9]+|above|below|unknown))? *\{\{(?P<message>.*)\}\} *$"
)


@dataclass
class _Expectation:
    """An `expected-*` comment; `line` is that of the diagnostic, None for a diagnostic without a position."""

    kind: str
    message: str
    pattern: re.Pattern
    comment: Position
    line: int | None
    met: bool = False


class MalformedExpectation(ValueError):
    """The regular expression of an `expected-*-re` comment is wrong."""


class DiagnosticVerifier:
    """Checks diagnostics against the comments of one source. A handler for `Context.attach_diagnostic_handler`.

    `// expected-error@+1 {{text}}` expects an error on the next line whose message contains the text; `error` may be
    `warning`, `remark` or `note`, and the line `@-2`, `@above`, `@below` (lines with such comments do not count) or
    `@unknown`. In `expected-error-re`, what stands in `{{..}}` inside the text is a regular expression.
    """

    def __init__(self, printer: DiagnosticPrinter, name: str, text: bytes, first_line: int, only_expected: bool):
        """Reads the comments.

        Args:
          printer: reports what does not match.
          name: name of the source file.
          text: the source from `first_line` on.
          only_expected: accept diagnostics that no comment expects.
        """
        self._printer = printer
        self._name = name
        self._only_expected = only_expected
        self._failed = False
        lines = text.decode(errors="replace").split("\n")
        self._expectations = list(self._read(lines, first_line))

    def _read(self, lines: list[str], first_line: int) -> Iterator[_Expectation]:
        last_without: int | None = None
        for_next: list[_Expectation] = []
        for number, line in enumerate(lines, first_line):
            match = _EXPECTED.search(line)
            if match is None:
                for expectation in for_next:
                    expectation.line = number
                for_next.clear()
                last_without = number
                continue
            comment = Position(self._name, number, len(line[: match.start()].encode()) + 1)
            try:
                pattern = _pattern(match["message"], bool(match["regex"]))
            except MalformedExpectation as error:
                self._fail(comment, str(error), len(match["message"]))
                continue
            expectation = _Expectation(match["kind"], match["message"], pattern, comment, number)
            where = match["line"]
            if where == "below":
                for_next.append(expectation)
            elif where == "above":
                expectation.line = last_without
            elif where == "unknown":
                expectation.line = None
            elif where:
                expectation.line = number + int(where)
            yield expectation

    def _fail(self, position: Position | None, message: str, length: int = 1) -> None:
        self._failed = True
        self._printer.print_at(position, "error", message, length)

    def __call__(self, diagnostic: ir.Diagnostic) -> bool:
        self._check(diagnostic)
        for note in diagnostic.notes:
            # What is attached for the reader is not part of what a pass reports.
            if not note.message.startswith("see current operation: "):
                self._check(note)
        return True

    def _check(self, diagnostic: ir.Diagnostic) -> None:
        kind, message = diagnostic.severity.name.lower(), diagnostic.message
        position = self._printer.position(diagnostic.location)
        near_miss = None
        for expectation in self._expectations:
            if expectation.met or not expectation.pattern.search(message) or not self._is_at(expectation, position):
                continue
            if expectation.kind == kind:
                expectation.met = True
                return
            near_miss = expectation
        if self._only_expected:
            return
        if near_miss:
            text = f"'{kind}' diagnostic emitted when expecting a '{near_miss.kind}'"
            self._fail(near_miss.comment, text)
            return
        self._failed = True
        self._printer.print(diagnostic.location, "error", f"unexpected {kind}: {message}")

    def _is_at(self, expectation: _Expectation, position: Position | None) -> bool:
        if position is None or expectation.line is None:
            return position is None and expectation.line is None
        return position.file == self._name and position.line == expectation.line

    def verify(self) -> bool:
        """Reports expectations that were not met; whether everything was as expected."""
        for expectation in self._expectations:
            if not expectation.met:
                text = f'expected {expectation.kind} "{expectation.message}" was not produced'
                unknown = expectation.line is None
                self._fail(None if unknown else expectation.comment, text, len(expectation.message))
        return not self._failed


def _pattern(message: str, is_regex: bool) -> re.Pattern:
    if not is_regex:
        return re.compile(re.escape(message))
    pattern, rest = "", message
    while True:
        literal, opening, rest = rest.partition("{{")
        pattern += re.escape(literal)
        if not opening:
            break
        regex, closing, rest = rest.partition("}}")
        if not closing:
            raise MalformedExpectation("found start of regex with no end '}}'")
        pattern += f"(?:{regex})"
    try:
        return re.compile(pattern)
    except re.error as error:
        raise MalformedExpectation(f"invalid regex: {error}") from None
