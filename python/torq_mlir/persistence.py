# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models as files: the module, with what else is known of the model in attributes of its function."""

import io
import json
from pathlib import Path

from torch_mlir import ir

from torq_mlir import dialects, interface
from torq_mlir.errors import CompileError
from torq_mlir.report import Report

_REPORT = "torq-report"
# How a call of the source model is made of tensors, as `frontends.fx.call_structure` writes it.
_STRUCTURE = "torq_hl.structure"


def complete(module: ir.Module, report: Report, structure: str | None) -> ir.Operation:
    """A copy of a module with what is known of the model besides."""
    copy = module.operation.clone().operation
    function = interface.entry_function(copy)
    with copy.context:
        function.attributes[_REPORT] = ir.StringAttr.get(json.dumps(report.to_dict()))
        if structure is not None:
            function.attributes[_STRUCTURE] = ir.StringAttr.get(structure)
    return copy


def to_bytes(module: ir.Operation) -> bytes:
    """MLIR bytecode."""
    file = io.BytesIO()
    module.write_bytecode(file)
    return file.getvalue()


def parse(data: bytes, path: Path | str, *, what: str = "torq_hl", allow_unregistered: bool = False) -> ir.Module:
    """A module of MLIR's text or bytecode.

    Args:
      what: it should be, for the message.
      allow_unregistered: take operations of dialects that nobody knows, in the generic form.

    Raises:
      CompileError: it is neither; the message names the path.
    """
    context = ir.Context()
    context.allow_unregistered_dialects = allow_unregistered
    dialects.register(context)
    try:
        return ir.Module.parse(data, context)
    except ir.MLIRError as error:
        first = error.error_diagnostics[0].message if error.error_diagnostics else str(error)
        raise CompileError(f"{path}: not a module of {what}: {' '.join(first.split())}") from None


def read_report(function: ir.Operation) -> Report | None:
    """The report that is kept in a module."""
    text = _read(function, _REPORT)
    return None if text is None else Report.from_dict(json.loads(text))


def read_structure(function: ir.Operation) -> str | None:
    """The structure of calls that is kept in a module."""
    return _read(function, _STRUCTURE)


def _read(function: ir.Operation, key: str) -> str | None:
    return ir.StringAttr(function.attributes[key]).value if key in function.attributes else None
