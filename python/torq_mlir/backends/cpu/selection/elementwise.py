# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of single elements."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.kernels import operations
from torq_mlir.backends.cpu.kernels.elementwise import Map, Operation
from torq_mlir.backends.cpu.kernels.lookup import Lookup
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.planning import BIAS, Planner, attributes_of, shape_and_dtype
from torq_mlir.backends.cpu.requantize import Rescale
from torq_mlir.backends.cpu.steps import Tensor
from torq_mlir.dialects import elements

from .weighted import requantization

_INT32 = 1 << 31


def add(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    _, weights, scale_bias, *inputs = operation.operands
    if attributes.rhs_is_scalar or attributes.input_zp or attributes.segment_output:
        return False
    pairs, weights = elements.constant_value(scale_bias), elements.constant_value(weights)
    if not _is_narrow(operation, inputs) or pairs is None or weights is None or pairs.size != 2:
        return False
    bound = _bound([int(abs(int(w))) * _magnitude(value) for w, value in zip(weights, inputs, strict=True)], pairs)
    if bound >= _INT32 or not 0 <= attributes.shift_factor < 64:
        return False
    sources, result = _operands(planner, operation, inputs)
    offset = sum(BIAS * int(w) for w, tensor in zip(weights, sources, strict=True) if tensor.layout.biased)
    scalars = requantization(attributes, attributes.shift_factor, result.layout.dtype)
    rescale, bias = Rescale.of(pairs[1::2], scalars, bound), int(pairs[0]) - offset
    kernel, arguments = operations.Add(rescale), [int(weights[0]), int(weights[1]), bias, int(pairs[1]), *scalars]
    are_bytes = planner.cpu.is_x86 and all(tensor.layout.biased for tensor in (*sources, result))
    if are_bytes and rescale.is_unit and _loops(kernel, sources, result).has_vectors:
        words = _added_bytes(weights, bias, scalars, bound)
        kernel, arguments = (kernel, arguments) if words is None else (operations.AddBytes(), words)
    _call(planner, operation, kernel, sources, result, arguments)
    return True


def _added_bytes(weights: np.ndarray, bias: int, scalars: list[int], bound: int) -> list[int] | None:
    """Arguments of `AddBytes`: both weights in a word, what is added, shift and limits; None if they do not fit."""
    shift, zero_point, *limits = scalars
    extra = (1 << shift >> 1) + (zero_point << shift)
    if bound + abs(extra) >= _INT32:
        return None
    first, second = (int(weight) for weight in weights)
    return [(first & 0xFFFF) | second << 16, bias + extra, shift, *limits]


def multiply(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    _, scale_bias, *inputs = operation.operands
    pairs = elements.constant_value(scale_bias)
    if not _is_narrow(operation, inputs) or pairs is None or pairs.size != 2 or pairs.dtype != np.int32:
        return False
    limits = [-int(np.iinfo(shape_and_dtype(value)[1]).min) for value in inputs]
    bound = limits[0] * limits[1] + abs(int(pairs[0]))
    if bound >= _INT32 or not 0 <= attributes.shift < 64:
        return False
    sources, result = _operands(planner, operation, inputs)
    scalars = requantization(attributes, attributes.shift, result.layout.dtype)
    rescale = Rescale.of(pairs[1::2], scalars, bound)
    _call(planner, operation, operations.Multiply(rescale), sources, result, [int(pairs[0]), int(pairs[1]), *scalars])
    return True


def multiply_add(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    _, weights, scale_bias, input_ = operation.operands
    pairs, weights = elements.constant_value(scale_bias), elements.constant_value(weights)
    if not _is_narrow(operation, [input_]) or pairs is None or weights is None or attributes.input_unsigned:
        return False
    weights = weights.astype(np.int64)
    bound = _bound([int(np.abs(weights).max()) * _magnitude(input_)], pairs)
    if bound >= _INT32 or not 0 <= attributes.shift_factor < 64:
        return False
    rank = len(shape_and_dtype(input_)[0])
    per_channel = weights.size > 1 or pairs.size > 2
    order = [*(d for d in range(rank) if d != 1), 1] if per_channel and rank > 2 else None
    (source,), result = _operands(planner, operation, [input_], order)
    offset = BIAS * weights if source.layout.biased else 0
    bias, multiplier = (pairs[0::2] - offset).astype(np.int32), pairs[1::2]
    count = max(weights.size, pairs.size // 2)
    # Whole vectors are read.
    length = -(-count // planner.cpu.lanes) * planner.cpu.lanes if count > 1 else 1
    parameters = np.zeros((3, length), np.int32)
    for row, values in zip(parameters, (weights, bias, multiplier), strict=True):
        row[:count] = values
    buffers = [planner.constants.add(row) for row in parameters]
    scalars = requantization(attributes, attributes.shift_factor, result.layout.dtype)
    rescale = Rescale.of(multiplier, scalars, bound)
    kernel = operations.MultiplyAdd(rescale, length)
    _call(planner, operation, kernel, [source], result, [*buffers, *scalars], merge=not per_channel)
    return True


def table(planner: Planner, operation: ir.Operation) -> bool:
    attributes = attributes_of(operation)
    init, scale_bias, input_, *dynamic = operation.operands
    types = [shape_and_dtype(value)[1] for value in (init, input_)]
    pairs = elements.constant_value(scale_bias)
    if dynamic or types != [np.int8] * 2 or pairs is None or pairs.tolist() != [-BIAS, BIAS]:
        return False
    if attributes.output_zp or attributes.shift or attributes.saturate_i16 or attributes.static_table is None:
        return False
    words = np.array(attributes.static_table, np.int32)
    if (words >> 16).any():
        return False
    source = planner.tensor(input_)
    if not source.layout.biased:
        source = planner.in_layout(source, Layout.inner(source.layout.shape, np.int8), operation)
    entries = (words.astype(np.int16) >> 8).astype(np.int8)
    # Entry 0 is that of -128, which is stored as 0. Room is looked up as well.
    fill = None if source.fill is None else int(entries[source.fill]) + BIAS
    result = planner.allocate(source.layout, fill)
    planner.define(operation.results[0], result)
    stored = (entries.astype(np.int16) + BIAS).astype(np.uint8)
    planner.call(Lookup(source.layout.elements), [source, planner.constants.add(stored), result], operation)
    return True


def _operands(
    planner: Planner, operation: ir.Operation, inputs: list[ir.Value], order: Sequence[int] | None = None
) -> tuple[list[Tensor], Tensor]:
    """Inputs that can be read together, and memory for the result.

    Args:
      order: of the dimensions of the result in memory; that of an input where it does not matter.
    """
    sources = [planner.tensor(value) for value in inputs]
    shape, _ = shape_and_dtype(operation.results[0])
    whole = [tensor.layout for tensor in sources if tensor.layout.shape == shape]
    if order is None:
        order = max(whole, key=lambda layout: layout.biased).order if whole else tuple(range(len(shape)))
    result = planner.produce(operation.results[0], order)
    for position, tensor in enumerate(sources):
        inner = order[-1] - (len(shape) - len(tensor.layout.shape))
        if inner >= 0 and tensor.layout.shape[inner] > 1 and tensor.layout.stride_of(inner) != 1:
            own = [d - (len(shape) - len(tensor.layout.shape)) for d in order]
            wanted = Layout.inner(tensor.layout.shape, tensor.layout.dtype, [d for d in own if d >= 0])
            sources[position] = planner.in_layout(tensor, wanted, operation)
    return sources, result


def _call(planner, operation, kernel, sources, result, arguments, *, merge: bool = True) -> None:
    planner.call(_loops(kernel, sources, result, merge), [*sources, result, *arguments], operation)
    planner.finish(result, operation)


def _loops(kernel: Operation, sources: Sequence[Tensor], result: Tensor, merge: bool = True) -> Map:
    rank, layouts = len(result.layout.shape), [source.layout for source in sources]
    return Map.of(kernel, [*layouts, result.layout], [_aligned(layout, rank) for layout in layouts], merge=merge)


def _aligned(layout: Layout, rank: int) -> list[int | None]:
    """The dimension of an operand that each of the result is: they end together."""
    missing = rank - len(layout.shape)
    return [None if d < missing else d - missing for d in range(rank)]


def _is_narrow(operation: ir.Operation, inputs: list[ir.Value]) -> bool:
    """Whether inputs and output are signed integers of at most 32 bits, and not scalars."""
    shapes_and_types = [shape_and_dtype(value) for value in (*inputs, operation.results[0])]
    return all(shape and dtype in (np.int8, np.int16, np.int32) for shape, dtype in shapes_and_types)


def _magnitude(value: ir.Value) -> int:
    """The greatest of a value as it is stored."""
    dtype = shape_and_dtype(value)[1]
    return 255 if dtype == np.int8 else 1 << (8 * dtype.itemsize - 1)


def _bound(products: list[int], pairs: np.ndarray) -> int:
    """Of the magnitude of a sum of these and a bias, which may take in what is added to stored values."""
    return 2 * sum(products) + int(np.abs(pairs[0::2].astype(np.int64)).max())
