# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The QOperator format: quantized operators become dequantize, the float operator, quantize."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import tensor_types

from .forms import QOPERATORS, QOperator, QuantizedInput
from .nodes import Node, create_node
from .parameters import Parameters, read_parameters

_NAMES = ("the first input", "the second input")


def raise_qoperator(node: Node) -> ir.Value:
    """Dequantized inputs, the float operator on them, and a quantized result if the node quantizes it."""
    form = QOPERATORS[node.op_type]
    _check_attributes(node)
    result = node.tensor(node.result, "the result")
    inputs, parameters = _dequantized_inputs(node, form)
    if form.bias is not None and node.input(form.bias) is not None:
        inputs.append(_dequantized_bias(node, form, parameters))
    float_type = next(iter(parameters)).scale_type
    value = create_node(
        form.float_op, inputs, tensor_types.with_element(node.result.type, float_type), node.attributes(form.dropped)
    )
    if node.input(form.scale) is None:
        return value
    output = read_parameters(
        node, node.input(form.scale), node.input(form.zero_point), result.element_type, result.shape, None, "the result"
    )
    return output.quantize(value)


def _check_attributes(node: Node) -> None:
    if node.integer("channels_last", 0):
        raise node.failure("the channels-last layout is not supported")
    if node.op_type == "QLinearSoftmax" and node.integer("opset", 13) < 13:
        rank = len(node.tensor(node.result, "the result").shape)
        if node.integer("axis", 1) % rank != rank - 1:
            raise node.failure("a softmax over several dimensions (opset 12 and earlier) is not supported")


def _dequantized_inputs(node: Node, form: QOperator) -> tuple[list[ir.Value], list[Parameters]]:
    inputs, parameters = [], []
    for index, source in enumerate(form.float_inputs(node.input_count)):
        if isinstance(source, int):
            inputs.append(node.operation.operands[source])
            continue
        what = _NAMES[len(parameters)] if len(parameters) < len(_NAMES) else f"input {index}"
        parameters.append(_input_parameters(node, source, what))
        inputs.append(parameters[-1].dequantize(node.operation.operands[source.tensor]))
    return inputs, parameters


def _input_parameters(node: Node, source: QuantizedInput, what: str) -> Parameters:
    tensor = node.tensor(node.operation.operands[source.tensor], what)
    axis = source.axis
    if axis is not None and node.op_type == "QGemm" and node.integer("transB", 0):
        axis = -2
    if axis is not None and axis < -len(tensor.shape):  # a vector has no rows
        axis = None
    scale, zero_point = node.input(source.scale), node.input(source.zero_point)
    return read_parameters(node, scale, zero_point, tensor.element_type, tensor.shape, axis, what)


def _dequantized_bias(node: Node, form: QOperator, parameters: list[Parameters]) -> ir.Value:
    """The i32 bias; its scale is the product of those of the inputs, its channels are those of the weights."""
    bias = node.operation.operands[form.bias]
    tensor = node.tensor(bias, "the bias")
    if str(tensor.element_type) != "si32":
        raise node.failure(f"the bias has element type {tensor.element_type}; si32 is needed")
    activation, weights = parameters
    if activation.axis is not None:
        raise node.failure("the first input has several scales, and there is a bias")
    scale = activation.scale.astype(np.float32) * weights.scale.astype(np.float32)
    scale = np.asarray(scale * np.float32(node.real("alpha", 1.0)), np.float32)
    axis = None if weights.axis is None else len(tensor.shape) - 1
    if axis is not None and (axis < 0 or tensor.shape[axis] != scale.size):
        raise node.failure(f"a bias of shape {list(tensor.shape)} does not fit {scale.size} channels")
    zero_point = np.zeros(scale.shape, np.int32)
    return Parameters(scale, zero_point, ir.F32Type.get(), ir.IntegerType(tensor.element_type), axis).dequantize(bias)
