# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DynamicQuantizeLinear: quantization with parameters that are computed from the values."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import tensor_types

from .nodes import Node, create_constant, create_node
from .parameters import Parameters, storage_range


def raise_dynamic_quantize_linear(node: Node) -> list[ir.Value]:
    """The quantized tensor, its scale and its zero point, by the function that ONNX defines the operator with."""
    quantized, parameters = quantize_dynamically(node, node.operation.operands[0])
    return [quantized, parameters.scale, parameters.zero_point]


def quantize_dynamically(node: Node, value: ir.Value) -> tuple[ir.Value, Parameters]:
    """The ui8 tensor, and its parameters for the range of `value` with zero, at the current insertion point.

    The zero point `saturate(round(-least / scale))` is itself a quantization of `-least`. As in ONNX Runtime, values
    that are all zero have the scale 1, with which ONNX would divide zero by zero.
    """
    source = node.tensor(value, "the input")
    element = source.element_type
    if not isinstance(element, ir.F32Type):
        raise node.failure(f"the input has element type {element}; f32 is needed")
    storage = ir.IntegerType.get_unsigned(8)
    scalar, flag = tensor_types.torch_tensor((), element), tensor_types.torch_tensor((), ir.IntegerType.get_signless(1))
    zero, levels, one = (
        create_constant(np.float32(number), element) for number in (0.0, storage_range(storage)[1], 1.0)
    )
    keepdims = {"torch.onnx.keepdims": ir.IntegerAttr.get(ir.IntegerType.get_signed(64), 0)}
    least = create_node("Min", [create_node("ReduceMin", [value], scalar, keepdims), zero], scalar)
    greatest = create_node("Max", [create_node("ReduceMax", [value], scalar, keepdims), zero], scalar)
    width = create_node("Sub", [greatest, least], scalar)
    scale = create_node("Div", [width, levels], scalar)
    scale = create_node("Where", [create_node("Equal", [scale, zero], flag), one, scale], scalar)
    negated = create_node("Neg", [least], scalar)
    zero_point = Parameters(scale, np.zeros((), np.uint8), element, storage, None).quantize(negated)
    parameters = Parameters(scale, zero_point, element, storage, None)
    return parameters.quantize(value), parameters
