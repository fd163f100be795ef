# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a dialect of operations on whole tensors has to offer, so that quantization can be written in it."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import elements
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.structured import element_type

DYNAMIC = ir.ShapedType.get_dynamic_size()


class Inexpressible(Exception):
    """The dialect has no way to say something; the message tells what.

    Attributes:
      location: of the operation that needs it.
    """

    location: ir.Location

    def in_operation(self, operation: ir.Operation) -> "Inexpressible":
        """The same of an operation."""
        whole = Inexpressible(f"'{operation.name}' needs {self}")
        whole.location = operation.location
        return whole


@dataclass(frozen=True)
class Extent:
    """The size of a dynamic dimension: that of `value` along `dimension`."""

    value: ir.Value
    dimension: int


Operand = ir.Value | float


class TensorArithmetic(abc.ABC):
    """Operations on tensors at the current insertion point.

    The tensors of one operation have the same rank; a dimension of 1 stretches to that of the others. A number stands
    for a tensor of it, in the element type of the other operand. Integers are signless and signed unless it says
    otherwise, truth values are i1. Every result is rounded once, to its element type.
    """

    # Creation and shape

    @abc.abstractmethod
    def tensor_constant(self, attribute: ir.DenseElementsAttr) -> ir.Value:
        """A constant of the dialect."""

    @abc.abstractmethod
    def reshape(self, value: ir.Value, extents: Sequence[int | Extent]) -> ir.Value:
        """The elements in another shape, in the same order."""

    # Elements of one type

    @abc.abstractmethod
    def add(self, x: Operand, y: Operand) -> ir.Value:
        """x + y; integers wrap around."""

    @abc.abstractmethod
    def subtract(self, x: Operand, y: Operand) -> ir.Value:
        """x - y; integers wrap around."""

    @abc.abstractmethod
    def multiply(self, x: Operand, y: Operand) -> ir.Value:
        """x * y; integers wrap around."""

    @abc.abstractmethod
    def divide(self, x: Operand, y: Operand) -> ir.Value:
        """x / y of f32 or f64."""

    @abc.abstractmethod
    def maximum(self, x: Operand, y: Operand) -> ir.Value:
        """The greater; NaN if one of them is."""

    @abc.abstractmethod
    def minimum(self, x: Operand, y: Operand) -> ir.Value:
        """The lesser; NaN if one of them is."""

    @abc.abstractmethod
    def clamp(self, value: ir.Value, low: float, high: float) -> ir.Value:
        """minimum(maximum(value, low), high)."""

    @abc.abstractmethod
    def absolute(self, value: ir.Value) -> ir.Value:
        """|value| of floats."""

    @abc.abstractmethod
    def floor(self, value: ir.Value) -> ir.Value:
        """The greatest integer that is not greater, as a float."""

    @abc.abstractmethod
    def ceil(self, value: ir.Value) -> ir.Value:
        """The least integer that is not less, as a float."""

    @abc.abstractmethod
    def round_half_even(self, value: ir.Value) -> ir.Value:
        """The nearest integer, of two the even one, as a float. The sign of a zero may be lost."""

    @abc.abstractmethod
    def bitwise_and(self, x: Operand, y: Operand) -> ir.Value:
        """x & y of integers or truth values."""

    @abc.abstractmethod
    def bitwise_xor(self, x: Operand, y: Operand) -> ir.Value:
        """x ^ y of integers or truth values."""

    # Truth values

    @abc.abstractmethod
    def equal(self, x: Operand, y: Operand) -> ir.Value:
        """x == y; false if one of them is NaN."""

    @abc.abstractmethod
    def greater(self, x: Operand, y: Operand) -> ir.Value:
        """x > y; false if one of them is NaN."""

    @abc.abstractmethod
    def select(self, condition: ir.Value, x: Operand, y: Operand) -> ir.Value:
        """x where the condition is true, y elsewhere. One of them is a tensor."""

    # Element types

    @abc.abstractmethod
    def convert_float(self, value: ir.Value, target: ir.Type) -> ir.Value:
        """The nearest float of another type. The way to a 16-bit type is by f32, as in PyTorch."""

    @abc.abstractmethod
    def integer_to_float(self, value: ir.Value, target: ir.Type, unsigned: bool = False) -> ir.Value:
        """The float of type f32 or f64 nearest to an integer or truth value."""

    @abc.abstractmethod
    def round_to_integer(self, value: ir.Value, target: ir.IntegerType) -> ir.Value:
        """The integer of type i32 or i64 nearest to a float that is in the range of the type; of two the even one."""

    @abc.abstractmethod
    def extend(self, value: ir.Value, target: ir.IntegerType, unsigned: bool = False) -> ir.Value:
        """The integer or truth value in a type at least as wide; truth values are 0 and 1."""

    @abc.abstractmethod
    def truncate(self, value: ir.Value, target: ir.IntegerType, wraps: bool) -> ir.Value:
        """The low bits of an integer in a narrower type; without `wraps` its signed value is in the range of that."""

    # Reductions

    @abc.abstractmethod
    def reduce_maximum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """The greatest element along `axes` of floats, which become dimensions of 1; NaN if one is."""

    @abc.abstractmethod
    def reduce_minimum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """The least element along `axes` of floats, which become dimensions of 1; NaN if one is."""

    @abc.abstractmethod
    def reduce_sum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """The sum along `axes` of integers, which become dimensions of 1."""

    # What follows from these

    def constant(self, values: np.ndarray, element: ir.Type) -> ir.Value:
        """A constant tensor; the values are converted to the element type as PyTorch converts."""
        values = convert_element_type(values, elements.numpy_dtype(element))
        return self.tensor_constant(elements.from_numpy(values, element))

    def splat(self, number: float, element: ir.Type, rank: int) -> ir.Value:
        """A tensor of one element in `rank` dimensions of 1."""
        return self.constant(np.full((1,) * rank, number), element)

    def is_nan(self, value: ir.Value) -> ir.Value:
        """Where a float is NaN."""
        return self.logical_not(self.equal(value, value))

    def logical_not(self, value: ir.Value) -> ir.Value:
        """Where a truth value is false."""
        return self.bitwise_xor(value, True)

    def before_widening(self, value: ir.Value) -> ir.Value:
        """A tensor of a narrower type that has the same elements, where the value is known to be made of one."""
        return value

    def reciprocal(self, value: ir.Value) -> ir.Value:
        """1 / value of f32 or f64."""
        return self.divide(1.0, value)

    def negate(self, value: ir.Value) -> ir.Value:
        """-value of floats."""
        return self.multiply(value, -1.0)

    def round_toward_zero(self, value: ir.Value) -> ir.Value:
        """A float without its fraction."""
        return self.select(self.greater(0.0, value), self.ceil(value), self.floor(value))

    def round_to(self, value: ir.Value, target: ir.Type) -> ir.Value:
        """A float rounded to the precision of `target`, in its own type."""
        return self.convert_float(self.convert_float(value, target), element_type(value))

    def resize(self, value: ir.Value, target: ir.IntegerType, unsigned: bool = False) -> ir.Value:
        """An integer or truth value in another integer type; what that does not hold wraps around."""
        if element_type(value).width > target.width:
            return self.truncate(value, target, wraps=True)
        return self.extend(value, target, unsigned)


def is_widening(narrow: ir.Type, wide: ir.Type) -> bool:
    """Whether a conversion from f32 to f64, or between signed integers, keeps every number."""
    if isinstance(narrow, ir.IntegerType) and isinstance(wide, ir.IntegerType):
        return narrow.is_signless and 1 < narrow.width < wide.width
    return isinstance(narrow, ir.F32Type) and isinstance(wide, ir.F64Type)


def shape_of(value: ir.Value) -> list[int]:
    """Extents of a tensor, DYNAMIC where they are."""
    return list(ir.RankedTensorType(value.type).shape)


def extents_of(value: ir.Value) -> list[int | Extent]:
    """Extents of a tensor."""
    return [Extent(value, d) if size == DYNAMIC else size for d, size in enumerate(shape_of(value))]


def static(extents: Sequence[int | Extent]) -> list[int]:
    """Extents as a type has them."""
    return [DYNAMIC if isinstance(extent, Extent) else extent for extent in extents]


def broadcast(values: Sequence[ir.Value]) -> list[int | Extent]:
    """The extents to which tensors of one rank stretch. Of equal dynamic extents any is the extent."""
    result: list[int | Extent] = []
    for extents in zip(*(extents_of(value) for value in values), strict=True):
        stretched = [extent for extent in extents if extent != 1]
        known = [extent for extent in stretched if not isinstance(extent, Extent)]
        result.append((known or stretched or [1])[0])
    return result


def cast(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """The tensor with a type that says another part of its shape."""
    if shape_of(value) == list(shape):
        return value
    return tensor.cast(ir.RankedTensorType.get(shape, element_type(value)), value)


def with_extents_of_one(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    """The tensor, whose type says of `dimensions` that they are 1, which they are."""
    return cast(value, [1 if d in dimensions else size for d, size in enumerate(shape_of(value))])
