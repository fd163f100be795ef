# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dequantizations whose parameters are values, per tensor or per token."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..dialects import elements
from .patterns import NoMatch
from .structured import (
    build_elementwise,
    convert_float,
    element_type,
    empty_like,
    extend,
    integer_type,
    scalar_constant,
    scalar_of,
)

_PREFIX = "quantized_decomposed."
_PER_TENSOR, _PER_TOKEN = f"{_PREFIX}dequantize_per_tensor", f"{_PREFIX}dequantize_per_token"
_RESHAPES = "tensor.collapse_shape", "tensor.expand_shape"
_INTEGER_CONVERSIONS = "arith.trunci", "arith.extsi"


@dataclass(frozen=True)
class RunTimeDequantize:
    """`(input - zero_point) * scale` with parameters that are operands, constant or not.

    Attributes:
      operation: `dequantize_per_tensor` or `dequantize_per_token` of 8 bits.
    """

    operation: ir.Operation

    axis = None  # there are no channels

    @property
    def input(self) -> ir.Value:
        """The stored integers."""
        return self.operation.operands[0]

    @property
    def per_token(self) -> bool:
        return self.operation.name == _PER_TOKEN

    @property
    def unsigned(self) -> bool:
        return ir.IntegerType(ir.TypeAttr(self.operation.attributes["dtype"]).value).is_unsigned

    @property
    def has_no_zero_point(self) -> bool:
        """Whether the zero point of signed storage is known to be 0."""
        zero_points = list(self.operation.operands)[2:3]
        return not self.unsigned and all(is_zero(each) for each in zero_points)

    def check(self) -> None:
        """Refuses what the builders below cannot build.

        Raises:
          NoMatch: the zero point is a float, and not known to be 0.
        """
        zero_points = list(self.operation.operands)[2:3]
        if any(isinstance(element_type(each), ir.FloatType) and not is_zero(each) for each in zero_points):
            raise NoMatch("a zero point that is known at run time only is a float")

    def signed_input(self) -> ir.Value:
        """The stored integers as signed ones; unsigned ones have their highest bit flipped."""
        if not self.unsigned:
            return self.input
        element = element_type(self.input)
        highest = arith.constant(element, -(1 << (element.width - 1)))
        return build_elementwise([self.input], empty_like(self.input, element), lambda x: arith.xori(x, highest))

    def zero_point(self) -> ir.Value | None:
        """That of signed storage, i32: a scalar, or [.., 1] for tokens; None for 0."""
        if self.has_no_zero_point:
            return None
        offset, i32 = 1 << (element_type(self.input).width - 1) if self.unsigned else 0, integer_type(32)
        zero_points = list(self.operation.operands)[2:3]
        if not zero_points or is_zero(zero_points[0]):
            return scalar_constant(i32, -offset)
        source = element_type(zero_points[0])
        unsigned = self.unsigned and source.width <= element_type(self.input).width

        def convert(value: ir.Value) -> ir.Value:
            value = arith.trunci(i32, value) if source.width > 32 else extend(value, i32, unsigned)
            return arith.subi(value, scalar_constant(i32, offset)) if offset else value

        return self._parameter(zero_points[0], i32, convert)

    def scale(self) -> ir.Value:
        """f64: a scalar, or [.., 1] for tokens."""
        f64 = ir.F64Type.get()
        return self._parameter(self.operation.operands[1], f64, lambda value: convert_float(value, f64))

    def _parameter(self, value: ir.Value, target: ir.Type, convert) -> ir.Value:
        if not self.per_token:
            return convert(scalar_of(value))
        return (
            value if element_type(value) == target else build_elementwise([value], empty_like(value, target), convert)
        )


def match_run_time_dequantize(value: ir.Value) -> RunTimeDequantize | None:
    """The dequantization per tensor or token of integers of 8 bits that defines `value`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in (_PER_TENSOR, _PER_TOKEN):
        return None
    operation = value.owner.operation
    return RunTimeDequantize(operation) if element_type(operation.operands[0]).width == 8 else None


def is_zero(zero_point: ir.Value) -> bool:
    """Whether a zero point is known to be 0: a constant, or what is chosen for symmetric quantization."""
    constant = elements.constant_value(zero_point)
    if constant is not None or isinstance(zero_point.owner, ir.Block):
        return constant is not None and not constant.any()
    operation = zero_point.owner.operation
    if operation.name in _RESHAPES or _converts_integers(operation):
        return is_zero(operation.operands[0])
    if operation.name == f"{_PREFIX}choose_qparams_symmetric":
        # Unsigned symmetric storage has its zero point in the middle.
        return zero_point == operation.results[1] and ir.IntegerType(operation.attributes["dtype"].value).is_signed
    return operation.name == f"{_PREFIX}choose_qparams_per_token" and zero_point == operation.results[1]


def _converts_integers(operation: ir.Operation) -> bool:
    """Whether a linalg.generic does nothing but convert the elements of its input to another integer type."""
    if operation.name != "linalg.generic" or len(operation.operands) != 2:
        return False
    block = operation.regions[0].blocks[0]
    first = block.operations[0].operation
    return (
        len(block.operations) == 2
        and first.name in _INTEGER_CONVERSIONS
        and first.operands[0] == block.arguments[0]
        and block.operations[1].operands[0] == first.results[0]
    )
