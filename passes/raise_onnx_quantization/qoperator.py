# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The QOperator format: quantized operators become dequantize, the float operator, quantize."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import tensor_types

from .dynamic import quantize_dynamically
from .forms import QOPERATORS, QOperator, QuantizedInput
from .nodes import Node, create_cast, create_node, reshape
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
    float_type = tensor_types.with_element(node.result.type, parameters[0].scale_type)
    value = create_node(form.float_op, inputs, float_type, node.attributes(form.dropped))
    if form.addend is not None and node.input(form.addend) is not None:
        value = create_node("Add", [value, node.input(form.addend)], float_type)
    if form.scale is None or node.input(form.scale) is None:
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
            operand = node.operation.operands[source]
            inputs.append(_dynamically_rounded(node, operand) if source == form.dynamic else operand)
            continue
        what = _NAMES[index] if index < len(_NAMES) else f"input {index}"
        parameters.append(_input_parameters(node, source, what))
        inputs.append(parameters[-1].dequantize(node.operation.operands[source.tensor]))
    return inputs, parameters


def _dynamically_rounded(node: Node, operand: ir.Value) -> ir.Value:
    """A float input, quantized with parameters for its range, and dequantized."""
    quantized, parameters = quantize_dynamically(node, operand)
    return parameters.dequantize(quantized)


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
    axis = None if weights.axis is None else len(tensor.shape) - 1
    scale, count = _bias_scale(activation, weights, node.real("alpha", 1.0))
    if axis is not None and (axis < 0 or tensor.shape[axis] != count):
        raise node.failure(f"a bias of shape {list(tensor.shape)} does not fit {count} channels")
    zero_point = np.zeros((count,) if axis is not None else (), np.int32)
    return Parameters(scale, zero_point, ir.F32Type.get(), ir.IntegerType(tensor.element_type), axis).dequantize(bias)


def _bias_scale(activation: Parameters, weights: Parameters, alpha: float) -> tuple[np.ndarray | ir.Value, int]:
    """The product of the scales in f32, and how many there are."""
    if isinstance(activation.scale, np.ndarray) and isinstance(weights.scale, np.ndarray):
        scale = activation.scale.astype(np.float32) * weights.scale.astype(np.float32) * np.float32(alpha)
        return np.asarray(scale, np.float32), scale.size
    f32 = ir.F32Type.get()
    first, second = (
        each.scale_value() if str(each.scale_type) == "f32" else create_cast(each.scale_value(), f32)
        for each in (activation, weights)
    )
    shape = () if weights.axis is None else tensor_types.shape(second.type)
    product = create_node("Mul", [reshape(first, ()), reshape(second, shape)], tensor_types.torch_tensor(shape, f32))
    if alpha != 1.0:
        factor = Parameters(np.float32(alpha), np.zeros((), np.int8), f32, ir.IntegerType.get_signed(8), None)
        product = create_node("Mul", [product, factor.scale_value()], product.type)
    return product, shape[0] if shape else 1
