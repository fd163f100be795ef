# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QuantizeLinear and DequantizeLinear."""

from torch_mlir import ir

from torq_mlir.dialects import tensor_types

from .nodes import Node, create_cast
from .parameters import Parameters, read_parameters

_DEFAULT_AXIS = 1


def raise_quantize_linear(node: Node) -> ir.Value:
    """`quantize_per_tensor`, `_per_channel` or, of blocks, `_per_channel_group`, stored in the type of the result."""
    result = node.tensor(node.result, "the result")
    value = node.operation.operands[0]
    source = node.tensor(value, "the input")
    parameters = _parameters(node, result.element_type, source.shape)
    if isinstance(source.element_type, ir.IntegerType):
        if str(source.element_type) != "si32":
            raise node.failure(f"the input has element type {source.element_type}; a float type or si32 is needed")
        value = create_cast(value, parameters.scale_type)
    return parameters.quantize(value)


def raise_dequantize_linear(node: Node) -> ir.Value:
    """`dequantize_per_tensor`, `_per_channel` or `_per_channel_group`, to the type of the scale or `output_dtype`."""
    source = node.tensor(node.operation.operands[0], "the input")
    parameters = _parameters(node, source.element_type, source.shape)
    return parameters.dequantize(node.operation.operands[0], tensor_types.element_type(node.result.type))


def _parameters(node: Node, storage: ir.Type, shape: tuple[int | None, ...]) -> Parameters:
    axis, block_size = node.integer("axis", _DEFAULT_AXIS), node.integer("block_size", 0)
    return read_parameters(node, node.input(1), node.input(2), storage, shape, axis, block_size=block_size)
