# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static shapes for the inputs, then types and shapes for every value."""

import re
from collections.abc import Mapping, Sequence

import onnx
from onnx import shape_inference

from torq_mlir.errors import ModelError

from . import contrib_schemas
from .checks import check_element_type, one_line, onnx_opset, producers
from .naming import describe


def fix_input_shapes(graph: onnx.GraphProto, input_shapes: Mapping[str, Sequence[int]], batch: int | None) -> None:
    """Replace the dynamic dimensions of the inputs of `graph`; those that have the same name get the same size.

    Raises:
      ModelError: a dimension stays dynamic, or an argument does not fit the model.
    """
    if batch is not None and batch < 1:
        raise ModelError(f"the batch has to be positive, not {batch}")
    initialized = {tensor.name for tensor in graph.initializer}
    inputs = {value.name: value for value in graph.input if value.name not in initialized}
    for name in input_shapes.keys() - inputs.keys():
        raise ModelError(f"the model has no input '{name}' to give a shape to; its inputs are {sorted(inputs)}")
    sizes: dict[str, int] = {}
    for name, value in inputs.items():
        if not value.type.HasField("tensor_type"):
            raise ModelError(f"input '{name}': only tensors are supported, not sequences, maps or optional values")
        check_element_type(value.type.tensor_type.elem_type, f"input '{name}'")
        if name in input_shapes:
            _set_shape(value, tuple(input_shapes[name]), sizes)
        elif (
            batch is not None
            and value.type.tensor_type.shape.dim
            and not _is_static(value.type.tensor_type.shape.dim[0])
        ):
            _set_size(value, 0, batch, sizes)
    for value in inputs.values():
        _check_static(value, sizes)


def _set_shape(value: onnx.ValueInfoProto, shape: tuple[int, ...], sizes: dict[str, int]) -> None:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        for _ in shape:
            tensor.shape.dim.add()
    if len(tensor.shape.dim) != len(shape):
        raise ModelError(
            f"input '{value.name}': has {len(tensor.shape.dim)} dimensions; the shape {shape} does not fit"
        )
    if any(size < 0 for size in shape):
        raise ModelError(f"input '{value.name}': the shape {shape} has a negative size")
    for axis, size in enumerate(shape):
        _set_size(value, axis, size, sizes)


def _set_size(value: onnx.ValueInfoProto, axis: int, size: int, sizes: dict[str, int]) -> None:
    dimension = value.type.tensor_type.shape.dim[axis]
    name = dimension.dim_param
    known = dimension.dim_value if _is_static(dimension) else sizes.get(name, size) if name else size
    if known != size:
        raise ModelError(f"input '{value.name}': dimension {axis} is {known}, not {size}")
    if name:
        sizes[name] = size
    dimension.dim_value = size


def _check_static(value: onnx.ValueInfoProto, sizes: Mapping[str, int]) -> None:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        raise ModelError(f"input '{value.name}': has no shape; give it one with input_shapes={{'{value.name}': (...)}}")
    for axis, dimension in enumerate(tensor.shape.dim):
        if dimension.dim_param in sizes:
            dimension.dim_value = sizes[dimension.dim_param]
        if _is_static(dimension):
            continue
        name = f" ('{dimension.dim_param}')" if dimension.dim_param else ""
        way_out = "batch=1 or " if axis == 0 else ""
        shape = ", ".join(str(d.dim_value) if _is_static(d) else "?" for d in tensor.shape.dim)
        raise ModelError(
            f"input '{value.name}': dimension {axis}{name} is dynamic; fix it with {way_out}"
            f"input_shapes={{'{value.name}': ({shape})}}"
        )


def _is_static(dimension) -> bool:
    return dimension.HasField("dim_value") and dimension.dim_value >= 0


def infer_types(model: onnx.ModelProto) -> None:
    """Give each value of the graph its type and shape, computed anew from the inputs.

    Raises:
      ModelError: operands do not fit an operator, or a value has a type that is not supported.
    """
    graph = model.graph
    declared = {value.name: value.type for value in graph.value_info}
    declared_outputs = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in graph.output]
    del graph.value_info[:]
    for value in graph.output:  # their shapes may still say that the batch is dynamic
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    try:
        with contrib_schemas.registered(onnx_opset(model)):
            inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (shape_inference.InferenceError, RuntimeError) as error:
        raise ModelError(_inference_message(graph, one_line(error))) from error
    del graph.value_info[:]
    graph.value_info.extend(inferred.graph.value_info)
    del graph.output[:]
    graph.output.extend(inferred.graph.output)
    _restore_declared(graph, declared, declared_outputs)
    _check_typed(graph)


def _inference_message(graph: onnx.GraphProto, message: str) -> str:
    """ONNX lists all failing nodes; the first is the cause."""
    names = {node.name: node for node in graph.node}
    match = re.search(
        r"\(op_type:\w+, node name: (?P<name>.*?)\): (?:\[\w+\] )*(?P<reason>.*?)(?= \(op_type:|$)", message
    )
    if match and match["name"] in names:
        return f"{describe(names[match['name']])}: {match['reason']}"
    return f"types and shapes do not fit: {message}"


def _restore_declared(graph: onnx.GraphProto, declared: Mapping, declared_outputs: Sequence) -> None:
    """Where inference gives no shape, what the model declares stands."""
    for value, before in zip(graph.output, declared_outputs, strict=True):
        if not value.type.tensor_type.HasField("shape"):
            value.CopyFrom(before)
    known = {value.name for value in [*graph.value_info, *graph.output]}
    for name, _ in producers(graph):
        if name not in known and name in declared:
            graph.value_info.add(name=name).type.CopyFrom(declared[name])


def _check_typed(graph: onnx.GraphProto) -> None:
    types = {value.name: value.type for value in [*graph.value_info, *graph.output]}
    for name, node in producers(graph):
        if name not in types or not types[name].HasField("tensor_type"):
            raise ModelError(f"{describe(node)}: the type of '{name}' cannot be inferred, or is not a tensor")
        check_element_type(types[name].tensor_type.elem_type, describe(node))
        if not types[name].tensor_type.HasField("shape"):
            raise ModelError(f"{describe(node)}: the number of dimensions of '{name}' cannot be inferred")
