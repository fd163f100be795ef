# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of `torch.export` to the torch dialect."""

from .importing import import_program
from .interface import dynamic_inputs
from .loading import LoadedProgram, load, operator_name

__all__ = ["LoadedProgram", "dynamic_inputs", "import_program", "load", "operator_name"]
