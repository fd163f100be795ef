# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static int8 quantization of ONNX models, by `onnxruntime.quantization`.

from torq_mlir import quantization

model = quantization.quantize_static("model.onnx", quantization.read_npz("images.npz"), full_integer=True)
"""

from .calibration import calibrate, samples
from .full_integer import strip_float_boundary
from .preparation import Prepared, prepare
from .quantizers import QDQ_OPERATORS, QOPERATOR_OPERATORS, QuantizationOptions, quantize
from .readers import FeedReader, read_files, read_npz
from .static import quantize_static
from .synthetic import SyntheticDataWarning, synthetic_reader

__all__ = [
    "QDQ_OPERATORS",
    "QOPERATOR_OPERATORS",
    "FeedReader",
    "Prepared",
    "QuantizationOptions",
    "SyntheticDataWarning",
    "calibrate",
    "prepare",
    "quantize",
    "quantize_static",
    "read_files",
    "read_npz",
    "samples",
    "strip_float_boundary",
    "synthetic_reader",
]
