# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized forms of a float model that ONNX Runtime's static quantization makes."""

import dataclasses
import logging
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

from torq_mlir.quantization import QDQ_OPERATORS, QOPERATOR_OPERATORS, FeedReader, strip_float_boundary
from torq_mlir.quantization.full_integer import drop_unused_initializers


@dataclasses.dataclass(frozen=True)
class Variant:
    """Arguments of `quantize_static`, and what is done to its result.

    `full_integer`: the inputs and outputs of the model are integers. `fused_activations`: Relu and Clip follow their
    layer directly, without a quantization in between, as other exporters than ONNX Runtime's leave them.
    """

    name: str
    quant_format: QuantFormat = QuantFormat.QDQ
    per_channel: bool = False
    activation_type: QuantType = QuantType.QInt8
    weight_type: QuantType = QuantType.QInt8
    full_integer: bool = False
    symmetric_activations: bool = False
    quantize_bias: bool = True
    fused_activations: bool = False


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("qdq-per-tensor"),
        Variant("qdq-per-channel", per_channel=True),
        Variant("qdq-u8", per_channel=True, activation_type=QuantType.QUInt8),
        Variant("qdq-u8-weights", activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8),
        Variant("qdq-symmetric", per_channel=True, symmetric_activations=True),
        Variant("qdq-float-bias", per_channel=True, quantize_bias=False),
        Variant("qdq-fused-activations", per_channel=True, symmetric_activations=True, fused_activations=True),
        Variant("qoperator", QuantFormat.QOperator, per_channel=True),
        Variant("qoperator-u8", QuantFormat.QOperator, per_channel=True, activation_type=QuantType.QUInt8),
        Variant("full-integer", per_channel=True, full_integer=True),
        Variant("full-integer-u8", per_channel=True, activation_type=QuantType.QUInt8, full_integer=True),
    )
}


_OPERATORS = {QuantFormat.QOperator: list(QOPERATOR_OPERATORS), QuantFormat.QDQ: list(QDQ_OPERATORS)}


def float_inputs(model: onnx.ModelProto, seed: int, count: int) -> list[dict[str, np.ndarray]]:
    """`count` seeded standard normal feeds of the model's float inputs."""
    rng = np.random.default_rng(seed)
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return [
        {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()} for _ in range(count)
    ]


def quantize(model: onnx.ModelProto, variant: Variant, feeds: Sequence[dict[str, np.ndarray]]) -> onnx.ModelProto:
    """`model` quantized as `variant` says, calibrated on `feeds`; every node of the result has a name of its own."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # the quantizer advises a pre-processing that these models went through when built
    try:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "quantized.onnx"
            quantize_static(
                model,
                path,
                FeedReader(feeds),
                quant_format=variant.quant_format,
                per_channel=variant.per_channel,
                activation_type=variant.activation_type,
                weight_type=variant.weight_type,
                op_types_to_quantize=_OPERATORS[variant.quant_format],
                extra_options={
                    "ActivationSymmetric": variant.symmetric_activations,
                    "QuantizeBias": variant.quantize_bias,
                },
            )
            quantized = onnx.load(path)
    finally:
        root.setLevel(level)
    if variant.fused_activations:
        fuse_activations(quantized)
    if variant.full_integer:
        strip_float_boundary(quantized)
    drop_unused_initializers(quantized.graph)
    return quantized


def fuse_activations(model: onnx.ModelProto) -> None:
    """Removes the quantization between a layer and its Relu or Clip, where nothing else uses it."""
    graph = model.graph
    producers = {name: node for node in graph.node for name in node.output}
    uses = Counter(name for node in graph.node for name in node.input)
    for activation in [node for node in graph.node if node.op_type in ("Relu", "Clip")]:
        dequantize = producers.get(activation.input[0])
        quantize = producers.get(dequantize.input[0]) if dequantize else None
        if quantize is None or uses[dequantize.output[0]] != 1 or uses[quantize.output[0]] != 1:
            continue
        activation.input[0] = quantize.input[0]
        graph.node.remove(quantize)
        graph.node.remove(dequantize)
