# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upgrade of a model to an operator set whose operators the compiler knows."""

import onnx
from onnx import defs, helper, shape_inference, version_converter

from torq_mlir.errors import ModelError

from .checks import one_line, onnx_opset

# The conversion to torch knows each operator in the form it has in this version and later ones.
TARGET_OPSET = 17
# Since this version Softmax, Squeeze and the quantization operators mean what they mean in TARGET_OPSET.
OLDEST_OPSET = 13
_RESIZE_WITH_COORDINATES = 11
_BROADCASTS_SLOPES = 7


def upgrade_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in opset TARGET_OPSET, or as it is when its opset is later.

    Raises:
      ModelError: the opset is later than the installed onnx package, or too early and there is no upgrade for one of
        the operators.
    """
    opset = onnx_opset(model)
    newest = defs.onnx_opset_version()
    if opset > newest:
        raise ModelError(f"ONNX opset {opset} is not supported: the installed onnx package knows opsets up to {newest}")
    model.ir_version = max(model.ir_version, 8)  # before 4, each constant had to be an input
    if opset >= TARGET_OPSET:
        return model
    try:
        upgraded = version_converter.convert_version(model, TARGET_OPSET)
    except (RuntimeError, version_converter.ConvertError) as error:
        if opset >= OLDEST_OPSET:
            return model
        reason = one_line(error).rsplit("failed: ", 1)[-1]
        raise ModelError(f"ONNX opset {opset} cannot be upgraded to opset {TARGET_OPSET}: {reason}") from error
    if opset < _RESIZE_WITH_COORDINATES:
        _keep_coordinates(upgraded.graph)
    if opset < _BROADCASTS_SLOPES:
        _keep_channels(upgraded)
    return upgraded


def _keep_coordinates(graph: onnx.GraphProto) -> None:
    """Position `i / scale`, rounded down: later versions have attributes for it that the upgrade forgets."""
    for node in graph.node:
        if node.op_type == "Resize":
            coordinates = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            node.attribute.extend(helper.make_attribute(name, value) for name, value in coordinates.items())


def _keep_channels(model: onnx.ModelProto) -> None:
    """A vector of slopes has one for each channel: later versions would take the last dimension for the channels."""
    inferred = shape_inference.infer_shapes(model).graph
    types = {value.name: value.type for value in (*inferred.input, *inferred.value_info)}
    slopes = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        slope = slopes.get(node.input[1]) if node.op_type == "PRelu" else None
        if slope is not None and len(slope.dims) == 1 and node.input[0] in types:
            slope.dims.extend([1] * (len(types[node.input[0]].tensor_type.shape.dim) - 2))
