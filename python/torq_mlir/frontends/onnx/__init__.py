# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models to `torch.operator "onnx.*"`."""

from .importing import import_model
from .interface import TensorInfo, model_inputs, model_outputs
from .loading import load, parse

__all__ = ["TensorInfo", "import_model", "load", "model_inputs", "model_outputs", "parse"]
