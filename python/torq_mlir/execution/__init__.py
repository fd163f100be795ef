# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code for linalg on tensors, by MLIR and LLVM in this process."""

from .compilation import compile_linalg
from .executable import Executable

__all__ = ["Executable", "compile_linalg"]
