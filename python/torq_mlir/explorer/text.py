# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes, types, constants and regions of operations as short text."""

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, ods, tensor_types

# Elements above which a constant is described instead of printed.
ELISION_LIMIT = 16
# Characters and lines above which a text is cut off.
_LONGEST_TEXT, _LONGEST_BODY = 200, 40
_CONSTANTS = ("arith.constant", "stablehlo.constant", "torch.vtensor.literal", "tosa.const", "onnx.Constant")
_EMPTY = ("tensor.empty", "torch.constant.none")
_LISTS = ("torch.prim.ListConstruct", "torch.prim.TupleConstruct")


def operator_name(operation: ir.Operation) -> str:
    """The name of an operation; of a `torch.operator` that of the operator, such as "onnx.Conv"."""
    if operation.name == "torch.operator" and "name" in operation.attributes:
        return ir.StringAttr(operation.attributes["name"]).value
    return operation.name


def attribute(value: ir.Attribute) -> str:
    """An attribute, without the types of numbers; a constant of many elements is described."""
    match value:
        case ir.StringAttr():
            return _cut(value.value)
        case ir.UnitAttr():
            return "true"
        case ir.BoolAttr():
            return str(value.value).lower()
        case ir.IntegerAttr() | ir.FloatAttr():
            return _number(value.value)
        case ir.DenseI32ArrayAttr() | ir.DenseI64ArrayAttr():
            return _cut(str(list(ods.array_values(value))))
        case ir.ArrayAttr():
            return _cut(f"[{', '.join(map(attribute, value))}]")
    if isinstance(value, ir.DenseElementsAttr) and not value.is_splat and len(value) > ELISION_LIMIT:
        return f"constant {type_(value.type)}"
    return _cut(str(value))


def type_(type_: ir.Type) -> str:
    """Element type and shape: "i8 1x16x8x8"."""
    described = tensor_types.describe(type_)
    return f"{element(type_)} {dimensions(type_)}".rstrip() if described.shape != () else str(described.element)


def element(type_: ir.Type) -> str:
    described = tensor_types.describe(type_)
    return "unknown" if described.element is None else str(described.element)


def dimensions(type_: ir.Type) -> str:
    """The shape: "1x16x8x8", "?" for a dimension that is not known, "*" without a rank."""
    shape = tensor_types.shape(type_)
    return "*" if shape is None else "x".join("?" if size is None else str(size) for size in shape)


def numbers(array: np.ndarray) -> str:
    """One number, all of a few, or the range of many."""
    if array.size == 1:
        return _number(array.reshape(-1)[0])
    if array.size <= ELISION_LIMIT:
        return f"[{', '.join(map(_number, array.reshape(-1)))}]"
    return f"{array.size} values, {_number(array.min())} to {_number(array.max())}"


def is_constant(operation: ir.Operation) -> bool:
    """Whether an operation has the same result in each run, whatever the inputs, and computes nothing."""
    name = operator_name(operation)
    if name in _LISTS:
        return all(
            not isinstance(value.owner, ir.Block) and is_constant(value.owner.operation) for value in operation.operands
        )
    return name in _EMPTY or name.startswith("torch.constant.") or name in _CONSTANTS


def constant(value: ir.Value) -> str | None:
    """The value of a constant: of a tensor with many elements what `numbers` says; None for what is not constant."""
    if isinstance(value.owner, ir.Block) or not is_constant(value.owner.operation):
        return None
    operation = value.owner.operation
    if operation.name in _LISTS:
        return f"[{', '.join(constant(each) or '' for each in operation.operands)}]"
    if operation.name in _EMPTY:
        return "none" if operation.name == _EMPTY[1] else f"empty {type_(value.type)}"
    array = constant_array(value)
    if array is None:  # a string or a device, or a resource whose data was left out
        return (
            attribute(operation.attributes["value"])
            if "value" in operation.attributes
            else f"constant {type_(value.type)}"
        )
    return numbers(array) if array.size <= ELISION_LIMIT else f"constant {type_(value.type)}"


def constant_array(value: ir.Value) -> np.ndarray | None:
    """The constant that defines a value, a tensor or one number."""
    if isinstance(value.owner, ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in ("torch.constant.int", "torch.constant.float", "torch.constant.bool"):
        return np.asarray(operation.attributes["value"].value)
    return elements.constant_value(value)


def body(operation: ir.Operation) -> str:
    """The operations in the regions of an operation, one on a line."""
    lines = [line for region in operation.regions for line in _region(region, "", {})]
    more = len(lines) - _LONGEST_BODY
    return "\n".join([*lines[:_LONGEST_BODY], *([f"... {more} more"] if more > 0 else [])])


def _region(region: ir.Region, indent: str, names: dict[ir.Value, str]) -> Iterator[str]:
    for block in region.blocks:
        for argument in block.arguments:
            names[argument] = f"%arg{len(names)}"
        if len(block.arguments):
            yield f"{indent}({', '.join(f'{names[each]}: {type_(each.type)}' for each in block.arguments)})"
        for each in block.operations:
            nested = each.operation
            operands = ", ".join(_operand(value, names) for value in nested.operands)
            for result in nested.results:
                names[result] = f"%{len(names)}"
            results = ", ".join(names[result] for result in nested.results)
            texts = " ".join(
                f"{name}={attribute(nested.attributes[name])}" for name in nested.attributes if name != "fastmath"
            )
            left = f"{results} = " if results else ""
            yield " ".join(part for part in (f"{indent}{left}{operator_name(nested)}", operands, texts) if part)
            for inner in nested.regions:
                yield from _region(inner, f"{indent}  ", names)


def _operand(value: ir.Value, names: dict[ir.Value, str]) -> str:
    return names.get(value) or constant(value) or "%outer"


def _number(value: np.generic) -> str:
    return f"{value:.9g}" if isinstance(value, float | np.floating) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
