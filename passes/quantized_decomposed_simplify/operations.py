# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantize or dequantize operation and its parameters."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types

QUANTIZE = "quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor", "quantized_decomposed.dequantize_per_channel"


class QuantizationOp:
    """Accessors of the four operations."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.input = operation.operands[0]
        self.result = operation.results[0]

    @property
    def storage(self) -> ir.IntegerType:
        """Integer type, with its sign, of the quantized values."""
        return ir.IntegerType(ir.TypeAttr(self.operation.attributes["dtype"]).value)

    @property
    def axis(self) -> int | None:
        """The channel axis, not negative; None when per tensor."""
        if "axis" not in self.operation.attributes:
            return None
        axis, shape = ir.IntegerAttr(self.operation.attributes["axis"]).value, tensor_types.shape(self.input.type)
        return axis if axis >= 0 or shape is None else axis + len(shape)

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The range of the quantized values; None when only known at run time."""
        attributes = self.operation.attributes
        if "quant_min" not in attributes or "quant_max" not in attributes:
            return None
        return ir.IntegerAttr(attributes["quant_min"]).value, ir.IntegerAttr(attributes["quant_max"]).value

    def constants(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Scale and zero point, if both are constant."""
        scale, zero_point = (elements.constant_value(value) for value in list(self.operation.operands)[1:3])
        if scale is None or zero_point is None:
            return None
        if self.storage.is_unsigned and zero_point.dtype == np.dtype(f"int{max(8, self.storage.width)}"):
            zero_point = zero_point.view(f"uint{zero_point.dtype.itemsize * 8}")  # signless on builtin tensors
        return scale, zero_point

    def rebuild(self, value: ir.Value, axis: int | None) -> ir.Value:
        """The operation on another value, with its channels along `axis`, at the current insertion point."""
        element = tensor_types.element_type(self.result.type)
        attributes = {name: self.operation.attributes[name] for name in self.operation.attributes}
        if axis is not None:
            attributes["axis"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)
        operands = [value, *list(self.operation.operands)[1:]]
        result = tensor_types.with_element(value.type, element)
        return ir.Operation.create(
            self.operation.name, [result], operands, attributes, loc=self.operation.location
        ).result

    def has_parameters_of(self, other: "QuantizationOp") -> bool:
        """Whether two operations quantize with the same scale, zero point, axis and storage type."""
        if self.storage != other.storage or self.axis != other.axis:
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
