# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the patterns need to know about a dialect."""

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.rewriting.structured import element_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic


@dataclass(frozen=True)
class Movement:
    """An operation that moves the elements of its first operand, or pads it with 0.0."""

    operation: ir.Operation

    @property
    def result_shape(self) -> list[int]:
        return list(ir.RankedTensorType(self.operation.results[0].type).shape)

    @property
    def pads(self) -> bool:
        """Whether it pads."""
        return False

    @property
    def is_reshape(self) -> bool:
        """Whether it is a reshape."""
        return self.operation.name.endswith(".reshape")

    def apply(self, array: np.ndarray) -> np.ndarray:
        """The movement of an array in the shape of the operand; not for padding."""
        raise NotImplementedError

    def rebuild(self, a: TensorArithmetic, value: ir.Value, padding: int) -> ir.Value:
        """The movement of another tensor of that shape, which is padded with an integer."""
        type_ = ir.RankedTensorType.get(self.result_shape, element_type(value))
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        operands = [value, *list(self.operation.operands)[1:]]
        return ir.Operation.create(self.operation.name, [type_], operands, attributes).result


@dataclass(frozen=True)
class Contraction(abc.ABC):
    """A sum of products of f32 values.

    Attributes:
      operation: the operation.
      input, weights: its operands.
      bias: f32, added to the sum along the last dimension; None for none.
      reduced: dimensions of the weights that are summed over.
    """

    operation: ir.Operation
    input: ir.Value
    weights: ir.Value
    bias: ir.Value | None
    reduced: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The rank of the result."""
        return ir.RankedTensorType(self.operation.results[0].type).rank

    @property
    def result_type(self) -> ir.RankedTensorType:
        """The type of the integer result."""
        shape = ir.RankedTensorType(self.operation.results[0].type).shape
        return ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(32))

    @abc.abstractmethod
    def of_weights(self, values: np.ndarray) -> np.ndarray:
        """Values for the weights, of extent 1 along `reduced`, in the rank of the result, with which they stretch."""

    @abc.abstractmethod
    def build(self, a: TensorArithmetic, input: ir.Value, weights: ir.Value, input_zp: int, weight_zp: int) -> ir.Value:
        """The i32 sum of products of i8 (or i16) tensors, the input padded with its zero point.

        With `takes_zero_points`, of the products of their differences to the zero points.
        """

    @property
    @abc.abstractmethod
    def takes_zero_points(self) -> bool:
        """Whether the operation that `build` makes subtracts zero points."""

    @abc.abstractmethod
    def sum_of_input(self, a: TensorArithmetic, input: ir.Value, input_zp: int) -> ir.Value:
        """Sums of the integer input, less its zero point, over what is summed, i32 and in the rank of the result."""

    @property
    @abc.abstractmethod
    def sums_input(self) -> bool:
        """Whether `sum_of_input` can be built."""

    @property
    @abc.abstractmethod
    def pads(self) -> bool:
        """Whether the input is padded."""

    @property
    def terms(self) -> int:
        """Number of products in a sum."""
        shape = ir.RankedTensorType(self.weights.type).shape
        return math.prod(shape[d] for d in self.reduced)


class Product(Contraction):
    """A matrix product: every row of the input, along its last dimension, with every column of the weights."""

    @property
    def sums_input(self) -> bool:
        return True

    @abc.abstractmethod
    def of_input(self, a: TensorArithmetic, values: ir.Value) -> ir.Value:
        """Values for the rows of the input, of which the last dimension is 1, in the rank of the result."""

    @abc.abstractmethod
    def sum_of_weights(self, a: TensorArithmetic, weights: ir.Value) -> ir.Value:
        """Sums of integer weights over what is summed, i32 and in the rank of the result."""


class Dialect(abc.ABC):
    """Operations of a dialect that the patterns look for.

    Attributes:
      contractions: names of operations that `match_contraction` may take.
      movements: names of operations that `match_movement` may take.
      arithmetic: how to build others.
      has_f64: whether it computes in f64.
      concatenation: name of the operation that joins the groups of a convolution; None where one operation has groups.
    """

    contractions: Sequence[str]
    movements: Sequence[str]
    arithmetic: TensorArithmetic
    has_f64: bool
    concatenation: str | None = None

    @abc.abstractmethod
    def match_contraction(self, operation: ir.Operation) -> Contraction | None:
        """The contraction of f32 tensors that an operation is."""

    @abc.abstractmethod
    def match_movement(self, operation: ir.Operation) -> Movement | None:
        """The movement that an operation is."""

    @abc.abstractmethod
    def match_clamp(self, operation: ir.Operation) -> tuple[ir.Value, float, float] | None:
        """Operand and bounds, which may be infinite, of `minimum(maximum(x, low), high)`."""

    @abc.abstractmethod
    def match_add(self, operation: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
        """The operands of an addition of f32 tensors, without what broadcasts them."""

    @abc.abstractmethod
    def add_float_bias(self, value: ir.Value, bias: ir.Value) -> ir.Value:
        """The sum of an f32 tensor and the bias that a contraction has as an operand."""

    @abc.abstractmethod
    def add_bias(self, accumulator: ir.Value, bias: np.ndarray) -> ir.Value:
        """The sum of an i32 tensor and constants, i32 and in its rank, that stretch."""

    @abc.abstractmethod
    def check_rescale(self, multiplier: np.ndarray, shift: int, greatest: int) -> None:
        """Refuses what the dialect cannot express, before anything is built.

        Raises:
          NoMatch: there is no such rescale.
        """

    @abc.abstractmethod
    def rescale(
        self,
        accumulator: ir.Value,
        multiplier: np.ndarray,
        shift: int,
        zero_point: int,
        bounds: tuple[int, int],
        storage: ir.IntegerType,
        greatest: int,
    ) -> ir.Value:
        """`clamp(rescale(accumulator, multiplier, shift) + zero_point, *bounds)`; see `numerics.rescale`.

        Args:
          multiplier: 0-d, or in the rank of the accumulator, with which it stretches.
          storage: signless type of the result, which is signed.
          greatest: no accumulator is greater in magnitude.
        """
