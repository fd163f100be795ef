# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of a discovery as they come in, on disk: a discovery that was killed goes on where it stopped."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from torq_mlir.gen_config.files import ExecutorResult, IrText
from torq_mlir.gen_config.files.encoding import decode, encode
from torq_mlir.gen_config.tasks import TaskResult

VERSION = 1


class Journal:
    """A file of one line of JSON for each result, after one that says what they are results of.

    Attributes:
      results: what the file had, by layer and executor.
    """

    def __init__(self, path: str | os.PathLike, identity: Mapping[str, object]) -> None:
        """Open the file, or start it anew if it is about something else or damaged from its first line on.

        Args:
          identity: the model, flags and settings, as JSON has them.

        Raises:
          OSError: it cannot be written.
        """
        self.path = Path(path)
        self._header = json.dumps({"version": VERSION, **identity}, sort_keys=True)
        self.results: dict[tuple[str, str], TaskResult] = {}
        complete = self._read()
        self._file: IO[bytes] = self.path.open("r+b" if complete else "wb")
        if complete:
            self._file.seek(complete)
            self._file.truncate()  # the rest is the line during which the writer was killed
        else:
            self._write(self._header)

    def _read(self) -> int:
        """Take in the complete lines; returns where they end, 0 if the file is of no use."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        end = 0
        for line in content.splitlines(keepends=True):
            if not line.endswith(b"\n") or not self._take(line.decode(errors="replace"), first=end == 0):
                break
            end += len(line)
        return end

    def _take(self, line: str, *, first: bool) -> bool:
        if first:
            return line.rstrip("\n") == self._header
        try:
            entry = json.loads(line)
            result = TaskResult(
                entry["layer"],
                entry["executor"],
                decode(ExecutorResult, entry["result"]),
                decode(IrText, entry["ir"]) if entry["ir"] is not None else None,
            )
        except (ValueError, KeyError, TypeError):
            return False
        self.results[result.layer, result.executor] = result
        return True

    def add(self, result: TaskResult) -> None:
        """Append a result; when this returns it is on disk.

        Raises:
          OSError: it cannot be written.
        """
        entry = {
            "layer": result.layer,
            "executor": result.executor,
            "result": encode(result.result),
            "ir": encode(result.ir) if result.ir is not None else None,
        }
        self._write(json.dumps(entry))

    def _write(self, line: str) -> None:
        try:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def close(self, *, remove: bool = False) -> None:
        """Close the file, and delete it if what it has is in a report.

        Raises:
          OSError: what is left of a line cannot be written.
        """
        try:
            self._file.close()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        if remove:
            self.path.unlink(missing_ok=True)
