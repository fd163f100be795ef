# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantize or dequantize operation and its parameters."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, tensor_types

QUANTIZE = "quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor", "quantized_decomposed.dequantize_per_channel"
QUANTIZE_GROUPS = "quantized_decomposed.quantize_per_token", "quantized_decomposed.quantize_per_channel_group"
DEQUANTIZE_GROUPS = "quantized_decomposed.dequantize_per_token", "quantized_decomposed.dequantize_per_channel_group"


class QuantizationOp:
    """Accessors of a quantize or dequantize of any granularity."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.input = operation.operands[0]
        self.result = operation.results[0]

    @property
    def storage(self) -> ir.IntegerType:
        """Integer type, with its sign, of the quantized values."""
        return ir.IntegerType(ir.TypeAttr(self.operation.attributes["dtype"]).value)

    @property
    def parameters(self) -> list[ir.Value]:
        """Scale and, if there is one, zero point."""
        return list(self.operation.operands)[1:3]

    @property
    def axis(self) -> int | None:
        """The axis of channels or groups, not negative; None when per tensor or per token."""
        attributes, shape = self.operation.attributes, tensor_types.shape(self.input.type)
        if "axis" not in attributes and "group_size" not in attributes:
            return None
        axis = ir.IntegerAttr(attributes["axis"]).value if "axis" in attributes else -1
        return axis if axis >= 0 or shape is None else axis + len(shape)

    @property
    def group_size(self) -> int | None:
        """Elements along the axis that share a parameter; None when there are no groups."""
        attributes = self.operation.attributes
        return ir.IntegerAttr(attributes["group_size"]).value if "group_size" in attributes else None

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The range of the quantized values; None when only known at run time."""
        attributes = self.operation.attributes
        if "quant_min" not in attributes or "quant_max" not in attributes:
            return None
        return ir.IntegerAttr(attributes["quant_min"]).value, ir.IntegerAttr(attributes["quant_max"]).value

    def constants(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Scale and zero point, if both are constant."""
        values = [elements.constant_value(value) for value in self.parameters]
        if any(value is None for value in values):
            return None
        scale, zero_point = values if len(values) == 2 else (values[0], np.zeros(values[0].shape, np.int8))
        if self.storage.is_unsigned and zero_point.dtype == np.dtype(f"int{max(8, self.storage.width)}"):
            zero_point = zero_point.view(f"uint{zero_point.dtype.itemsize * 8}")  # signless on builtin tensors
        return scale, zero_point

    def rebuild(self, value: ir.Value, axis: int | None, parameters: Sequence[ir.Value] | None = None) -> ir.Value:
        """The operation on another value, with its channels along `axis`, at the current insertion point.

        Args:
          parameters: scale and zero point, its own ones when omitted.
        """
        element = tensor_types.element_type(self.result.type)
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        if axis is not None:
            attributes["axis"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)
        own = list(self.operation.operands)[1:]
        operands = [value, *(own if parameters is None else [*parameters, *own[len(parameters) :]])]
        result = tensor_types.with_element(value.type, element)
        return ir.Operation.create(
            self.operation.name, [result], operands, attributes, loc=self.operation.location
        ).result

    def rebuild_per_tensor(self, value: ir.Value, parameters: Sequence[ir.Value]) -> ir.Value:
        """A dequantize per channel as one per tensor, of another value, at the current insertion point."""
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes if name != "axis"}
        result = tensor_types.with_element(value.type, tensor_types.element_type(self.result.type))
        return ir.Operation.create(
            DEQUANTIZE[0], [result], [value, *parameters], attributes, loc=self.operation.location
        ).result

    def has_parameters_of(self, other: "QuantizationOp") -> bool:
        """Whether two operations quantize with the same scale, zero point, axis, group size and storage type."""
        if self.storage != other.storage or self.axis != other.axis or self.group_size != other.group_size:
            return False
        if list(self.operation.operands)[1:3] == list(other.operation.operands)[1:3]:
            return True
        own, others = self.constants(), other.constants()
        if own is None or others is None:
            return False
        return all(
            np.array_equal(mine.reshape(-1), theirs.reshape(-1)) for mine, theirs in zip(own, others, strict=True)
        )


def defining_op(value: ir.Value, names: tuple[str, ...]) -> ir.Operation | None:
    """The operation that defines `value`, if it has one of the names."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in names:
        return None
    return value.owner.operation


def constant_like(array: np.ndarray, value: ir.Value) -> ir.Value:
    """A constant of the element type of `value` and on the same level, at the current insertion point."""
    attribute = elements.from_numpy(array, tensor_types.element_type(value.type))
    if not tensor_types.is_torch_tensor(value.type):
        return arith.constant(None, attribute)
    result = tensor_types.torch_tensor(array.shape, tensor_types.element_type(value.type))
    return elements.torch_literal(attribute, result)
