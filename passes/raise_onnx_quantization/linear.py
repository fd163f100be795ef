# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QuantizeLinear and DequantizeLinear."""

from torch_mlir import ir

from .nodes import Node
from .parameters import Parameters, read_parameters

_DEFAULT_AXIS = 1


def raise_quantize_linear(node: Node) -> ir.Value:
    """`quantize_per_tensor` or `quantize_per_channel`, stored in the type of the result."""
    result = node.tensor(node.result, "the result")
    source = node.tensor(node.operation.operands[0], "the input")
    if isinstance(source.element_type, ir.IntegerType):
        raise node.failure(f"the input has element type {source.element_type}; a float type is needed")
    return _parameters(node, result.element_type, source.shape).quantize(node.operation.operands[0])


def raise_dequantize_linear(node: Node) -> ir.Value:
    """`dequantize_per_tensor` or `dequantize_per_channel`, to the type of the scale."""
    source = node.tensor(node.operation.operands[0], "the input")
    return _parameters(node, source.element_type, source.shape).dequantize(node.operation.operands[0])


def _parameters(node: Node, storage: ir.Type, shape: tuple[int | None, ...]) -> Parameters:
    if node.integer("block_size", 0):
        raise node.failure("blocked quantization (block_size) is not supported")
    axis = node.integer("axis", _DEFAULT_AXIS)
    return read_parameters(node, node.input(1), node.input(2), storage, shape, axis)
