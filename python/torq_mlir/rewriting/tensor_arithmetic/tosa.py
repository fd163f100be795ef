# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic in TOSA.

Operations are those of the TOSA specification for f16, bf16, f32, i8, i16 and i32. The dialect of MLIR takes f64, i64
and i4 as well, the specification does not.
"""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tosa

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import element_type, integer_type

from . import tosa_division
from .arithmetic import (
    DYNAMIC,
    Extent,
    Inexpressible,
    Operand,
    TensorArithmetic,
    broadcast,
    is_widening,
    shape_of,
    static,
)


class TosaArithmetic(TensorArithmetic):
    """Operations of the tosa dialect."""

    def tensor_constant(self, attribute: ir.DenseElementsAttr) -> ir.Value:
        return tosa.ConstOp(attribute, results=[attribute.type]).output

    def reshape(self, value: ir.Value, extents: Sequence[int | Extent]) -> ir.Value:
        shape = static(extents)
        if shape == shape_of(value):
            return value
        if shape.count(DYNAMIC) > 1:
            raise Inexpressible("tosa.reshape to a shape with several dynamic dimensions")
        result = ir.RankedTensorType.get(shape, element_type(value))
        sizes = [-1 if size == DYNAMIC else size for size in shape]
        return tosa.ReshapeOp(value, shape_constant(sizes), results=[result]).output

    def add(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(tosa.AddOp, x, y)

    def subtract(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(tosa.SubOp, x, y)

    def multiply(self, x: Operand, y: Operand) -> ir.Value:
        x, y = self._tensors(x, y)
        return tosa.MulOp(_stretched(element_type(x), x, y), x, y, self._zero_shift()).output

    def divide(self, x: Operand, y: Operand) -> ir.Value:
        """TOSA has no division of floats: see `tosa_division` for what stands in for it."""
        return tosa_division.divide(self, x, y)

    def reciprocal(self, value: ir.Value) -> ir.Value:
        """1 / value of floats."""
        return tosa.ReciprocalOp(value.type, value).output

    def maximum(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(tosa.MaximumOp, x, y)

    def minimum(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(tosa.MinimumOp, x, y)

    def clamp(self, value: ir.Value, low: float, high: float) -> ir.Value:
        element = element_type(value)
        if isinstance(element, ir.IntegerType) and element.width > 16:  # tosa.clamp is for 8 and 16 bits
            return self.minimum(self.maximum(value, low), high)
        if isinstance(element, ir.IntegerType):
            bounds = [ir.IntegerAttr.get(element, int(bound)) for bound in (low, high)]
        else:
            bounds = [ir.FloatAttr.get(element, float(bound)) for bound in (low, high)]
        return tosa.ClampOp(value.type, value, *bounds).output

    def absolute(self, value: ir.Value) -> ir.Value:
        return tosa.AbsOp(value.type, value).output

    def floor(self, value: ir.Value) -> ir.Value:
        return tosa.FloorOp(value.type, value).output

    def ceil(self, value: ir.Value) -> ir.Value:
        return tosa.CeilOp(value.type, value).output

    def negate(self, value: ir.Value) -> ir.Value:
        zero = self.splat(0, element_type(value), 1)
        return tosa.NegateOp(value.type, value, zero, zero).output

    def round_half_even(self, value: ir.Value) -> ir.Value:
        """TOSA rounds where it converts: to integers and back, where there can be a fraction."""
        element = element_type(value)
        wide, limit = (64, 2.0**52) if isinstance(element, ir.F64Type) else (32, 2.0**23)
        fractional = self.greater(limit, self.absolute(value))
        integer = self.round_to_integer(self.select(fractional, value, 0.0), integer_type(wide))
        return self.select(fractional, tosa.CastOp(value.type, integer).output, value)

    def bitwise_and(self, x: Operand, y: Operand) -> ir.Value:
        return self._logical(tosa.LogicalAndOp, tosa.BitwiseAndOp, x, y)

    def bitwise_xor(self, x: Operand, y: Operand) -> ir.Value:
        return self._logical(tosa.LogicalXorOp, tosa.BitwiseXorOp, x, y)

    def logical_not(self, value: ir.Value) -> ir.Value:
        return tosa.LogicalNotOp(value.type, value).output

    def equal(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(_equal, x, y, integer_type(1))

    def greater(self, x: Operand, y: Operand) -> ir.Value:
        return self._binary(tosa.GreaterOp, x, y, integer_type(1))

    def select(self, condition: ir.Value, x: Operand, y: Operand) -> ir.Value:
        x, y = self._tensors(x, y)
        result = _stretched(element_type(x), condition, x, y)
        return tosa.SelectOp(result, condition, x, y).output

    def convert_float(self, value: ir.Value, target: ir.Type) -> ir.Value:
        if target.width == 16 and element_type(value) not in (target, ir.F32Type.get()):
            value = self._cast(value, ir.F32Type.get())
        return self._cast(value, target)

    def before_widening(self, value: ir.Value) -> ir.Value:
        return _before_widening(value)

    def integer_to_float(self, value: ir.Value, target: ir.Type, unsigned: bool = False) -> ir.Value:
        if element_type(value).width <= 32 and unsigned:
            value = self.extend(value, integer_type(32), unsigned)
        return self._cast(value, target)

    def round_to_integer(self, value: ir.Value, target: ir.IntegerType) -> ir.Value:
        return self._cast(value, target)

    def extend(self, value: ir.Value, target: ir.IntegerType, unsigned: bool = False) -> ir.Value:
        width = element_type(value).width
        if width == target.width:
            return value
        value = self._cast(value, target)
        return self.bitwise_and(value, (1 << width) - 1) if unsigned and width > 1 else value

    def truncate(self, value: ir.Value, target: ir.IntegerType, wraps: bool) -> ir.Value:
        return self._cast(value, target)

    def reduce_maximum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce(tosa.ReduceMaxOp, value, axes)

    def reduce_minimum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce(tosa.ReduceMinOp, value, axes)

    def reduce_sum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce(tosa.ReduceSumOp, value, axes)

    def _reduce(self, op: Callable, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        for axis in axes:
            shape = shape_of(value)
            shape[axis] = 1
            result = ir.RankedTensorType.get(shape, element_type(value))
            value = op(value, axis, results=[result]).output
        return value

    def _binary(self, op: Callable, x: Operand, y: Operand, element: ir.Type | None = None) -> ir.Value:
        x, y = self._tensors(x, y)
        return op(_stretched(element or element_type(x), x, y), x, y).output

    def _logical(self, of_truth: Callable, of_integers: Callable, x: Operand, y: Operand) -> ir.Value:
        x, y = self._tensors(x, y)
        return self._binary(of_truth if element_type(x).width == 1 else of_integers, x, y)

    def _tensors(self, x: Operand, y: Operand) -> tuple[ir.Value, ir.Value]:
        """Two operands, of which one may be a number."""
        if not isinstance(x, ir.Value):
            return self.splat(x, element_type(y), len(shape_of(y))), y
        if not isinstance(y, ir.Value):
            return x, self.splat(y, element_type(x), len(shape_of(x)))
        return x, y

    def _cast(self, value: ir.Value, target: ir.Type) -> ir.Value:
        value = value if element_type(value) == target else _before_widening(value)
        if element_type(value) == target:
            return value
        return tosa.CastOp(ir.RankedTensorType.get(shape_of(value), target), value).output

    def _zero_shift(self) -> ir.Value:
        return self.tensor_constant(elements.from_numpy(np.zeros(1, np.int8)))


def shape_constant(sizes: Sequence[int]) -> ir.Value:
    """tosa.const_shape; -1 stands for a dynamic size."""
    type_ = ir.Type.parse(f"!tosa.shape<{len(sizes)}>")
    values = ir.DenseElementsAttr.get(np.array(sizes, np.int64), type=ir.IndexType.get())
    return tosa.ConstShapeOp(type_, values).output


def _equal(result: ir.Type, x: ir.Value, y: ir.Value) -> tosa.EqualOp:
    """The one comparison whose class infers its type, and with it less of the shape."""
    return tosa.EqualOp(x, y, results=[result])


def _stretched(element: ir.Type, *values: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(static(broadcast(values)), element)


def _before_widening(value: ir.Value) -> ir.Value:
    """The f32 or integer tensor of the same numbers that a tosa.cast to a wider type makes `value` of."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tosa.cast":
        return value
    (source,) = value.owner.operation.operands
    return source if is_widening(element_type(source), element_type(value)) else value
