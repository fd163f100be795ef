# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of quantized operators on numpy arrays.

Pure functions, exact by construction, that every executor, lowering and test shares. Nothing here imports MLIR.

* `rescale`: real scales as a multiplier and a right shift, and the integer rescale.
* `zero_points`: zero points folded into weights and bias, and the proof that int32 accumulators suffice.
* `bias`: biases at the scale of the accumulator.
* `addition`: weights of a quantized addition.
* `lookup`: tables of 256 entries.
* `quantize`: references of quantize and dequantize, per tensor and per channel.
* `groups`: the same per token and per channel group.
* `choose_qparams`: scales and zero points chosen at run time.
* `fake_quantize`: quantization without leaving floating point.
* `conversion`: conversions between number types and their promotion, as PyTorch does them.
"""
