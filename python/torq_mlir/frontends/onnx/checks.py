# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of a model before it is imported. Each error is one line that names the node."""

import math
import re
from collections.abc import Iterator

import onnx
from onnx import defs, inliner

from torq_mlir.errors import ModelError

from . import contrib_schemas
from .naming import describe

_ELEMENT_TYPES = frozenset(
    {"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32"}
    | {"UINT64", "INT4", "UINT4", "INT2", "UINT2", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"}
    | {"FLOAT8E8M0", "FLOAT4E2M1"}
)
_BITS = {
    **dict.fromkeys((onnx.TensorProto.INT4, onnx.TensorProto.UINT4, onnx.TensorProto.FLOAT4E2M1), 4),
    **dict.fromkeys((onnx.TensorProto.INT2, onnx.TensorProto.UINT2), 2),
}


def check_structure(model: onnx.ModelProto) -> None:
    """What the other steps take for granted: opset imports, and constants whose data has the size of their shape."""
    for entry in [*model.opset_import, *model.graph.node, *(node for body in model.functions for node in body.node)]:
        if entry.domain == "ai.onnx":
            entry.domain = ""
    default = [entry.version for entry in model.opset_import if not entry.domain]
    if len(default) != 1:
        raise ModelError(f"the model imports {len(default)} versions of the ONNX opset; exactly one is needed")
    if not model.graph.output:
        raise ModelError("the graph of the model has no output")
    readers = {name: node for node in reversed(model.graph.node) for name in node.input}
    for tensor in model.graph.initializer:
        _check_initializer(tensor, readers.get(tensor.name))
    for sparse in model.graph.sparse_initializer:
        raise ModelError(f"initializer '{sparse.values.name}': sparse tensors are not supported")


def _check_initializer(tensor: onnx.TensorProto, reader: onnx.NodeProto | None) -> None:
    subject = f"initializer '{tensor.name}'"
    check_element_type(tensor.data_type, f"{describe(reader)}: {subject}" if reader is not None else subject)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise ModelError(f"{subject}: its data is in another file; give the path of the model")
    if tensor.HasField("raw_data"):
        bits = 8 * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        size = -(-math.prod(tensor.dims) * _BITS.get(tensor.data_type, bits) // 8)
        if len(tensor.raw_data) != size:
            raise ModelError(f"{subject}: {len(tensor.raw_data)} bytes of data where its shape needs {size}")


def check_element_type(data_type: int, subject: str) -> None:
    """Raise a ModelError about `subject` unless `data_type` is a type of numbers to compute with."""
    known = onnx.TensorProto.DataType.values()
    name = onnx.TensorProto.DataType.Name(data_type) if data_type in known else str(data_type)
    if name not in _ELEMENT_TYPES:
        raise ModelError(f"{subject}: element type {name.lower()} is not supported")


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace calls of model-local functions by their bodies."""
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model, convert_version=True)
    except (RuntimeError, onnx.checker.ValidationError) as error:
        raise ModelError(f"the functions of the model cannot be inlined: {one_line(error)}") from error


def check_operators(model: onnx.ModelProto) -> None:
    """Every operator is one that ONNX or ONNX Runtime defines, and has no subgraph."""
    opset = onnx_opset(model)
    for node in model.graph.node:
        if any(
            attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for attribute in node.attribute
        ):
            raise ModelError(f"{describe(node)}: control flow (an operator with a subgraph) is not supported")
        if node.domain == "":
            if not defs.has(node.op_type, opset, ""):
                raise ModelError(f"{describe(node)}: not an operator of ONNX opset {opset}")
        elif node.domain != contrib_schemas.DOMAIN or node.op_type not in contrib_schemas.SUPPORTED:
            raise ModelError(f"{describe(node)}: the operator is not supported")


def check_validity(model: onnx.ModelProto) -> None:
    """The rules of the ONNX specification: order of nodes, attributes and numbers of inputs and outputs."""
    tensors = [value.type.tensor_type for value in model.graph.output if value.type.HasField("tensor_type")]
    without_shape = [tensor for tensor in tensors if not tensor.HasField("shape")]
    for tensor in without_shape:  # which the checker, unlike ONNX Runtime, insists on
        tensor.shape.SetInParent()
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise ModelError(_checker_message(model.graph, one_line(error))) from error
    for tensor in without_shape:
        tensor.ClearField("shape")


def _checker_message(graph: onnx.GraphProto, message: str) -> str:
    """ONNX puts the node at the end, in one of two ways; our errors start with it."""
    names = {node.name: node for node in graph.node}
    match = re.match(r"(?P<reason>.*) ==> Context: Bad node spec for node\. Name: (?P<name>.*) OpType: \w+$", message)
    if match and match["name"] in names:
        return f"{describe(names[match['name']])}: {match['reason']}"
    match = re.search(r"input '(?P<input>[^']*)' of node: name: (?P<name>.*) OpType: \w+", message)
    if match and match["name"] in names:
        return f"{describe(names[match['name']])}: input '{match['input']}' is not the output of any previous node"
    return f"the model is not valid ONNX: {message}"


def onnx_opset(model: onnx.ModelProto) -> int:
    """Version of the ONNX operator set that the model imports."""
    return next(entry.version for entry in model.opset_import if not entry.domain)


def producers(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.NodeProto]]:
    """Each value that a node computes, with the node."""
    for node in graph.node:
        for output in node.output:
            if output:
                yield output, node


def one_line(error: Exception) -> str:
    """The message of an error of another library without its line breaks."""
    return " ".join(str(error).split())
