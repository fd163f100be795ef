# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of dequantized operands as contractions of integers, in TOSA and in StableHLO.

Two steps, each a pattern. `accumulate` replaces a float contraction by one of integers whose i32 result is dequantized:
`quantized_decomposed.dequantize_per_*` on si32 where the parameters are constant, float arithmetic with them otherwise.
`requantize` replaces what leads from such a dequantization to a quantization (bias, clamps, data movement) by integer
arithmetic with a rescale. `tosa` and `stablehlo` tell both about the operations of their dialect.
"""
