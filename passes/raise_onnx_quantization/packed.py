# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MatMulNBits of ONNX Runtime: weights of 4 or 8 bits in blocks along the dimension that is summed over.

Row n of B holds column n of the weights: blocks of `block_size` values, two of 4 bits in a byte, the first in the low
half. Zero points are packed in the same way, or are real numbers.
"""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types

from .nodes import Node, TorchTensor, create_constant, create_node, reshape
from .parameters import Parameters


def packed_matmul_type(node: Node) -> TorchTensor:
    """The type of the result: that of the input, with N columns."""
    source = node.tensor(node.operation.operands[0], "the input")
    return TorchTensor((*source.shape[:-1], node.integer("N", 0)), source.element_type)


def raise_matmul_nbits(node: Node) -> ir.Value:
    """The product with `dequantize_per_channel_group` of the weights, which stay integers of their width."""
    source, result = node.operation.operands[0], node.result.type
    depth, columns, block = (node.integer(name, 0) for name in ("K", "N", "block_size"))
    bits = node.integer("bits", 4)
    if bits not in (4, 8):
        raise node.failure(f"weights of {bits} bits are not supported")
    if node.input(4) is not None:
        raise node.failure("an order of groups (g_idx) is not supported")
    if depth <= 0 or columns <= 0 or block <= 0:
        raise node.failure(f"K = {depth}, N = {columns} and block_size = {block} are not all positive")
    weights = _weights(node, columns, -(-depth // block) * block, bits)
    parameters = _parameters(node, columns, -(-depth // block), bits, block)
    value = parameters.dequantize(weights)
    element = tensor_types.element_type(value.type)
    if tensor_types.shape(value.type)[1] > depth:  # the last block of a row is filled up
        starts, ends, axes = (create_constant(np.array([n]), _index_type()) for n in (0, depth, 1))
        value = create_node("Slice", [value, starts, ends, axes], tensor_types.torch_tensor((columns, depth), element))
    order = ir.ArrayAttr.get([ir.IntegerAttr.get(_index_type(), n) for n in (1, 0)])
    turned = tensor_types.torch_tensor((depth, columns), element)
    value = create_node("Transpose", [value], turned, {"torch.onnx.perm": order})
    product = create_node("MatMul", [source, value], result)
    return product if node.input(5) is None else create_node("Add", [product, node.input(5)], result)


def _index_type() -> ir.IntegerType:
    return ir.IntegerType.get_signed(64)


def _weights(node: Node, columns: int, depth: int, bits: int) -> ir.Value:
    packed = elements.constant_value(node.operation.operands[1])
    if packed is None:
        raise node.failure("the weights are not constant")
    if packed.size * 8 != columns * depth * bits:
        raise node.failure(f"weights of shape {list(packed.shape)} do not hold {columns} x {depth} values")
    return create_constant(_unpack(packed.reshape(columns, -1), bits), ir.IntegerType.get_unsigned(bits))


def _unpack(packed: np.ndarray, bits: int) -> np.ndarray:
    """Bytes `[rows, n]` to values of `bits` bits, `[rows, n * 8 / bits]`."""
    packed = np.ascontiguousarray(packed).view(np.uint8)
    if bits == 8:
        return packed
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(packed.shape[0], -1)


def _parameters(node: Node, columns: int, groups: int, bits: int, block: int) -> Parameters:
    scale = node.operation.operands[2]
    scales = node.tensor(scale, "the scales")
    if None in scales.shape or np.prod(scales.shape) != columns * groups:
        raise node.failure(f"scales of shape {list(scales.shape)} are not {columns} x {groups}")
    storage = ir.IntegerType.get_unsigned(bits)
    zero_point: np.ndarray | ir.Value = np.full((columns, groups), 1 << (bits - 1), np.uint8)
    if node.input(3) is not None:
        zero_point = _zero_points(node, columns, groups, bits)
    constant = elements.constant_value(scale)
    scale = reshape(scale, (columns, groups)) if constant is None else constant.reshape(columns, groups)
    return Parameters(scale, zero_point, scales.element_type, storage, 1, block)


def _zero_points(node: Node, columns: int, groups: int, bits: int) -> np.ndarray | ir.Value:
    value = node.input(3)
    tensor = node.tensor(value, "the zero points")
    if not isinstance(tensor.element_type, ir.IntegerType):
        if None in tensor.shape or np.prod(tensor.shape) != columns * groups:
            raise node.failure(f"zero points of shape {list(tensor.shape)} are not {columns} x {groups}")
        return reshape(value, (columns, groups))
    packed = elements.constant_value(value)
    if packed is None:
        raise node.failure("the zero points are not constant")
    if packed.size * 8 // bits < columns * groups or packed.size % columns:
        raise node.failure(f"zero points of shape {list(packed.shape)} do not hold {columns} x {groups} values")
    return np.ascontiguousarray(_unpack(packed.reshape(columns, -1), bits)[:, :groups])
