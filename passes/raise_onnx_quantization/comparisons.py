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

from .forms import MOVEMENTS
from .nodes import Node, TorchTensor, create_node, is_onnx
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
    float_type = tensor_types.with_element(node.result.type, parameters.scale_type)
    return parameters.quantize(create_node(node.op_type, [value], float_type, node.attributes()))


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
    """The parameters `value` was quantized with; scale 1 and zero point 0, which are as exact, where that is unknown."""
    storage = ir.IntegerType(tensor.element_type)
    scale, zero_point, scale_type = np.ones((), np.float32), np.zeros((), elements.numpy_dtype(storage)), ir.F32Type.get()
    while not isinstance(value.owner, ir.Block):
        operation = value.owner.operation
        if operation.name == "quantized_decomposed.quantize_per_tensor":
            constants = [elements.constant_value(operand) for operand in list(operation.operands)[1:3]]
            scale, zero_point = constants if all(c is not None for c in constants) else (scale, zero_point)
            break
        if not is_onnx(operation) or Node(operation).op_type not in MOVEMENTS:
            break
        value = operation.operands[0]
    return Parameters(scale, zero_point, scale_type, storage, None)
