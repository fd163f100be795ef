# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of `torch.export` to the torch dialect."""

from .decompositions import QUANTIZED_NAMESPACES
from .dtypes import numpy_view, torch_view
from .importing import import_program
from .interface import dynamic_inputs
from .loading import LoadedProgram, load, operator_name
from .signature import call_structure

__all__ = [
    "QUANTIZED_NAMESPACES",
    "LoadedProgram",
    "call_structure",
    "dynamic_inputs",
    "import_program",
    "load",
    "numpy_view",
    "operator_name",
    "torch_view",
]
