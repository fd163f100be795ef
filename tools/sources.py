# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of a tool: a file or stdin, whole or split at markers."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir

from .diagnostics import TEXT_NAME, DiagnosticPrinter, Position

DEFAULT_SPLIT_MARKER = "// -----"
# A marker whose last characters are wrong, or with nothing after it, is reported and does not split. In a short marker
# too little would be left to tell.
_NEAR_MISS = 2
_SHORT_MARKER = 6


@dataclass(frozen=True)
class Chunk:
    """A piece of a source, with the line and column of its first character.

    `path` is set for a file that is read whole.
    """

    name: str
    text: bytes
    line: int = 1
    column: int = 1
    path: str | None = None

    def parse(self, context: ir.Context, printer: DiagnosticPrinter) -> ir.Module:
        """The module in the chunk; its locations are places in the source.

        Raises:
          MLIRError: it does not parse, or is invalid.
        """
        if self.path is not None:
            return ir.Module.parseFile(self.path, context)
        printer.text_name = self.name
        padding = b"\n" * (self.line - 1) + b" " * (self.column - 1)
        module = ir.Module.parse(padding + self.text, context)
        _name_locations(module.operation, self.name)
        if self.line > 1:
            module.operation.location = ir.Location.file(self.name, self.line, self.column, context)
        return module


def _name_locations(operation: ir.Operation, name: str) -> None:
    """Gives locations in parsed text the name of the source, which the parser of the bindings does not take."""

    def renamed(location: ir.Location) -> ir.Location | None:
        if isinstance(location, ir.FileLineColLoc) and location.filename == TEXT_NAME:
            return ir.Location.file(name, location.start_line, location.start_col, location.context)
        return None

    def rename(inner: ir.Operation) -> ir.WalkResult:
        if location := renamed(inner.location):
            inner.location = location
        for region in inner.regions:
            for block in region:
                for argument in block.arguments:
                    if location := renamed(argument.location):
                        argument.set_location(location)
        return ir.WalkResult.ADVANCE

    operation.walk(rename)


def read(path: str, printer: DiagnosticPrinter, *, needs_text: bool) -> Chunk:
    """The source `path`, or stdin for "-".

    Args:
      needs_text: read the text; without it, a file is left to MLIR's parser.

    Raises:
      OSError: the file cannot be read.
    """
    if path == "-":
        chunk = Chunk("<stdin>", sys.stdin.buffer.read())
        printer.add_source(chunk.name, chunk.text)
        return chunk
    with Path(path).open("rb") as file:
        return Chunk(path, file.read() if needs_text else b"", path=path)


def split(source: Chunk, marker: str, printer: DiagnosticPrinter) -> Iterator[Chunk]:
    """The pieces of `source` between markers; near misses of a marker are reported."""
    text, needle = source.text, marker.encode()
    probe, rest = (needle, b"") if len(needle) < _SHORT_MARKER else (needle[:-_NEAR_MISS], needle[-_NEAR_MISS:])
    start, found = 0, text.find(probe)
    while found != -1:
        end = found + len(probe)
        if text.startswith(rest, end) and end + len(rest) < len(text):
            yield _piece(source, start, found)
            start = end = end + len(rest)
        else:
            printer.print_at(_position(source, end), "warning", "near miss with file split marker")
        found = text.find(probe, end)
    yield _piece(source, start, len(text))


def _position(source: Chunk, offset: int) -> Position:
    line_start = source.text.rfind(b"\n", 0, offset) + 1
    return Position(source.name, source.text.count(b"\n", 0, offset) + 1, offset - line_start + 1)


def _piece(source: Chunk, start: int, end: int) -> Chunk:
    position = _position(source, start)
    return Chunk(source.name, source.text[start:end], position.line, position.column)
