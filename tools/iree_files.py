# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torq-compile writes for IREE."""

from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from torq_mlir.compiler import CompiledModel

# What --emit can name.
INPUT = "iree-input"
# Of files for its runtime.
SUFFIX = ".vmfb"


def is_wanted(emit: str | None, path: str | None) -> bool:
    """Whether that is what the options of torq-compile ask for."""
    return emit == INPUT or (emit is None and path is not None and Path(path).suffix == SUFFIX)


def writer(
    compiled: "CompiledModel",
    emit: str | None,
    path: str | None,
    *,
    opt_level: int | None,
    elide: bool,
    debug_info: bool,
) -> Callable[[IO[bytes]], object]:
    """What writes a module of IREE's virtual machine, or with `emit` the input of IREE's compiler.

    Raises:
      CompileError: IREE cannot compile the model.
      MissingPackageError: the extra `iree` is not installed, and the compiler is needed.
    """
    from torq_mlir.backends import iree

    if emit is None:
        binary = iree.build(compiled.module, opt_level=opt_level)
        return lambda file: file.write(binary)
    module = iree.iree_input(compiled.module, outline=iree.OUTLINED).operation
    if path is not None and Path(path).suffix == ".mlirbc":
        return module.write_bytecode
    limit = 16 if elide else None
    return lambda file: module.print(
        file=file, binary=True, large_elements_limit=limit, enable_debug_info=debug_info, assume_verified=True
    )
