# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales and zero points as tensors that stretch over the tensor they belong to."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import elements
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.rewriting.float_steps import compute_type
from torq_mlir.rewriting.structured import element_type, integer_type

from .arithmetic import Extent, TensorArithmetic, extents_of, with_extents_of_one


@dataclass(frozen=True)
class Placement:
    """The extents in which parameters stretch over a tensor: 1 where they do not vary."""

    extents: tuple[int | Extent, ...]

    @classmethod
    def per_tensor(cls, input: ir.Value) -> "Placement":
        """One parameter for all of `input`."""
        return cls((1,) * ir.RankedTensorType(input.type).rank)

    @classmethod
    def per_channel(cls, input: ir.Value, axis: int, parameters: ir.Value) -> "Placement":
        """1-d parameters along `axis` of `input`."""
        extents: list[int | Extent] = [1] * ir.RankedTensorType(input.type).rank
        (extents[axis],) = extents_of(parameters)
        return cls(tuple(extents))

    def place(self, a: TensorArithmetic, value: ir.Value) -> ir.Value:
        """A parameter that is not constant, a scalar or a tensor, in these extents."""
        value = a.before_widening(value)
        if not isinstance(value.type, ir.RankedTensorType):
            value = tensor.from_elements(ir.RankedTensorType.get([1], value.type), [value])
        if all(extent == 1 for extent in self.extents):
            value = with_extents_of_one(value, range(ir.RankedTensorType(value.type).rank))
        return a.reshape(value, self.extents)

    def constant(self, a: TensorArithmetic, values: np.ndarray, element: ir.Type) -> ir.Value:
        """Constant parameters in these extents."""
        return a.constant(self.shaped(values), element)

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Constant parameters in these extents, which constants make static."""
        return values.reshape([-1 if isinstance(extent, Extent) else extent for extent in self.extents])


def float_parameter(a: TensorArithmetic, value: ir.Value, placement: Placement, compute: ir.Type) -> ir.Value:
    """A scale, or a zero point that is a float, in the compute type."""
    constant = elements.constant_value(value)
    if constant is not None:
        return placement.constant(a, constant, compute)
    return a.convert_float(placement.place(a, value), compute)


def reciprocal(
    a: TensorArithmetic, scale: ir.Value, placement: Placement, precision: ir.Type, compute: ir.Type
) -> ir.Value:
    """1 / scale, rounded to `precision` and then to the compute type."""
    constant = elements.constant_value(scale)
    if constant is not None:
        with np.errstate(divide="ignore", over="ignore"):
            constant = constant.astype(elements.numpy_dtype(precision))
            return placement.constant(a, np.ones((), constant.dtype) / constant, compute)
    scale = placement.place(a, scale)
    wide = compute_type(precision)
    if isinstance(element_type(scale), ir.F32Type) and isinstance(compute, ir.F32Type):
        # In f64 and then in f32 it would be the same: 53 bits are enough for rounding twice to be rounding once.
        return a.reciprocal(scale)
    return a.convert_float(a.round_to(a.reciprocal(a.convert_float(scale, wide)), precision), compute)


def constant_integers(value: ir.Value, storage: ir.IntegerType, unsigned: bool) -> np.ndarray | None:
    """Constant zero points as i64; those no wider than an unsigned storage type are unsigned too."""
    constant = elements.constant_value(value)
    if constant is None:
        return None
    width = element_type(value).width
    return constant.astype(np.int64) & ((1 << width) - 1 if unsigned and width <= storage.width else -1)


def zero_point_in_float(
    a: TensorArithmetic,
    zero_point: ir.Value,
    placement: Placement,
    storage: ir.IntegerType,
    unsigned: bool,
    element: ir.Type,
) -> ir.Value:
    """An integer zero point rounded to a floating-point type, in its compute type."""
    compute = compute_type(element)
    constant = constant_integers(zero_point, storage, unsigned)
    if constant is not None:
        return placement.constant(a, convert_element_type(constant, elements.numpy_dtype(element)), compute)
    unsigned = unsigned and element_type(zero_point).width <= storage.width
    return a.round_to(a.integer_to_float(placement.place(a, zero_point), compute, unsigned), element)


def zero_point_in_integer(
    a: TensorArithmetic,
    zero_point: ir.Value,
    placement: Placement,
    storage: ir.IntegerType,
    unsigned: bool,
    width: int,
) -> ir.Value:
    """An integer zero point in `width` bits."""
    target = integer_type(width)
    constant = constant_integers(zero_point, storage, unsigned)
    if constant is not None:
        return placement.constant(a, constant, target)
    unsigned = unsigned and element_type(zero_point).width <= storage.width
    return a.resize(placement.place(a, zero_point), target, unsigned)


def is_constant_zero(value: ir.Value) -> bool:
    """Whether a zero point is an integer constant of zero; a float of zero still promotes what it is added to."""
    constant = None if isinstance(element_type(value), ir.FloatType) else elements.constant_value(value)
    return constant is not None and not constant.any()
