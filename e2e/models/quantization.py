# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized forms of a float model that ONNX Runtime's static quantization makes."""

import dataclasses
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry


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


# The quantizer's own choice leaves these in float, though it can put any operator between quantized tensors.
_UNREGISTERED = (
    *("Abs", "Div", "Elu", "Erf", "Exp", "Expand", "Gelu", "HardSigmoid", "HardSwish", "Max", "Min", "Neg", "PRelu"),
    *("ReduceMean", "Sqrt", "Sub", "Tanh"),
)
_OPERATORS = {
    QuantFormat.QOperator: [*QLinearOpsRegistry],
    QuantFormat.QDQ: sorted({*QLinearOpsRegistry, *QDQRegistry, *_UNREGISTERED}),
}


class SampleReader(CalibrationDataReader):
    """Calibration data that are a list of feeds."""

    def __init__(self, feeds: Sequence[dict[str, np.ndarray]]):
        self._feeds: Iterator[dict[str, np.ndarray]] = iter(feeds)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._feeds, None)


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
                SampleReader(feeds),
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
    _drop_unused_initializers(quantized.graph)
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


def strip_float_boundary(model: onnx.ModelProto) -> None:
    """Makes a model take and give integers, by removing the quantization of its inputs and outputs.

    Raises:
      ValueError: an input or output is used otherwise; the model does compute on floats there.
    """
    graph = model.graph
    for value in graph.input:
        users = [node for node in graph.node if value.name in node.input]
        if [node.op_type for node in users] != ["QuantizeLinear"]:
            raise ValueError(f"input {value.name} is not quantized: {[node.op_type for node in users]}")
        _set_element_type(value, _zero_point_type(graph, users[0].input[2]))
        _replace_input(graph, users[0].output[0], value.name)
        graph.node.remove(users[0])
    for value in graph.output:
        producer = next(node for node in graph.node if value.name in node.output)
        if producer.op_type != "DequantizeLinear":
            raise ValueError(f"output {value.name} is not quantized: it comes from {producer.op_type} {producer.name}")
        quantized = producer.input[0]
        graph.node.remove(producer)
        _replace_input(graph, quantized, value.name)
        for node in graph.node:
            node.output[:] = [value.name if name == quantized else name for name in node.output]
        _set_element_type(value, _zero_point_type(graph, producer.input[2]))
    del graph.value_info[:]


def _drop_unused_initializers(graph: onnx.GraphProto) -> None:
    used = {name for node in graph.node for name in node.input}
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)


def _replace_input(graph: onnx.GraphProto, old: str, new: str) -> None:
    for node in graph.node:
        node.input[:] = [new if name == old else name for name in node.input]


def _zero_point_type(graph: onnx.GraphProto, name: str) -> int:
    return next(tensor.data_type for tensor in graph.initializer if tensor.name == name)


def _set_element_type(value: onnx.ValueInfoProto, data_type: int) -> None:
    if data_type not in (TensorProto.INT8, TensorProto.UINT8):
        raise ValueError(f"{value.name}: {helper.tensor_dtype_to_string(data_type)} is no 8-bit storage")
    value.type.tensor_type.elem_type = data_type
