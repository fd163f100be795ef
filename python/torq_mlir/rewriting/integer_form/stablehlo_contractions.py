# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions in StableHLO, whose operations have no zero points and pad with 0."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from torq_mlir.rewriting.structured import element_type, integer_type
from torq_mlir.rewriting.tensor_arithmetic import TensorArithmetic

from .dialect import Contraction, Product


@dataclass(frozen=True)
class _Convolution(Contraction):
    @property
    def takes_zero_points(self) -> bool:
        return False

    @property
    def _dimensions(self) -> _stablehlo.ConvDimensionNumbers:
        return _stablehlo.ConvDimensionNumbers(self.operation.attributes["dimension_numbers"])

    def _per_spatial(self, name: str, otherwise: int) -> list[int]:
        count = len(self._dimensions.input_spatial_dimensions)
        attributes = self.operation.attributes
        return list(ir.DenseI64ArrayAttr(attributes[name])) if name in attributes else [otherwise] * count

    def _padding(self) -> np.ndarray:
        """Low and high padding of each spatial dimension, of shape [n, 2]."""
        attributes = self.operation.attributes
        if "padding" not in attributes:
            return np.zeros((len(self._dimensions.input_spatial_dimensions), 2), np.int64)
        return np.array([int(v) for v in ir.DenseIntElementsAttr(attributes["padding"])]).reshape(-1, 2)

    @property
    def pads(self) -> bool:
        return bool(self._padding().any()) or any(size != 1 for size in self._per_spatial("lhs_dilation", 1))

    def of_weights(self, values: np.ndarray) -> np.ndarray:
        shape = [1] * self.rank
        shape[self._dimensions.output_feature_dimension] = -1
        return values.reshape(shape)

    @property
    def sums_input(self) -> bool:
        """Zero points of weights are in the weights, which may have 16 bits."""
        return False

    def sum_of_input(self, a: TensorArithmetic, input: ir.Value, input_zp: int) -> ir.Value:
        raise NotImplementedError

    def build(self, a: TensorArithmetic, input: ir.Value, weights: ir.Value, input_zp: int, weight_zp: int) -> ir.Value:
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        attributes.pop("precision_config", None)
        if input_zp and self.pads:
            input = self._padded(a, input, input_zp)
            attributes.pop("padding", None)
            attributes.pop("lhs_dilation", None)
        return ir.Operation.create(self.operation.name, [self.result_type], [input, weights], attributes).result

    def _padded(self, a: TensorArithmetic, input: ir.Value, value: int) -> ir.Value:
        """The input with `value` around and, where it is dilated, between its elements."""
        shape = list(ir.RankedTensorType(input.type).shape)
        low, high, interior = ([0] * len(shape) for _ in range(3))
        spatial = zip(
            self._dimensions.input_spatial_dimensions,
            self._padding(),
            self._per_spatial("lhs_dilation", 1),
            strict=True,
        )
        for dimension, (before, after), dilation in spatial:
            low[dimension], high[dimension], interior[dimension] = int(before), int(after), dilation - 1
            size = shape[dimension]
            shape[dimension] = low[dimension] + size + (size - 1) * interior[dimension] + high[dimension]
        element = element_type(input)
        attributes = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
        return ir.Operation.create(
            "stablehlo.pad",
            [ir.RankedTensorType.get(shape, element)],
            [input, a.splat(value, element, 0)],
            {name: ir.DenseI64ArrayAttr.get(values) for name, values in attributes.items()},
        ).result


def match_convolution(operation: ir.Operation) -> Contraction | None:
    """A convolution of f32 tensors of static shape."""
    if ir.IntegerAttr(operation.attributes["batch_group_count"]).value != 1:
        return None
    input, weights = operation.operands
    dimensions = _stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    rank = ir.RankedTensorType(weights.type).rank
    reduced = tuple(d for d in range(rank) if d != dimensions.kernel_output_feature_dimension)
    return _Convolution(operation, input, weights, None, reduced)


@dataclass(frozen=True)
class _DotGeneral(Product):
    """A product with batch dimensions in front, which the rows of the input follow, and the columns of the weights.

    Attributes:
      batches: number of batch dimensions that both operands have; those that repeat the weights are rows.
      columns: dimensions of the weights that are of the result.
    """

    batches: int
    columns: tuple[int, ...]

    @property
    def takes_zero_points(self) -> bool:
        return False

    @property
    def pads(self) -> bool:
        return False

    def _weight_extents(self, shape: tuple[int, ...]) -> list[int]:
        rows = self.rank - self.batches - len(self.columns)
        return [*shape[: self.batches], *[1] * rows, *(shape[d] for d in self.columns)]

    def of_weights(self, values: np.ndarray) -> np.ndarray:
        return values.reshape(self._weight_extents(values.shape))

    def of_input(self, a: TensorArithmetic, values: ir.Value) -> ir.Value:
        shape = ir.RankedTensorType(values.type).shape
        return a.reshape(values, [*shape[:-1], *[1] * len(self.columns)])

    def sum_of_input(self, a: TensorArithmetic, input: ir.Value, input_zp: int) -> ir.Value:
        last = ir.RankedTensorType(input.type).rank - 1
        total = self.of_input(a, a.reduce_sum(a.extend(input, integer_type(32)), [last]))
        return a.subtract(total, self.terms * input_zp) if input_zp else total

    def sum_of_weights(self, a: TensorArithmetic, weights: ir.Value) -> ir.Value:
        total = a.reduce_sum(a.extend(weights, integer_type(32)), list(self.reduced))
        return a.reshape(total, self._weight_extents(tuple(ir.RankedTensorType(total.type).shape)))

    def build(self, a: TensorArithmetic, input: ir.Value, weights: ir.Value, input_zp: int, weight_zp: int) -> ir.Value:
        last = ir.RankedTensorType(input.type).rank - 1
        batches = list(range(self.batches))
        numbers = _stablehlo.DotDimensionNumbers.get(batches, batches, [last], list(self.reduced))
        attributes = {"dot_dimension_numbers": numbers}
        return ir.Operation.create(self.operation.name, [self.result_type], [input, weights], attributes).result


def match_dot_general(operation: ir.Operation) -> Contraction | None:
    """A product of f32 tensors of static shape that contracts the last dimension of the input."""
    input, weights = operation.operands
    numbers = _stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    batching = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    contracting = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    batches = list(range(len(batching[0])))
    if batching != (batches, batches) or contracting[0] != [ir.RankedTensorType(input.type).rank - 1]:
        return None
    (reduced,) = contracting[1]
    repeated = _before_repetition(weights, len(batches))
    if repeated is not None:
        weights, reduced, batches = repeated, reduced - len(batches), []
    rank = ir.RankedTensorType(weights.type).rank
    columns = tuple(d for d in range(len(batches), rank) if d != reduced)
    return _DotGeneral(operation, input, weights, None, (reduced,), len(batches), columns)


def _before_repetition(weights: ir.Value, batches: int) -> ir.Value | None:
    """Weights before they are repeated along all of the batch dimensions and nothing else."""
    if not batches or isinstance(weights.owner, ir.Block):
        return None
    operation = weights.owner.operation
    if operation.name != "stablehlo.broadcast_in_dim":
        return None
    source, result = (ir.RankedTensorType(value.type) for value in (operation.operands[0], weights))
    dimensions = list(ir.DenseI64ArrayAttr(operation.attributes["broadcast_dimensions"]))
    keeps_others = dimensions == list(range(batches, result.rank)) and source.shape == result.shape[batches:]
    return operation.operands[0] if keeps_others else None
