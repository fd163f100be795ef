# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module on the host CPU: torq_hl and linalg on tensors, compiled by MLIR and LLVM."""

from torq_mlir.execution import Executable

from .compilation import compile

__all__ = ["Executable", "compile"]
