# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that take and give integers."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from torq_mlir.errors import ModelError

# Key of the metadata that has the parameters of what is no longer in the graph.
QPARAMS_KEY = "torq.io_qparams"

_REAL = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_STORAGE = (TensorProto.INT8, TensorProto.UINT8)


def strip_float_boundary(model: onnx.ModelProto) -> None:
    """Make a model take and give integers, by removing the quantization of its float inputs and outputs, in place.

    Scale, zero point and dtype of each are recorded in the metadata of the model, as JSON, under "torq.io_qparams".

    Raises:
      ModelError: a float input or output is used otherwise: the model does compute on floats there.
    """
    graph = model.graph
    constants = {tensor.name for tensor in graph.initializer}
    qparams = io_qparams(model)
    for value in graph.input:
        if value.type.tensor_type.elem_type in _REAL and value.name not in constants:
            qparams[value.name] = _strip_input(graph, value)
    for value in graph.output:
        if value.type.tensor_type.elem_type in _REAL:
            qparams[value.name] = _strip_output(graph, value)
    del graph.value_info[:]
    drop_unused_initializers(graph)
    helper.set_model_props(model, _properties(model) | {QPARAMS_KEY: json.dumps(qparams)})


def io_qparams(model: onnx.ModelProto) -> dict[str, dict]:
    """What `strip_float_boundary` recorded: by name of the input or output, "scale", "zero_point" and "dtype"."""
    return json.loads(_properties(model).get(QPARAMS_KEY, "{}"))


def drop_unused_initializers(graph: onnx.GraphProto) -> None:
    """Remove the initializers that no node reads and no output is."""
    used = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)


def _properties(model: onnx.ModelProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in model.metadata_props}


def _strip_input(graph: onnx.GraphProto, value: onnx.ValueInfoProto) -> dict:
    users = [node for node in graph.node if value.name in node.input]
    others = [user for user in users if user.op_type != "QuantizeLinear"]
    if others or not users:
        reader = f"{others[0].name} ({others[0].op_type})" if others else "nothing"
        raise ModelError(f"input '{value.name}' cannot be an integer: it is read by {reader}, which is not quantized")
    found = [_qparams(graph, user) for user in users]
    if any(each != found[0] for each in found):
        raise ModelError(f"input '{value.name}' cannot be an integer: it is quantized in different ways")
    for user in users:
        graph.node.remove(user)
        _replace_input(graph, user.output[0], value.name)
    _set_dtype(value, found[0])
    return found[0]


def _strip_output(graph: onnx.GraphProto, value: onnx.ValueInfoProto) -> dict:
    producer = next((node for node in graph.node if value.name in node.output), None)
    if producer is None or producer.op_type != "DequantizeLinear":
        origin = "an input" if producer is None else f"{producer.name} ({producer.op_type})"
        raise ModelError(f"output '{value.name}' cannot be an integer: it comes from {origin}, which is not quantized")
    qparams, quantized = _qparams(graph, producer), producer.input[0]
    source = next((node for node in graph.node if quantized in node.output), None)
    if source is None or quantized in {output.name for output in graph.output}:
        raise ModelError(f"output '{value.name}' cannot be an integer: it is an input or another output, quantized")
    if any(value.name in node.input for node in graph.node):
        producer.output[0] = f"{value.name}_dequantized"
        _replace_input(graph, value.name, producer.output[0])
    else:
        graph.node.remove(producer)
    _replace_input(graph, quantized, value.name)
    source.output[:] = [value.name if name == quantized else name for name in source.output]
    _set_dtype(value, qparams)
    return qparams


def _qparams(graph: onnx.GraphProto, node: onnx.NodeProto) -> dict:
    constants = {tensor.name: tensor for tensor in graph.initializer if tensor.name in node.input[1:]}
    scale, zero_point = (constants.get(name) for name in (*node.input[1:3], "", "")[:2])
    if scale is None or zero_point is None or zero_point.data_type not in _STORAGE or list(zero_point.dims) not in _ONE:
        raise ModelError(f"{node.name} ({node.op_type}): not 8 bits with one constant scale and zero point")
    return {
        "scale": float(numpy_helper.to_array(scale).item()),
        "zero_point": int(numpy_helper.to_array(zero_point).item()),
        "dtype": helper.tensor_dtype_to_np_dtype(zero_point.data_type).name,
    }


# Shapes of one element.
_ONE = ([], [1])


def _set_dtype(value: onnx.ValueInfoProto, qparams: dict) -> None:
    value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(qparams["dtype"]))


def _replace_input(graph: onnx.GraphProto, old: str, new: str) -> None:
    for node in graph.node:
        if old in node.input:
            node.input[:] = [new if name == old else name for name in node.input]
