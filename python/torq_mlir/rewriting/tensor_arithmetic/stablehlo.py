# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic in StableHLO.

The bindings have no classes for its operations. It has no implicit broadcasting either: what stretches does so in
operations of its own. Signless integers are signed in StableHLO; unsigned ones have types of their own.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import tensor

from torq_mlir.dialects import elements
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.structured import element_type, index_constant, integer_type

from .arithmetic import (
    DYNAMIC,
    Extent,
    Operand,
    TensorArithmetic,
    broadcast,
    cast,
    extents_of,
    is_widening,
    shape_of,
    static,
)


class StablehloArithmetic(TensorArithmetic):
    """Operations of the stablehlo dialect."""

    def tensor_constant(self, attribute: ir.DenseElementsAttr) -> ir.Value:
        return operation("constant", [attribute.type], [], value=attribute)

    def reshape(self, value: ir.Value, extents: Sequence[int | Extent]) -> ir.Value:
        shape = static(extents)
        if shape == shape_of(value):
            return value
        result = ir.RankedTensorType.get(shape, element_type(value))
        if DYNAMIC in shape and len(shape) - shape.count(1) == 1 == len(shape_of(value)):
            return self.broadcast_to(value, extents, [d for d, size in enumerate(shape) if size != 1])
        if DYNAMIC in shape:
            return operation("dynamic_reshape", [result], [value, self._shape(extents)])
        return operation("reshape", [result], [value])

    def add(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("add", x, y)

    def subtract(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("subtract", x, y)

    def multiply(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("multiply", x, y)

    def divide(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("divide", x, y)

    def maximum(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("maximum", x, y)

    def minimum(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("minimum", x, y)

    def clamp(self, value: ir.Value, low: float, high: float) -> ir.Value:
        low, high = (self.splat(bound, element_type(value), 0) for bound in (low, high))
        return operation("clamp", [value.type], [low, value, high])

    def absolute(self, value: ir.Value) -> ir.Value:
        return operation("abs", [value.type], [value])

    def floor(self, value: ir.Value) -> ir.Value:
        return operation("floor", [value.type], [value])

    def ceil(self, value: ir.Value) -> ir.Value:
        return operation("ceil", [value.type], [value])

    def negate(self, value: ir.Value) -> ir.Value:
        return operation("negate", [value.type], [value])

    def round_half_even(self, value: ir.Value) -> ir.Value:
        return operation("round_nearest_even", [value.type], [value])

    def bitwise_and(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("and", x, y)

    def bitwise_xor(self, x: Operand, y: Operand) -> ir.Value:
        return self._elementwise("xor", x, y)

    def shift_right(self, x: Operand, y: Operand) -> ir.Value:
        """floor(x / 2^y) of signed integers."""
        return self._elementwise("shift_right_arithmetic", x, y)

    def logical_not(self, value: ir.Value) -> ir.Value:
        return operation("not", [value.type], [value])

    def equal(self, x: Operand, y: Operand) -> ir.Value:
        return self._compare("EQ", x, y)

    def greater(self, x: Operand, y: Operand) -> ir.Value:
        return self._compare("GT", x, y)

    def select(self, condition: ir.Value, x: Operand, y: Operand) -> ir.Value:
        element = element_type(x if isinstance(x, ir.Value) else y)
        operands = self._stretched([condition, x, y], [element_type(condition), element, element])
        return operation("select", [operands[1].type], operands)

    def convert_float(self, value: ir.Value, target: ir.Type) -> ir.Value:
        if target.width == 16 and element_type(value) not in (target, ir.F32Type.get()):
            value = self._convert(value, ir.F32Type.get())
        return self._convert(value, target)

    def before_widening(self, value: ir.Value) -> ir.Value:
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "stablehlo.convert":
            return value
        (source,) = value.owner.operation.operands
        return source if is_widening(element_type(source), element_type(value)) else value

    def integer_to_float(self, value: ir.Value, target: ir.Type, unsigned: bool = False) -> ir.Value:
        return self._convert(_as_unsigned(value) if unsigned else value, target)

    def round_to_integer(self, value: ir.Value, target: ir.IntegerType) -> ir.Value:
        return self._convert(self.round_half_even(value), target)

    def extend(self, value: ir.Value, target: ir.IntegerType, unsigned: bool = False) -> ir.Value:
        if element_type(value) == target:
            return value
        return self._convert(_as_unsigned(value) if unsigned else value, target)

    def truncate(self, value: ir.Value, target: ir.IntegerType, wraps: bool) -> ir.Value:
        """A conversion is only defined for what the narrower type holds."""
        if wraps:
            unused = element_type(value).width - target.width
            value = self.shift_right(self._elementwise("shift_left", value, unused), unused)
        return self._convert(value, target)

    def reduce_maximum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce("maximum", -np.inf, value, axes)

    def reduce_minimum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce("minimum", np.inf, value, axes)

    def reduce_sum(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        return self._reduce("add", 0, value, axes)

    def _reduce(self, name: str, initial: float, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        element, axes = element_type(value), [axis % len(shape_of(value)) for axis in axes]
        kept = [size for d, size in enumerate(shape_of(value)) if d not in axes]
        scalar = ir.RankedTensorType.get([], element)
        reduce = ir.Operation.create(
            "stablehlo.reduce",
            results=[ir.RankedTensorType.get(kept, element)],
            operands=[value, self.splat(initial, element, 0)],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(axes)},
            regions=1,
        )
        location = reduce.location
        block = reduce.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
        with ir.InsertionPoint(block):
            ir.Operation.create("stablehlo.return", operands=[operation(name, [scalar], block.arguments)])
        extents = [1 if d in axes else extent for d, extent in enumerate(extents_of(value))]
        if DYNAMIC in kept:
            return self.broadcast_to(reduce.result, extents, [d for d in range(len(extents)) if d not in axes])
        return self.reshape(reduce.result, extents)

    def _compare(self, direction: str, x: Operand, y: Operand) -> ir.Value:
        operands = self._operands(x, y)
        result = ir.RankedTensorType.get(shape_of(operands[0]), integer_type(1))
        return operation(
            "compare", [result], operands, comparison_direction=_stablehlo.ComparisonDirectionAttr.get(direction)
        )

    def _elementwise(self, name: str, x: Operand, y: Operand) -> ir.Value:
        operands = self._operands(x, y)
        return operation(name, [operands[0].type], operands)

    def _operands(self, x: Operand, y: Operand) -> list[ir.Value]:
        element = element_type(x if isinstance(x, ir.Value) else y)
        return self._stretched([x, y], [element, element])

    def _stretched(self, operands: Sequence[Operand], element_types: Sequence[ir.Type]) -> list[ir.Value]:
        """Tensors of one shape; numbers become tensors of these element types."""
        extents = broadcast([operand for operand in operands if isinstance(operand, ir.Value)])
        return [
            self._stretch(operand, extents)
            if isinstance(operand, ir.Value)
            else self._filled(operand, element, extents)
            for operand, element in zip(operands, element_types, strict=True)
        ]

    def _stretch(self, value: ir.Value, extents: Sequence[int | Extent]) -> ir.Value:
        """The value with its dimensions of 1 stretched; the others are of these extents already."""
        stretched = static(extents)
        known = [size if size == 1 else wanted for size, wanted in zip(shape_of(value), stretched, strict=True)]
        value = cast(value, known)
        return value if known == stretched else self.broadcast_to(value, extents, range(len(extents)))

    def _filled(self, number: float, element: ir.Type, extents: Sequence[int | Extent]) -> ir.Value:
        shape = static(extents)
        if DYNAMIC in shape:
            return self.broadcast_to(self.splat(number, element, 0), extents, [])
        value = convert_element_type(np.asarray(number), elements.numpy_dtype(element))
        type_ = ir.RankedTensorType.get(shape, element)
        return self.tensor_constant(ir.DenseElementsAttr.get_splat(type_, _attribute(value, element)))

    def broadcast_to(self, value: ir.Value, extents: Sequence[int | Extent], dimensions: Sequence[int]) -> ir.Value:
        """The value repeated to other extents; its dimensions are `dimensions` of the result."""
        result = ir.RankedTensorType.get(static(extents), element_type(value))
        attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(list(dimensions))}
        if DYNAMIC in static(extents):
            shape = shape_of(value)
            expanding, kept = ([d for d, size in enumerate(shape) if (size == 1) == one] for one in (True, False))
            attributes["known_expanding_dimensions"] = ir.DenseI64ArrayAttr.get(expanding)
            attributes["known_nonexpanding_dimensions"] = ir.DenseI64ArrayAttr.get(kept)
            return operation("dynamic_broadcast_in_dim", [result], [value, self._shape(extents)], **attributes)
        return operation("broadcast_in_dim", [result], [value], **attributes)

    def _shape(self, extents: Sequence[int | Extent]) -> ir.Value:
        """A shape as a tensor, as convert-torch-to-stablehlo makes it."""
        sizes = [
            tensor.dim(extent.value, index_constant(extent.dimension))
            if isinstance(extent, Extent)
            else index_constant(extent)
            for extent in extents
        ]
        return tensor.from_elements(ir.RankedTensorType.get([len(sizes)], ir.IndexType.get()), sizes)

    def _convert(self, value: ir.Value, target: ir.Type) -> ir.Value:
        value = value if element_type(value) == target else self.before_widening(value)
        if element_type(value) == target:
            return value
        return operation("convert", [ir.RankedTensorType.get(shape_of(value), target)], [value])


def operation(
    name: str, results: Sequence[ir.Type], operands: Sequence[ir.Value], **attributes: ir.Attribute
) -> ir.Value:
    """Creates `stablehlo.<name>`, which has one result."""
    return ir.Operation.create(
        f"stablehlo.{name}", results=results, operands=list(operands), attributes=attributes
    ).result


def _as_unsigned(value: ir.Value) -> ir.Value:
    """The same bits as unsigned integers; truth values are none."""
    width = element_type(value).width
    if width == 1:
        return value
    unsigned = ir.IntegerType.get_unsigned(width)
    return operation("bitcast_convert", [ir.RankedTensorType.get(shape_of(value), unsigned)], [value])


def _attribute(value: np.ndarray, element: ir.Type) -> ir.Attribute:
    if isinstance(element, ir.IntegerType):
        return ir.IntegerAttr.get(element, int(value))
    return ir.FloatAttr.get(element, float(value))
