# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes of an ONNX model in the IR: `torch.operator "onnx.*"`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.tensor_types import Shape
from torq_mlir.passes import PassFailure

_ATTRIBUTE_PREFIX = "torch.onnx."

# Numbers of TensorProto.DataType, which the onnx package need not be imported for.
ONNX_TYPES = {
    "f32": 1,
    "ui8": 2,
    "si8": 3,
    "ui16": 4,
    "si16": 5,
    "si32": 6,
    "si64": 7,
    "i1": 9,
    "f16": 10,
    "f64": 11,
    "ui32": 12,
    "ui64": 13,
    "bf16": 16,
    "ui4": 21,
    "si4": 22,
}


class TorchTensor(NamedTuple):
    """What a `!torch.vtensor` says."""

    shape: Shape
    element_type: ir.Type


class Node:
    """A `torch.operator` of the ONNX front end."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.op_type = ir.StringAttr(operation.attributes["name"]).value.removeprefix("onnx.")
        self.location = operation.location

    @property
    def input_count(self) -> int:
        return len(self.operation.operands)

    @property
    def result(self) -> ir.Value:
        return self.operation.results[0]

    def input(self, position: int) -> ir.Value | None:
        """The input at a position; None for an optional one that is absent."""
        if position >= self.input_count or is_none(self.operation.operands[position].type):
            return None
        return self.operation.operands[position]

    def integer(self, name: str, default: int) -> int:
        """The value of an integer attribute."""
        name = _ATTRIBUTE_PREFIX + name
        return ir.IntegerAttr(self.operation.attributes[name]).value if name in self.operation.attributes else default

    def real(self, name: str, default: float) -> float:
        """The value of a float attribute."""
        name = _ATTRIBUTE_PREFIX + name
        return ir.FloatAttr(self.operation.attributes[name]).value if name in self.operation.attributes else default

    def attributes(self, dropped: Sequence[str] = ()) -> dict[str, ir.Attribute]:
        """The attributes of the node, for another node."""
        unwanted = {"name", *(_ATTRIBUTE_PREFIX + name for name in dropped)}
        attributes = self.operation.attributes
        return {name: attributes[name] for name in attributes if name not in unwanted}

    def tensor(self, value: ir.Value, what: str) -> TorchTensor:
        """Shape and element type of an operand or result.

        Raises:
          PassFailure: it is no tensor of known rank and element type; an error that calls it `what` has been emitted.
        """
        shape, element_type = tensor_types.shape(value.type), tensor_types.element_type(value.type)
        if not tensor_types.is_torch_tensor(value.type) or shape is None or element_type is None:
            raise self.failure(f"{what} has type {value.type}, which is no tensor of known rank and element type")
        return TorchTensor(shape, element_type)

    def failure(self, message: str) -> PassFailure:
        """Emit an error at the node, to be raised."""
        self.location.emit_error(f"{self.op_type}: {message}")
        return PassFailure()


def is_onnx(operation: ir.Operation) -> bool:
    """Whether an operation stands for a node of an ONNX model."""
    return operation.name == "torch.operator" and ir.StringAttr(operation.attributes["name"]).value.startswith("onnx.")


def is_none(type_: ir.Type) -> bool:
    """Whether a type is `!torch.none`: of an absent input, or of a result whose type is not known."""
    return str(type_) == "!torch.none"


def create_node(
    op_type: str, inputs: Sequence[ir.Value], result_type: ir.Type, attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    """An ONNX operator with one result, at the current insertion point."""
    attributes = {"name": ir.StringAttr.get(f"onnx.{op_type}"), **(attributes or {})}
    return ir.Operation.create("torch.operator", [result_type], list(inputs), attributes).result


def create_constant(array: np.ndarray, element_type: ir.Type) -> ir.Value:
    """A `torch.vtensor.literal` of the array; `element_type` has a sign, as the integers of the torch dialect do."""
    type_ = tensor_types.torch_tensor(np.shape(array), element_type)
    return elements.torch_literal(elements.from_numpy(array, element_type), type_)


def reshape(value: ir.Value, shape: Shape) -> ir.Value:
    """The values in another static shape, at the current insertion point; constants remain constants."""
    if tensor_types.shape(value.type) == tuple(shape):
        return value
    constant, element_type = elements.constant_value(value), tensor_types.element_type(value.type)
    if constant is not None:
        return create_constant(constant.reshape(shape), element_type)
    sizes = create_constant(np.array(shape, np.int64), ir.IntegerType.get_signed(64))
    return create_node("Reshape", [value, sizes], tensor_types.torch_tensor(shape, element_type))


def create_cast(value: ir.Value, element_type: ir.Type) -> ir.Value:
    """The values as another type, at the current insertion point."""
    to = ir.IntegerAttr.get(ir.IntegerType.get_signed(64), ONNX_TYPES[str(element_type)])
    result = tensor_types.with_element(value.type, element_type)
    return create_node("Cast", [value], result, {f"{_ATTRIBUTE_PREFIX}to": to})
