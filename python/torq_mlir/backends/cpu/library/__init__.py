# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as a library for C: machine code, constants, and the few functions that C calls."""

import platform
import shutil
import string
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from os import PathLike, environ
from pathlib import Path

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.planning import Planner
from torq_mlir.backends.cpu.program import ENTRY, clock_bytes, counter_bytes, passed_target
from torq_mlir.dialects.modules import copy_module
from torq_mlir.errors import CompileError
from torq_mlir.files import write_atomically
from torq_mlir.frontends.tensor_info import TensorInfo

# Of the names in libraries for this process.
PREFIX = "torq_model"
# Flags of /proc/cpuinfo as a C compiler spells them, where it does not spell them so.
_FEATURES = {"avx512_vnni": "avx512vnni", "avx_vnni": "avxvnni"}
# What every processor of an architecture has.
_BASELINES = {"x86_64": "x86-64", "AMD64": "x86-64"}
_EXPORTED = "{ global: ${prefix}_*; _mlir_${prefix}_entry; local: *; };\n"


def write(
    path: str | PathLike,
    plan: Planner,
    module: ir.Module,
    inputs: Sequence[TensorInfo],
    outputs: Sequence[TensorInfo],
    *,
    prefix: str = PREFIX,
    opt_level: int = 3,
) -> Path:
    """Writes a shared library (".so") or an object file (".o"), and beside it the C header.

    The functions of the header begin with the prefix. Nothing of Python or MLIR is needed to run them.

    Returns:
      The path of the header.

    Raises:
      CompileError: there is no C compiler, it fails, or the prefix is not an identifier.
      OSError: a file cannot be written.
    """
    path = Path(path)
    if path.suffix not in (".so", ".o"):
        raise CompileError(f"{path}: a library ends in .so, an object file in .o")
    if not prefix.isidentifier() or not prefix.isascii():
        raise CompileError(f"{prefix!r} is not the beginning of names in C")
    header = _build(path, plan, module, inputs, outputs, prefix, opt_level)
    write_atomically(path.with_suffix(".h"), lambda file: file.write(header))
    return path.with_suffix(".h")


def write_code(path: Path, plan: Planner, module: ir.Module, *, opt_level: int) -> None:
    """Writes a shared library for this process, without names of inputs and outputs.

    Raises:
      as `write`.
    """
    infos = [
        [TensorInfo(f"{kind}{i}", layout.shape, layout.dtype) for i, layout in enumerate(layouts)]
        for kind, layouts in (("input", plan.inputs), ("output", plan.outputs))
    ]
    _build(path, plan, module, *infos, PREFIX, opt_level)


def _build(
    path: Path,
    plan: Planner,
    module: ir.Module,
    inputs: Sequence[TensorInfo],
    outputs: Sequence[TensorInfo],
    prefix: str,
    opt_level: int,
) -> bytes:
    """Writes the library or object file, and returns the header."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _write_object(module, work / "code.o", prefix, plan.cpu, opt_level)
        plan.constants.block().tofile(work / "constants.bin")
        values = {"prefix": prefix, "PREFIX": prefix.upper(), "header": "model.h", "cpu": plan.cpu.name}
        values |= {"inputs": len(plan.inputs), "outputs": len(plan.outputs), "scratch": max(plan.arena, 1)}
        values |= {
            "clock": clock_bytes(plan),
            "counters": counter_bytes(plan),
            "constants": str(work / "constants.bin"),
        }
        values |= {"supported": _supported(plan.cpu)}
        values["tensors"] = "\n".join(
            _tensors(kind, layouts, infos, prefix)
            for kind, layouts, infos in (("input", plan.inputs, inputs), ("output", plan.outputs, outputs))
        )
        for name, target in (("torq_model.h", "model.h"), ("torq_model.c", "model.c")):
            (work / target).write_text(_filled(name, values))
        (work / "exported").write_text(string.Template(_EXPORTED).substitute(values))
        _link(work, path.suffix)
        code = (work / f"model{path.suffix}").read_bytes()
        write_atomically(path, lambda file: file.write(code))
        return (work / "model.h").read_bytes()


def c_compiler() -> str | None:
    """The C compiler: that of the variable CC, or cc."""
    return shutil.which(environ.get("CC") or "cc")


def _supported(cpu: Cpu) -> str:
    """What is true in C on a machine that can run the code."""
    flags = sorted(_FEATURES.get(flag, flag) for flag in cpu.requires)
    return " && ".join(f'__builtin_cpu_supports("{flag}")' for flag in flags) or "1"


def _write_object(module: ir.Module, path: Path, prefix: str, cpu: Cpu, opt_level: int) -> None:
    """The entry is named after the prefix, and nothing else has a name: several object files go into one program.

    Functions that name no processor are for any that runs the library, and not for that of this machine.
    """
    entry = f"{prefix}_entry"
    named = copy_module(module.operation)
    internal = ir.Attribute.parse("#llvm.linkage<internal>", module.context)
    target = cpu.target or _BASELINES.get(platform.machine())
    for operation in named.body.operations:
        if operation.operation.name == "llvm.func" and not len(operation.regions[0].blocks):
            continue
        if operation.operation.name == "llvm.func" and target is not None and "passthrough" not in operation.attributes:
            with module.context:
                operation.attributes["passthrough"] = passed_target(target)
        if "sym_name" in operation.attributes and operation.attributes["sym_name"].value == ENTRY:
            operation.attributes["sym_name"] = ir.StringAttr.get(entry, module.context)
        else:
            operation.attributes["linkage"] = internal
    try:
        engine = ExecutionEngine(named, opt_level=opt_level, enable_object_dump=True)
    except RuntimeError as error:
        raise CompileError(str(error)) from error
    if not engine.raw_lookup(entry):
        raise CompileError("the code needs a function that the process does not have")
    engine.dump_to_object_file(str(path))


def _filled(name: str, values: dict[str, object]) -> str:
    template = resources.files(__package__).joinpath(name).read_text()
    return string.Template(template).substitute(values)


def _tensors(kind: str, layouts: Sequence[Layout], infos: Sequence[TensorInfo], prefix: str) -> str:
    """The definitions that describe inputs or outputs."""
    lines, entries = [], []
    for position, (layout, info) in enumerate(zip(layouts, infos, strict=True)):
        shape = ", ".join(map(str, layout.shape)) or "1"
        lines.append(f"static const int64_t {kind}_shape_{position}[] = {{{shape}}};")
        scale, zero_point = (info.scale, info.zero_point) if info.scale is not None else (0.0, 0)
        entries.append(
            f'    {{"{_escaped(info.name)}", "{info.dtype}", {len(layout.shape)}, {kind}_shape_{position}, '
            f"{layout.bytes}, {int(info.scale is not None)}, {float(scale).hex()}, {int(zero_point)}}},"
        )
    return "\n".join([*lines, f"static const {prefix}_tensor {kind}_tensors[] = {{", *entries, "};"])


def _escaped(name: str) -> str:
    """As a string of C has it."""
    octal = (f"\\{byte:03o}" if byte < 32 or byte > 126 or chr(byte) in '"\\?' else chr(byte) for byte in name.encode())
    return "".join(octal)


def _link(work: Path, suffix: str) -> None:
    compiler = c_compiler()
    if compiler is None:
        raise CompileError(f"there is no C compiler {environ.get('CC') or 'cc'!r}; install one, or name it in CC")
    _call(compiler, "-std=c11", "-O2", "-fPIC", "-fvisibility=default", "-c", "model.c", "-o", "shim.o", folder=work)
    if suffix == ".so":
        # The code loads addresses as 64 bits, which the loader fills in.
        options = ["-shared", "-Wl,-z,notext", "-Wl,--version-script=exported", "-pthread"]
        _call(compiler, *options, "shim.o", "code.o", "-o", "model.so", "-lm", folder=work)
    else:
        _call(compiler, "-r", "-nostdlib", "shim.o", "code.o", "-o", "model.o", folder=work)


def _call(*command: str, folder: Path) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line), lines[-1] if lines else "no message")
        raise CompileError(f"{command[0]} failed: {reason}")
