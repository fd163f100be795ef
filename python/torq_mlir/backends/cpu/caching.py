# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs in a folder, by the hash of what they are made from.

An entry is a library and a description that has the hash of the library. The description is written last: what is
incomplete or damaged is not an entry. Several processes may write the same one.
"""

import hashlib
import importlib.metadata
import io
import json
import warnings
from os import PathLike
from pathlib import Path

from torch_mlir import ir

from torq_mlir.errors import CompileError
from torq_mlir.files import write_atomically

from . import library
from .code import Code, Program
from .machine import Cpu
from .planning import Planner

# Of the library and its description; to be changed with the code generator.
_FORMAT = 1


def load(module: ir.Module, cpu: Cpu, opt_level: int, folder: str | PathLike) -> tuple[Program, Code] | None:
    """The program of a module, if it is there. A damaged entry is reported, and is not one."""
    description = _entry(module, cpu, opt_level, folder)
    code = description.with_suffix(".so")
    try:
        values = json.loads(description.read_text())
        if values["sha256"] != hashlib.sha256(code.read_bytes()).hexdigest():
            raise ValueError("the library is not the one that was described")
        return Program.from_dict(values["program"]), Code.of_library(code, library.PREFIX)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        warnings.warn(f"{description}: not used, compiling again: {error}", stacklevel=3)
        return None


def store(
    module: ir.Module, cpu: Cpu, opt_level: int, folder: str | PathLike, plan: Planner, program: ir.Module
) -> bool:
    """Writes an entry, and returns whether that was possible; if not, it says why."""
    description = _entry(module, cpu, opt_level, folder)
    try:
        description.parent.mkdir(parents=True, exist_ok=True)
        path = description.with_suffix(".so")
        library.write_code(path, plan, program, opt_level=opt_level)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        text = json.dumps({"sha256": digest, "program": Program.of(plan).to_dict()})
        write_atomically(description, lambda file: file.write(text.encode()))
        return True
    except (OSError, CompileError) as error:
        warnings.warn(f"the compiled program is not kept in {folder}: {error}", stacklevel=3)
        return False


def _entry(module: ir.Module, cpu: Cpu, opt_level: int, folder: str | PathLike) -> Path:
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    versions = [importlib.metadata.version(name) for name in ("torq-mlir", "torch-mlir")]
    digest = hashlib.sha256(repr((_FORMAT, cpu.name, cpu.target, opt_level, *versions)).encode())
    digest.update(written.getbuffer())
    return Path(folder) / f"{digest.hexdigest()}.json"
