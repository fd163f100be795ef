# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules in IREE: compiled by its compiler, run by its runtime. The extra `iree` brings both."""

from .compilation import build, compile
from .executable import Executable
from .preparation import OUTLINED, InexactWarning, iree_input

__all__ = ["OUTLINED", "Executable", "InexactWarning", "build", "compile", "iree_input"]
