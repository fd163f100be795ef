# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static quantization with ONNX Runtime, as its users do it."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class _Images(CalibrationDataReader):
    def __init__(self, images: np.ndarray) -> None:
        self._images = iter(images)

    def get_next(self) -> dict[str, np.ndarray] | None:
        image = next(self._images, None)
        return None if image is None else {"image": image[np.newaxis]}


def quantize(model: onnx.ModelProto, images: np.ndarray) -> onnx.ModelProto:
    """The model in the QDQ format: i8 activations, and i8 weights with a scale for each output channel.

    Args:
      images: calibration data, f32 of shape (N, 1, 8, 8).
    """
    with tempfile.TemporaryDirectory() as folder:
        prepared, quantized = Path(folder) / "prepared.onnx", Path(folder) / "quantized.onnx"
        onnx.save(model, prepared)
        quant_pre_process(prepared, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared,
            quantized,
            _Images(images),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
        )
        return onnx.load(quantized)


def output_scale(model: onnx.ModelProto) -> float:
    """The step of the quantized values that the last DequantizeLinear turns into the output of the model."""
    (dequantize,) = (node for node in model.graph.node if model.graph.output[0].name in node.output)
    (scale,) = (tensor for tensor in model.graph.initializer if tensor.name == dequantize.input[1])
    return float(numpy_helper.to_array(scale))
