# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static quantization with ONNX Runtime, as its users do it."""

import numpy as np
import onnx
from onnx import numpy_helper

from torq_mlir.quantization import quantize_static


def quantize(model: onnx.ModelProto, images: np.ndarray) -> onnx.ModelProto:
    """The model in the QDQ format: i8 activations, and i8 weights with a scale for each output channel.

    Args:
      images: calibration data, f32 of shape (N, 1, 8, 8).
    """
    feeds = ({"image": image[np.newaxis]} for image in images)
    return quantize_static(model, calibration_data_reader=feeds, per_channel=True)


def output_scale(model: onnx.ModelProto) -> float:
    """The step of the quantized values that the last DequantizeLinear turns into the output of the model."""
    (dequantize,) = (node for node in model.graph.node if model.graph.output[0].name in node.output)
    (scale,) = (tensor for tensor in model.graph.initializer if tensor.name == dequantize.input[1])
    return float(numpy_helper.to_array(scale))
