# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes the report and the compiler file. What does not fit its schema is refused with one line."""

import functools
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torq_mlir.errors import TorqError
from torq_mlir.files import write_atomically
from torq_mlir.gen_config.files.compiler_file import CompilerFile
from torq_mlir.gen_config.files.encoding import decode, encode
from torq_mlir.gen_config.files.report import Report
from torq_mlir.gen_config.files.summary import summarize

if TYPE_CHECKING:
    import jsonschema

FORMAT_VERSION = 1
REPORT_KIND = "torq-gen-config report"
COMPILER_FILE_KIND = "torq-gen-config compiler file"

_FOLDER = Path(__file__).parent
_SCHEMAS = {REPORT_KIND: "report.schema.json", COMPILER_FILE_KIND: "compiler_file.schema.json"}


class ConfigFileError(TorqError):
    """A report or compiler file is missing, damaged, or of a version that is not known here."""


def read_report(path: str | os.PathLike) -> Report:
    """The report in the file `path`.

    Raises:
      ConfigFileError: it cannot be read, is no report, or does not fit the schema.
    """
    report = decode(Report, _read(path, REPORT_KIND))
    names: set[str] = set()
    for layer in report.layers:
        if layer.name in names:
            raise ConfigFileError(f"{path}: two layers have the name '{layer.name}'")
        names.add(layer.name)
    return report


def write_report(path: str | os.PathLike, report: Report) -> None:
    """Write `report` and its summary; a reader sees the old file or the new one.

    Raises:
      OSError: it cannot be written.
    """
    _write(path, REPORT_KIND, encode(report) | {"summary": encode(summarize(report))})


def read_compiler_file(path: str | os.PathLike) -> CompilerFile:
    """The compiler file `path`.

    Raises:
      ConfigFileError: it cannot be read, is no compiler file, or does not fit the schema.
    """
    return decode(CompilerFile, _read(path, COMPILER_FILE_KIND))


def write_compiler_file(path: str | os.PathLike, content: CompilerFile) -> None:
    """Write a compiler file; a reader sees the old file or the new one.

    Raises:
      OSError: it cannot be written.
    """
    _write(path, COMPILER_FILE_KIND, encode(content))


def schema(kind: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the files of `kind`."""
    return json.loads((_FOLDER / _SCHEMAS[kind]).read_text())


@functools.cache
def _validator(kind: str) -> "jsonschema.Validator":
    import jsonschema  # not needed to write

    return jsonschema.Draft202012Validator(schema(kind))


def _write(path: str | os.PathLike, kind: str, content: dict[str, Any]) -> None:
    content = {"kind": kind, "format_version": FORMAT_VERSION} | content
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def _read(path: str | os.PathLike, kind: str) -> dict[str, Any]:
    content = _load(path)
    found = content.get("kind")
    if found == COMPILER_FILE_KIND and kind == REPORT_KIND:
        raise ConfigFileError(f"{path}: this is the compiler file, which `run` writes anew; give the report instead")
    if found != kind:
        what = f"it is a {found}" if isinstance(found, str) and found in _SCHEMAS else "it does not say so"
        raise ConfigFileError(f"{path}: not a {kind}: {what}")
    version = content.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        given = _first_line(json.dumps(version))
        raise ConfigFileError(f"{path}: format version {given}; this version of torq-mlir reads {FORMAT_VERSION}")
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(content))
    if error is not None:
        raise ConfigFileError(f"{path}: {error.json_path}: {_first_line(error.message)}")
    return content


def _load(path: str | os.PathLike) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_bytes(), parse_constant=_refuse_constant, parse_int=_integer)
    except OSError as error:
        raise ConfigFileError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigFileError(f"{path}: not JSON: {_first_line(str(error))}") from error
    if not isinstance(content, dict):
        raise ConfigFileError(f"{path}: not a file of torq-gen-config: not a JSON object")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _integer(digits: str) -> int:
    if math.isinf(float(digits)):  # the fields of type float take integers too
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _first_line(message: str) -> str:
    line = message.partition("\n")[0]
    return line if len(line) <= 200 else line[:200] + "..."
