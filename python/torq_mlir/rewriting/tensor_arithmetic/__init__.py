# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantized_decomposed as arithmetic on whole tensors, for dialects without scalar bodies: TOSA and StableHLO.

`arithmetic` says what such a dialect has to offer, `tosa` and `stablehlo` offer it, and the other modules write each
operation of quantized_decomposed in these terms, once.
"""

from .arithmetic import Inexpressible, TensorArithmetic
from .stablehlo import StablehloArithmetic
from .tosa import TosaArithmetic

__all__ = ["Inexpressible", "StablehloArithmetic", "TensorArithmetic", "TosaArithmetic"]
