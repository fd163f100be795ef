# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of PyTorch operators in the IR, with their arguments by name.

An operator that the torch dialect has is an operation of its own, another one is `torch.operator "torch.<name>"`; the
operands are the same, one for each parameter of the schema.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.predicates import is_storage_type
from torq_mlir.dialects.tensor_types import Shape
from torq_mlir.passes import PassFailure

_PREFIX = "torch."
_CONSTANTS = frozenset({"torch.constant.bool", "torch.constant.float", "torch.constant.int", "torch.constant.str"})

# Element types by the number that stands for a `torch.dtype` in the IR.
_ELEMENT_TYPES = {0: "ui8", 1: "si8", 2: "si16", 3: "si32", 4: "si64", 5: "f16", 6: "f32", 7: "f64", 11: "i1"} | {
    15: "bf16",
    27: "ui16",
}


def operator_name(operation: ir.Operation) -> str:
    """Namespace, name and overload of the PyTorch operator that an operation calls, such as `aten.add.Tensor`."""
    name = operation.name
    if name == "torch.operator":
        name = ir.StringAttr(operation.attributes["name"]).value
    return name.removeprefix(_PREFIX)


class Call:
    """A call of a PyTorch operator.

    Accessors raise PassFailure, after an error at the call, where the argument is not what they are for.
    """

    def __init__(self, operation: ir.Operation, parameters: Sequence[str]) -> None:
        """Name the operands of `operation` by `parameters`, those of the operator's schema."""
        self.operation = operation
        self.name = operator_name(operation)
        if len(operation.operands) != len(parameters):
            raise self.failure(f"has {len(operation.operands)} operands where the operator has {len(parameters)}")
        self._arguments = dict(zip(parameters, operation.operands, strict=True))

    def failure(self, message: str) -> PassFailure:
        """Emit an error at the call, to be raised."""
        self.operation.location.emit_error(f"{self.name}: {message}")
        return PassFailure()

    def has(self, parameter: str) -> bool:
        """Whether the operator has the parameter and the argument is not None."""
        return parameter in self._arguments and not _is_none(self._arguments[parameter].type)

    def value(self, parameter: str) -> ir.Value:
        """An argument as it is: a tensor, or a scalar that need not be constant."""
        if not self.has(parameter):
            raise self.failure(f"'{parameter}' is None")
        return self._arguments[parameter]

    def optional_value(self, parameter: str) -> ir.Value | None:
        """An argument as it is, if it is not None."""
        return self.value(parameter) if self.has(parameter) else None

    def constant(self, parameter: str) -> bool | float | int | str:
        """The value of a constant scalar."""
        value = self.value(parameter)
        constant = _scalar_constant(value)
        if constant is None:
            raise self.failure(f"'{parameter}' is not constant")
        return constant

    def integer(self, parameter: str) -> int:
        """The value of a constant that is integral, whether it is written as one or as a float."""
        constant = self.constant(parameter)
        if isinstance(constant, str) or constant != int(constant):
            raise self.failure(f"'{parameter}' is {constant}; an integer is needed")
        return int(constant)

    def integers(self, parameter: str) -> list[int]:
        """The values of a list of constant integers."""
        owner = self.value(parameter).owner
        operands = [] if isinstance(owner, ir.Block) else owner.operation.operands
        values = [_scalar_constant(operand) for operand in operands]
        if isinstance(owner, ir.Block) or owner.operation.name != "torch.prim.ListConstruct" or None in values:
            raise self.failure(f"'{parameter}' is not a list of constants")
        return [int(value) for value in values]

    def element_type(self, parameter: str) -> ir.Type:
        """The element type that a dtype argument stands for."""
        number = self.integer(parameter)
        if number not in _ELEMENT_TYPES:
            raise self.failure(f"'{parameter}' is the scalar type {number} of PyTorch, which is not supported")
        return ir.Type.parse(_ELEMENT_TYPES[number])

    def optional_element_type(self, parameter: str) -> ir.Type | None:
        """The element type that a dtype argument stands for, if it is not None."""
        return self.element_type(parameter) if self.has(parameter) else None

    def storage_type(self, parameter: str) -> ir.IntegerType:
        """The integer type, with its sign, that a dtype argument stands for."""
        element = self.element_type(parameter)
        if not is_storage_type(element):
            raise self.failure(f"'{parameter}' is {element}, which is no type of quantized values")
        return ir.IntegerType(element)

    def shape(self, parameter: str) -> Shape:
        """The shape of a tensor of known rank."""
        shape = tensor_types.shape(self.value(parameter).type)
        if shape is None:
            raise self.failure(f"'{parameter}' has type {self.value(parameter).type}, which has no known rank")
        return shape


def _scalar_constant(value: ir.Value) -> bool | float | int | str | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name not in _CONSTANTS:
        return None
    attribute = owner.operation.attributes["value"]
    if isinstance(attribute, ir.FloatAttr):
        return ir.FloatAttr(attribute).value
    if isinstance(attribute, ir.StringAttr):
        return ir.StringAttr(attribute).value
    return ir.IntegerAttr(attribute).value


def _is_none(type_: ir.Type) -> bool:
    return str(type_) == "!torch.none"


def tensor_constant(array: np.ndarray, element: ir.Type) -> ir.Value:
    """A `torch.vtensor.literal` at the current insertion point; `element` has a sign, as integers of PyTorch do."""
    type_ = tensor_types.torch_tensor(np.shape(array), element)
    attributes = {"value": elements.from_numpy(array, element)}
    return ir.Operation.create("torch.vtensor.literal", [type_], attributes=attributes).result


def scalar(value: bool | float | int | None) -> ir.Value:
    """A constant of the type that PyTorch gives to a Python value, at the current insertion point."""
    context = ir.Context.current
    if value is None:
        return ir.Operation.create("torch.constant.none", [ir.Type.parse("!torch.none")]).result
    if isinstance(value, bool):
        attribute, mnemonic = ir.BoolAttr.get(value), "bool"
    elif isinstance(value, int):
        attribute, mnemonic = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), value), "int"
    else:
        attribute, mnemonic = ir.FloatAttr.get_f64(value), "float"
    type_ = ir.Type.parse(f"!torch.{mnemonic}")
    return ir.Operation.create(f"torch.constant.{mnemonic}", [type_], attributes={"value": attribute}).result


def integer_list(values: Sequence[int]) -> ir.Value:
    """A list of constant integers at the current insertion point."""
    type_ = ir.Type.parse("!torch.list<int>")
    return ir.Operation.create("torch.prim.ListConstruct", [type_], [scalar(value) for value in values]).result


def converted(value: ir.Value, element: ir.Type) -> ir.Value:
    """`value` with elements of another type, as `Tensor.to` gives it."""
    if tensor_types.element_type(value.type) == element:
        return value
    number = next(number for number, name in _ELEMENT_TYPES.items() if name == str(element))
    operands = [value, scalar(number), scalar(False), scalar(False), scalar(None)]
    return ir.Operation.create("torch.aten.to.dtype", [tensor_types.with_element(value.type, element)], operands).result


def reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """`value` in another shape of the same number of elements; a constant stays one."""
    element = tensor_types.element_type(value.type)
    if tensor_types.shape(value.type) == tuple(shape):
        return value
    constant = elements.constant_value(value)
    if constant is not None:
        return tensor_constant(constant.reshape(tuple(shape)), element)
    type_ = tensor_types.torch_tensor(tuple(shape), element)
    return ir.Operation.create("torch.aten.view", [type_], [value, integer_list(shape)]).result


def signed_as(zero_point: ir.Value, dtype: ir.IntegerType) -> ir.Value:
    """Zero points whose sign a signless integer next to values of `dtype` keeps: wider ones are signed."""
    element = tensor_types.element_type(zero_point.type)
    if not isinstance(element, ir.IntegerType) or element.width > dtype.width or element.is_signed == dtype.is_signed:
        return zero_point
    wide = ir.IntegerType.get_signed(64)
    constant = elements.constant_value(zero_point)
    return converted(zero_point, wide) if constant is None else tensor_constant(constant.astype(np.int64), wide)
