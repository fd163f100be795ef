# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The few operations that kernels are written with, over MLIR's builders.

Positions are integers where they are known, and values of type index elsewhere.
"""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, memref, scf, vector

Index = int | ir.Value


def integer(width: int) -> ir.IntegerType:
    return ir.IntegerType.get_signless(width)


def vector_type(count: int, width: int) -> ir.VectorType:
    """Of integers."""
    return ir.VectorType.get([count], integer(width))


def buffer_type(elements: int, width: int) -> ir.MemRefType:
    return ir.MemRefType.get([elements], integer(width))


def index(value: Index) -> ir.Value:
    return value if isinstance(value, ir.Value) else arith.constant(ir.IndexType.get(), value)


def add(*terms: Index) -> Index:
    known = sum(term for term in terms if isinstance(term, int))
    total = None
    for term in terms:
        if isinstance(term, ir.Value):
            total = term if total is None else arith.addi(total, term)
    if total is None:
        return known
    return arith.addi(total, index(known)) if known else total


def scale(value: Index, factor: int) -> Index:
    """value * factor."""
    if isinstance(value, int) or factor == 0:
        return value * factor if isinstance(value, int) else 0
    return value if factor == 1 else arith.muli(value, index(factor))


def divide(value: Index, divisor: Index) -> tuple[Index, Index]:
    """Quotient and remainder of what is not negative."""
    if isinstance(value, int) and isinstance(divisor, int):
        return divmod(value, divisor)
    if isinstance(divisor, int) and divisor == 1:
        return value, 0
    return arith.divui(index(value), index(divisor)), arith.remui(index(value), index(divisor))


def minimum(a: Index, b: Index) -> Index:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else arith.minsi(index(a), index(b))


def maximum(a: Index, b: Index) -> Index:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else arith.maxsi(index(a), index(b))


def loop(
    start: Index,
    stop: Index,
    body: Callable[..., Sequence[ir.Value] | None],
    carried: Sequence[ir.Value] = (),
    step: int = 1,
) -> list[ir.Value]:
    """`for i in range(start, stop, step): carried = body(i, *carried)`; returns what is carried last."""
    if isinstance(start, int) and isinstance(stop, int) and stop - start <= step:
        return list(body(start, *carried) or ()) if start < stop else list(carried)
    operation = scf.ForOp(index(start), index(stop), index(step), list(carried))
    with ir.InsertionPoint(operation.body):
        scf.yield_(list(body(operation.induction_variable, *operation.inner_iter_args) or ()))
    return list(operation.results)


def splat(value: int | ir.Value, type_: ir.VectorType) -> ir.Value:
    """A vector of one integer, or of one scalar of the element type."""
    if isinstance(value, ir.Value):
        return vector.broadcast(type_, value)
    element = type_.element_type
    wrapped = (value + (1 << (element.width - 1))) % (1 << element.width) - (1 << (element.width - 1))
    return arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(element, wrapped)))


def vector_constant(values: Sequence[int], width: int) -> ir.Value:
    array = np.array(values, f"int{width}")
    type_ = vector_type(len(array), width)
    return arith.constant(type_, ir.DenseElementsAttr.get(array, type=type_))


def scalar(value: int, width: int) -> ir.Value:
    return arith.constant(integer(width), value)


def load(buffer: ir.Value, position: Index, count: int, valid: Index | None = None) -> ir.Value:
    """`count` elements as a vector; only the first `valid` ones are read, the others are 0."""
    width = ir.MemRefType(buffer.type).element_type.width
    type_ = vector_type(count, width)
    if valid is None or valid == count:
        return vector.load(type_, buffer, [index(position)])
    return vector.maskedload(type_, buffer, [index(position)], mask(valid, count), splat(0, type_))


def store(value: ir.Value, buffer: ir.Value, position: Index, valid: Index | None = None) -> None:
    """Stores a vector, or its first `valid` elements."""
    count = ir.VectorType(value.type).shape[0]
    if valid is None or valid == count:
        vector.store(value, buffer, [index(position)])
    else:
        vector.maskedstore(buffer, [index(position)], mask(valid, count), value)


def mask(valid: Index, count: int) -> ir.Value:
    """True for the first `valid` of `count` lanes."""
    type_ = ir.VectorType.get([count], integer(1))
    if isinstance(valid, int):
        return vector.constant_mask(type_, [max(0, min(valid, count))])
    return vector.create_mask(type_, [valid])


def load_scalar(buffer: ir.Value, position: Index) -> ir.Value:
    return memref.load(buffer, [index(position)])


def store_scalar(value: ir.Value, buffer: ir.Value, position: Index) -> None:
    memref.store(value, buffer, [index(position)])


def widen(value: ir.Value, width: int, unsigned: bool = False) -> ir.Value:
    """Extends the elements of a vector, or keeps them."""
    source = ir.VectorType(value.type)
    if source.element_type.width == width:
        return value
    return (arith.extui if unsigned else arith.extsi)(vector_type(source.shape[0], width), value)


def narrow(value: ir.Value, width: int) -> ir.Value:
    source = ir.VectorType(value.type)
    return value if source.element_type.width == width else arith.trunci(vector_type(source.shape[0], width), value)


def bitcast(value: ir.Value, width: int) -> ir.Value:
    """The bits of a vector as elements of another width."""
    source = ir.VectorType(value.type)
    bits = source.shape[0] * source.element_type.width
    return vector.bitcast(vector_type(bits // width, width), value)


def intrinsic(name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
    """A call of an LLVM intrinsic."""
    return llvm.call_intrinsic(result, name, list(arguments), [], [])
