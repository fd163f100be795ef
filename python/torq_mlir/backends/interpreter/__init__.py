# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module operation by operation, torq_hl by the numpy functions that define it.

`kernels` has one plain function for each torq_hl operation. Movement of data (tensor.*, linalg.fill, linalg.transpose)
is done in numpy too, and every other operation is compiled by the JIT as a function of its own: what is left in linalg
runs the same code in both executors.
"""

from .interpreter import Interpreter, InterpreterError, run

__all__ = ["Interpreter", "InterpreterError", "run"]
