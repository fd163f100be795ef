# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move elements, most of which need no code."""

import dataclasses

from torch_mlir import ir

from torq_mlir.backends.cpu.kernels.elementwise import Map
from torq_mlir.backends.cpu.kernels.operations import Copy
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.planning import Planner, attributes_of, shape_and_dtype
from torq_mlir.backends.cpu.steps import Tensor


def transpose(planner: Planner, operation: ir.Operation) -> bool:
    """The same memory."""
    source = planner.tensor(operation.operands[1])
    layout = source.layout.transposed(list(attributes_of(operation).perm))
    planner.define(operation.results[0], Tensor(source.buffer, layout, source.fill))
    return True


def reshape(planner: Planner, operation: ir.Operation) -> bool:
    """The same memory, or a copy in the order of the elements."""
    source = planner.tensor(operation.operands[0])
    shape, _ = shape_and_dtype(operation.results[0])
    layout = source.layout.reshaped(shape)
    if layout is None:
        plain = dataclasses.replace(Layout.plain(source.layout.shape, source.layout.dtype), biased=source.layout.biased)
        source = planner.in_layout(source, plain, operation)
        layout = source.layout.reshaped(shape)
    planner.define(operation.results[0], Tensor(source.buffer, layout))
    return True


def slice_(planner: Planner, operation: ir.Operation) -> bool:
    """A part of the same memory."""
    if len(operation.operands) > 1:
        return False
    source = planner.tensor(operation.operands[0])
    offsets, sizes, strides = (list(operation.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))
    shape, _ = shape_and_dtype(operation.results[0])
    if any(stride != 1 for stride in strides) or len(shape) != len(sizes):
        return False
    planner.define(operation.results[0], Tensor(source.buffer, part(source.layout, offsets, sizes)))
    return True


def concatenate(planner: Planner, operation: ir.Operation) -> bool:
    dimension = ir.IntegerAttr(operation.attributes["dim"]).value
    sources = [planner.tensor(value) for value in operation.operands]
    result = planner.produce(operation.results[0], sources[0].layout.order)
    shape, offset = result.layout.shape, 0
    for source in sources:
        offsets, sizes = [0] * len(shape), list(source.layout.shape)
        offsets[dimension] = offset
        offset += sizes[dimension]
        target = Tensor(result.buffer, part(result.layout, offsets, sizes))
        planner.copy(source, target, operation)
    planner.finish(result, operation)
    return True


def broadcast(planner: Planner, operation: ir.Operation) -> bool:
    source = planner.tensor(operation.operands[1])
    added = set(attributes_of(operation).dimensions)
    result = planner.produce(operation.results[0])
    rank = len(result.layout.shape)
    if rank == len(source.layout.shape):
        mapping = list(range(rank))
    else:
        kept = iter(range(len(source.layout.shape)))
        mapping = [None if d in added else next(kept) for d in range(rank)]
    kernel = Map.of(Copy(8 * result.layout.dtype.itemsize), [source.layout, result.layout], [mapping])
    planner.call(kernel, [source, result], operation)
    planner.finish(result, operation)
    return True


def part(layout: Layout, offsets: list[int], sizes: list[int]) -> Layout:
    """A box of a layout, in the same memory; what is outside becomes room."""
    low, high = list(layout.low), list(layout.high)
    for physical, dimension in enumerate(layout.order):
        low[physical] += offsets[dimension]
        high[physical] += layout.shape[dimension] - offsets[dimension] - sizes[dimension]
    return dataclasses.replace(layout, shape=tuple(sizes), low=tuple(low), high=tuple(high))
