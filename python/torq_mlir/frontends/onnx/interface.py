# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of a model, with the quantization of those that are integers."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from torq_mlir.frontends.tensor_info import TensorInfo
from torq_mlir.passes.raise_onnx_quantization.forms import MOVEMENTS, QOPERATORS, QuantizedInput

from . import narrow_types

_Parameters = tuple[float, int]


def model_inputs(model: onnx.ModelProto) -> list[TensorInfo]:
    """The inputs of a model that `load` returned, in order.

    An integer input is quantized with the parameters of the nodes that read it, if they agree.
    """
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in dict.fromkeys(node.input):
            readers.setdefault(name, []).append(node)
    values = [value for value in graph.input if value.name not in constants]
    return [_describe(value, _read_parameters(value.name, readers, constants)) for value in values]


def model_outputs(model: onnx.ModelProto) -> list[TensorInfo]:
    """The outputs of a model that `load` returned, in order."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    producers = {output: node for node in model.graph.node for output in node.output}
    return [_describe(value, _written_parameters(value.name, producers, constants)) for value in model.graph.output]


def _describe(value: onnx.ValueInfoProto, parameters: _Parameters | None) -> TensorInfo:
    tensor = value.type.tensor_type
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(narrow_types.element_type(value)))
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim)
    if parameters is None or dtype.kind not in "iu":
        return TensorInfo(value.name, shape, dtype)
    return TensorInfo(value.name, shape, dtype, *parameters)


def _read_parameters(
    name: str, readers: Mapping[str, Sequence[onnx.NodeProto]], constants: Mapping[str, onnx.TensorProto]
) -> _Parameters | None:
    """Parameters that every node reading `name` agrees on; nodes that move elements around are looked through."""
    found: set[_Parameters | None] = set()
    for node in readers.get(name, ()):
        if node.op_type in MOVEMENTS and node.input[0] == name:
            found.add(_read_parameters(node.output[0], readers, constants))
            continue
        sources = [source for source in _quantized_inputs(node) if node.input[source.tensor] == name]
        found.update(_parameters(node, source.scale, source.zero_point, constants) for source in sources)
        if not sources:
            found.add(None)
    return found.pop() if len(found) == 1 else None


def _quantized_inputs(node: onnx.NodeProto) -> Iterable[QuantizedInput]:
    if node.op_type == "DequantizeLinear":
        return (QuantizedInput(0, 1, 2),)
    form = QOPERATORS.get(node.op_type)
    return form.quantized_inputs(len(node.input)) if form else ()


def _written_parameters(
    name: str, producers: Mapping[str, onnx.NodeProto], constants: Mapping[str, onnx.TensorProto]
) -> _Parameters | None:
    node = producers.get(name)
    if node is None:
        return None
    if node.op_type in MOVEMENTS and node.output[0] == name:
        return _written_parameters(node.input[0], producers, constants)
    if node.op_type == "QuantizeLinear":
        return _parameters(node, 1, 2, constants)
    form = QOPERATORS.get(node.op_type)
    if form is None or form.scale is None:
        return None
    return _parameters(node, form.scale, form.zero_point, constants)


def _parameters(
    node: onnx.NodeProto, scale: int, zero_point: int, constants: Mapping[str, onnx.TensorProto]
) -> _Parameters | None:
    scales = constants.get(_input(node, scale))
    if scales is None or np.prod(scales.dims, dtype=np.int64) != 1:
        return None
    value = float(numpy_helper.to_array(scales).item())
    if not _input(node, zero_point):
        return value, 0
    zero_points = constants.get(_input(node, zero_point))
    if zero_points is None or np.prod(zero_points.dims, dtype=np.int64) != 1:
        return None
    return value, int(numpy_helper.to_array(zero_points).item())


def _input(node: onnx.NodeProto, index: int) -> str:
    return node.input[index] if index < len(node.input) else ""
