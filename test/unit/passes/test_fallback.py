# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization and dequantization in bf16, against the same arithmetic with ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from torq_mlir import pipelines
from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects import register

_SOURCE = """
func.func @main(%x: tensor<4x64xf32>) -> (tensor<4x64xi8>, tensor<4x64xf32>) {{
  %s = arith.constant dense<{scale}> : tensor<f32>
  %z = arith.constant dense<{zero_point}> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z)
      {{quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide}}
      : (tensor<4x64xf32>, tensor<f32>, tensor<i8>) -> tensor<4x64xi8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z)
      {{quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}}
      : (tensor<4x64xi8>, tensor<f32>, tensor<i8>) -> tensor<4x64xf32>
  return %q, %f : tensor<4x64xi8>, tensor<4x64xf32>
}}
"""


def _bfloat16(values) -> np.ndarray:
    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


@pytest.mark.parametrize(("scale", "zero_point"), [(0.5, -5), (0.0371, 12), (0.011, -128)])
def test_rounds_as_bfloat16(scale, zero_point):
    x = (np.random.default_rng(3).standard_normal((4, 64)) * 100 * scale).astype(np.float32)
    with ir.Context() as context:
        register(context)
        module = ir.Module.parse(_SOURCE.format(scale=scale, zero_point=zero_point))
        pipelines.run(module, "builtin.module(convert-linalg-to-torq-hl{float=bf16})")
        assert "quantized_decomposed" not in str(module)
        interpreted, executed = interpreter.run(module, [x]), jit.compile(module)([x])
    scale32 = np.float32(scale)
    product = _bfloat16(_bfloat16(x) * _bfloat16(1.0 / float(scale32)) + np.float32(zero_point))
    quantized = np.clip(np.rint(product), -128, 127).astype(np.int8)
    floats = _bfloat16(_bfloat16(quantized.astype(np.float32) - zero_point) * _bfloat16(scale32))
    for results in (interpreted, executed):
        np.testing.assert_array_equal(results[0], quantized)
        np.testing.assert_array_equal(results[1], floats)
