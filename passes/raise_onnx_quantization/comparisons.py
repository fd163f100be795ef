# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that compare integers: in the QOperator format they read quantized values as they are.

Between a dequantize and a quantize with the parameters of their input they compute the same, in the form that a QDQ
model has, and no lowering has to know the sign of a signless integer.
"""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.numerics.quantize import dequantize

from .forms import MOVEMENTS
from .nodes import Node, TorchTensor, create_constant, create_node, is_onnx
from .parameters import Parameters

# Of the types that f32 represents exactly.
_WIDEST = 16


def raise_max_pool(node: Node) -> ir.Value | None:
    """Max pooling of quantized values: of the real values, quantized with the parameters of the input."""
    source = _quantized_input(node)
    if source is None:
        return None
    if len(node.operation.results) > 1:
        raise node.failure("indices of an integer max pooling are not supported")
    parameters = _known_parameters(node.operation.operands[0], source)
    value = parameters.dequantize(node.operation.operands[0])
    return _requantized(node, [value], parameters)


def raise_clip(node: Node) -> ir.Value | None:
    """Clipping of quantized values: of the real values, between the real values of the bounds."""
    source = _quantized_input(node)
    if source is None:
        return None
    parameters = _known_parameters(node.operation.operands[0], source)
    inputs = [parameters.dequantize(node.operation.operands[0])]
    for position in range(1, node.input_count):
        bound = node.input(position)
        inputs.append(node.operation.operands[position] if bound is None else _dequantized_bound(bound, parameters))
    return _requantized(node, inputs, parameters)


def _dequantized_bound(bound: ir.Value, parameters: Parameters) -> ir.Value:
    """A constant where it can be one: then the clip is recognized as a narrower range."""
    integer = elements.constant_value(bound)
    if integer is None:
        return parameters.dequantize(bound)
    real = dequantize(integer, parameters.scale, parameters.zero_point, dtype=np.float32)
    return create_constant(real, parameters.scale_type)


def _requantized(node: Node, inputs: list[ir.Value], parameters: Parameters) -> ir.Value:
    float_type = tensor_types.with_element(node.result.type, parameters.scale_type)
    return parameters.quantize(create_node(node.op_type, inputs, float_type, node.attributes()))


def raise_arg_max(node: Node) -> ir.Value | None:
    """The index of the greatest (or least) quantized value is that of the real value."""
    source = _quantized_input(node)
    if source is None:
        return None
    value = _known_parameters(node.operation.operands[0], source).dequantize(node.operation.operands[0])
    return create_node(node.op_type, [value], node.result.type, node.attributes())


def _quantized_input(node: Node) -> TorchTensor | None:
    source = node.tensor(node.operation.operands[0], "the input")
    integer = isinstance(source.element_type, ir.IntegerType) and 1 < source.element_type.width <= _WIDEST
    return source if integer else None


def _known_parameters(value: ir.Value, tensor: TorchTensor) -> Parameters:
    """What `value` was quantized with; scale 1 and zero point 0, which are as exact, where that is not known."""
    storage = ir.IntegerType(tensor.element_type)
    scale, zero_point = np.ones((), np.float32), np.zeros((), elements.numpy_dtype(storage))
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name == "quantized_decomposed.quantize_per_tensor":
            constants = [elements.constant_value(operand) for operand in list(operation.operands)[1:3]]
            if all(c is not None for c in constants) and constants[0].dtype == np.float32:
                scale, zero_point = constants
            break
        if not is_onnx(operation) or Node(operation).op_type not in MOVEMENTS:
            break
        value = operation.operands[0]
    return Parameters(scale, zero_point, ir.F32Type.get(), storage, None)
