# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a module to IREE's binary."""

import io
from collections.abc import Sequence

from torch_mlir import ir

from torq_mlir import extras
from torq_mlir.errors import CompileError
from torq_mlir.execution import signature

from .executable import Executable
from .preparation import iree_input

# Products of matrices on tiles, with the micro-kernels of the processor.
_TILING = "--iree-opt-data-tiling"
_FLAGS = (
    "--iree-llvmcpu-enable-ukernels=all",
    # Floats as they are written.
    "--iree-input-demote-f64-to-f32=false",
    "--iree-llvmcpu-reassociate-fp-reductions=false",
)
# How LLVM ends a program that crashed.
_CRASH = "include the crash backtrace"


def build(
    module: ir.Module, *, target_cpu: str = "host", opt_level: int | None = None, flags: Sequence[str] = ()
) -> bytes:
    """The contents of a `.vmfb` file: a module of IREE's virtual machine, with machine code.

    Args:
      module: as for `iree_input`. The function `main`, or the only public one, keeps its name.
      target_cpu: as `-mcpu` of LLVM; "host" is the processor of this machine.
      opt_level: of IREE, 0 to 3; what it has by default for None.
      flags: more flags of iree-compile.

    Raises:
      CompileError: IREE cannot compile the module; the message is its first error.
      MissingPackageError: the extra `iree` is not installed.
    """
    compiler = extras.require("iree.compiler", "iree")
    buffer = io.BytesIO()
    iree_input(module).operation.write_bytecode(buffer)
    level = [] if opt_level is None else [f"--iree-opt-level=O{opt_level}"]
    arguments = [*_FLAGS, f"--iree-llvmcpu-target-cpu={target_cpu}", *level, *flags]

    def run(*more: str) -> bytes:
        return compiler.compile_str(buffer.getvalue(), target_backends=["llvm-cpu"], extra_args=[*more, *arguments])

    try:
        try:
            return run(_TILING)
        except compiler.CompilerToolError as error:
            if _CRASH not in str(error):
                raise
            return run()  # IREE 3.13 crashes where a broadcast becomes part of the tiles
    except compiler.CompilerToolError as error:
        raise CompileError(f"IREE: {_first_error(str(error))}") from None


def compile(
    module: ir.Module,
    *,
    num_threads: int | None = None,
    target_cpu: str = "host",
    opt_level: int | None = None,
    flags: Sequence[str] = (),
) -> Executable:
    """Compiles the function `main` of `module`, or its only public function, for this machine.

    Args:
      num_threads: of a call; as many as the machine has cores for None.
      target_cpu, opt_level, flags: as for `build`.

    Raises:
      as `build`.
    """
    with module.context:
        entry = signature.entry_function(module)
        inputs, results = (
            tuple(signature.TensorSpec.of(each) for each in types) for types in (entry.type.inputs, entry.type.results)
        )
    if any(1 < spec.bits < 8 for spec in (*inputs, *results)):
        raise CompileError("IREE packs integers of less than a byte; no input or output can have them")
    binary = build(module, target_cpu=target_cpu, opt_level=opt_level, flags=flags)
    return Executable(binary, entry.name.value, inputs, results, num_threads=num_threads)


def _first_error(text: str) -> str:
    """The first line of the diagnostics, or that which says what is wrong; how it ended where there are none."""
    if _CRASH in text:
        return "iree-compile crashed"
    ended, _, rest = text.partition("Diagnostics:")
    lines = [line.strip() for line in rest.partition("Invoked with:")[0].splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else " ".join(ended.split()))
