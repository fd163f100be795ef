# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that are the same but for the values of their weights and parameters."""

import hashlib
import json

import numpy as np
import onnx
from onnx import numpy_helper

# Integers of more bits are shapes, axes and indices, which decide what is computed.
_INTEGER_STORAGE = (onnx.TensorProto.INT8, onnx.TensorProto.UINT8, onnx.TensorProto.INT32)
# The scale and the zero point of these are positions 1 and 2.
_WITH_QPARAMS = ("QuantizeLinear", "DequantizeLinear")


def structure(model: onnx.ModelProto) -> str:
    """Equal for layers of the same operators, attributes, shapes, dtypes and structure of quantization.

    Values of shapes, axes and single numbers (bounds of a Clip) count; those of weights, scales and zero points do not,
    but for whether a zero point is zero.
    """
    graph = model.graph
    numbers: dict[str, int] = {}
    description: list[object] = [sorted((each.domain, each.version) for each in model.opset_import)]
    for value in (*graph.input, *graph.output):
        tensor = value.type.tensor_type
        description.append(
            [_number(numbers, value.name), tensor.elem_type, [dim.dim_value for dim in tensor.shape.dim]]
        )
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        inputs = [
            _constant(constants[name], node, position) if name in constants else _number(numbers, name)
            for position, name in enumerate(node.input)
        ]
        outputs = [_number(numbers, name) for name in node.output]
        attributes = sorted(attribute.SerializeToString(deterministic=True).hex() for attribute in node.attribute)
        description.append([node.domain, node.op_type, attributes, inputs, outputs])
    return hashlib.sha256(json.dumps(description).encode()).hexdigest()


def _number(numbers: dict[str, int], name: str) -> int | None:
    """Tensors are counted in the order in which they appear; what they are called does not matter."""
    return numbers.setdefault(name, len(numbers)) if name else None


def _constant(tensor: onnx.TensorProto, node: onnx.NodeProto, position: int) -> list[object]:
    kind: list[object] = [tensor.data_type, list(tensor.dims)]
    if _is_qparam(node, position):
        is_zero_point = tensor.data_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
        return [*kind, bool(np.any(numpy_helper.to_array(tensor))) if is_zero_point else None]
    if _decides(tensor):
        kind.append(numpy_helper.to_array(tensor).tolist())
    return kind


def _is_qparam(node: onnx.NodeProto, position: int) -> bool:
    if node.op_type in _WITH_QPARAMS:
        return position in (1, 2)
    # Operators on integers have scales and zero points between their operands.
    return node.op_type.startswith("QLinear") or node.op_type == "QGemm"


def _decides(tensor: onnx.TensorProto) -> bool:
    if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16):
        return int(np.prod(tensor.dims, dtype=np.int64)) == 1
    return tensor.data_type not in _INTEGER_STORAGE
