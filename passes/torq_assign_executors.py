# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-assign-executors: the executor of each operation, by the line of the source it comes from."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from torch_mlir import ir

from torq_mlir.dialects.locations import file_positions
from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.assignment import EXECUTOR_ATTRIBUTE, EXECUTORS

_ASSIGNMENTS = "op_assignments"
# What they are for is decided by what reads them.
_CONSTANTS = ("arith.constant", "tensor.empty")
# It executes operations of torq_hl and no others.
_NPU = EXECUTORS[0]
# In place of a line and column: all operations that are not assigned otherwise.
_OTHERS = "*"


class _MapError(Exception):
    """The option `map` cannot be used; the text says why."""


def run(op: ir.Operation, map: Sequence[str] = ()) -> None:
    try:
        assignments = _read(map)
    except _MapError as error:
        op.location.emit_error(f"torq-assign-executors: {error}")
        raise PassFailure from None

    def assign(operation: ir.Operation) -> ir.WalkResult:
        found = [assignments[each] for each in file_positions(operation.location) if each in assignments]
        if not found and _OTHERS in assignments:
            found = [assignments[_OTHERS]]
        if found and operation.name not in _CONSTANTS and not operation.name.startswith(("func.", "builtin.")):
            # An operation that stands for several lines runs where all of them can.
            executor = max(found, key=EXECUTORS.index)
            if executor != _NPU or operation.name.startswith("torq_hl."):
                operation.attributes[EXECUTOR_ATTRIBUTE] = ir.StringAttr.get(executor)
        return ir.WalkResult.ADVANCE

    op.walk(assign)


def _read(entries: Sequence[str]) -> dict[tuple[int, int] | str, str]:
    if len(entries) == 1 and entries[0].endswith(".json"):
        texts = _read_file(entries[0])
    else:
        texts = dict(_split(entry) for entry in entries)
    return {_position(position): _executor(executor) for position, executor in texts.items()}


def _read_file(path: str) -> Mapping[str, str]:
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise _MapError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise _MapError(f"{path}: not JSON") from None
    assignments = content.get(_ASSIGNMENTS) if isinstance(content, dict) else None
    if not isinstance(assignments, dict):
        raise _MapError(f"{path}: it has no {_ASSIGNMENTS}")
    return assignments


def _split(entry: str) -> tuple[str, str]:
    position, equals, executor = entry.partition("=")
    if not equals:
        raise _MapError(f"'{entry}' is not line:col=executor")
    return position, executor


def _position(text: str) -> tuple[int, int] | str:
    if text == _OTHERS:
        return text
    line, _, column = text.partition(":")
    if not (line.isdecimal() and column.isdecimal()):
        raise _MapError(f"'{text}' is not line:col")
    return int(line), int(column)


def _executor(name: object) -> str:
    if name not in EXECUTORS:
        raise _MapError(f"'{name}' is no executor; they are {', '.join(EXECUTORS)}")
    return str(name)
