# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move or repeat elements."""

from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    element_type,
    index_constant,
    projection,
    reshape,
    scalar_constant,
)

from .operands import Unsupported

_DCR = 0


def lower_transpose(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.transpose(op.input, outs=[op.init], permutation=list(attributes.perm)).operation.results[0]


def lower_broadcast(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.broadcast(op.input, outs=[op.init], dimensions=list(attributes.dimensions)).operation.results[0]


def lower_fill(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return linalg.fill(scalar_constant(element_type(op.init), attributes.value), outs=[op.init])


def lower_identity(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return build_elementwise([op.input], op.init, lambda value: value)


def lower_gather(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    values, shape = ir.RankedTensorType(op.values.type), ir.RankedTensorType(op.init.type)
    picked = ir.RankedTensorType(op.indices.type).rank
    if values.is_dynamic_dim(0):
        raise Unsupported("the number of rows is not static")

    def body(number: ir.Value) -> ir.Value:
        index = element_type(number)
        zero, rows = scalar_constant(index, 0), scalar_constant(index, values.shape[0])
        negative = arith.cmpi(arith.CmpIPredicate.slt, number, zero)
        wrapped = arith.select(negative, arith.addi(number, rows), number)
        last = scalar_constant(index, values.shape[0] - 1)
        row = arith.index_cast(ir.IndexType.get(), arith.minsi(arith.maxsi(wrapped, zero), last))
        return tensor.extract(op.values, [row, *(linalg.IndexOp(d).result for d in range(picked, shape.rank))])

    maps = [projection(shape.rank, range(picked)), projection(shape.rank, range(shape.rank))]
    return build_generic([op.indices], op.init, maps, [PARALLEL] * shape.rank, lambda number, _: body(number))


def lower_resize_nearest_neighbor(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    factor = index_constant(attributes.scale_factor)

    def body(_: ir.Value) -> ir.Value:
        batch, channel, row, column = (linalg.IndexOp(d).result for d in range(4))
        return tensor.extract(op.input, [batch, channel, arith.divui(row, factor), arith.divui(column, factor)])

    return build_generic([], op.init, [ir.AffineMap.get_identity(4)], [PARALLEL] * 4, body)


def lower_depth_to_space(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    source, block = ir.RankedTensorType(op.input.type), attributes.blockSize
    if not source.has_static_shape:
        raise Unsupported("the shape is not static")
    batch, channels, height, width = source.shape
    if attributes.mode_type == _DCR:
        split, permutation = [batch, block, block, channels // block**2, height, width], [0, 3, 4, 1, 5, 2]
    else:
        split, permutation = [batch, channels // block**2, block, block, height, width], [0, 1, 4, 2, 5, 3]
    blocks = reshape(op.input, split)
    init = tensor.empty([split[d] for d in permutation], source.element_type)
    moved = linalg.transpose(blocks, outs=[init], permutation=permutation).operation.results[0]
    return reshape(moved, ir.RankedTensorType(op.init.type).shape)
