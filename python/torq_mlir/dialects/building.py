# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common part of the builders and op classes of the dialects: attributes in the form that the ODS asks for."""

import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from torch_mlir import ir

from torq_mlir.dialects import ods


def build_attributes(definition: ods.Operation, values: Mapping[str, Any]) -> dict[str, ir.Attribute]:
    """Attributes of an operation. Those that have their default, or are absent (None, False for a unit), are omitted.

    Raises:
      TypeError: a required attribute is missing, or there is one that the operation does not have.
    """
    unknown = values.keys() - {declared.name for declared in definition.attributes}
    if unknown:
        raise TypeError(f"{definition.name} has no attribute {', '.join(sorted(unknown))}")
    attributes = {}
    for declared in definition.attributes:
        absent = ods.absent_value(declared)
        value = values.get(declared.name, absent)
        if declared.required and value is None:
            raise TypeError(f"{definition.name} requires attribute {declared.name}")
        if declared.required or (value is not None and value != absent):
            attributes[declared.name] = ods.build_attribute(declared.kind, value)
    return attributes


def name_operands(
    name: str, definitions: Sequence[ods.Value], operands: Sequence[ir.Value], keywords: MutableMapping[str, Any]
) -> dict[str, ir.Value | None]:
    """Operands by name, from positional ones and those taken out of `keywords`. No operand is variadic.

    Raises:
      TypeError: an operand is missing, or there are too many.
    """
    if len(operands) > len(definitions):
        raise TypeError(f"{name} takes {len(definitions)} operands besides init, but {len(operands)} were given")
    named = dict(zip((definition.name for definition in definitions), operands, strict=False))
    for definition in definitions[len(operands) :]:
        named[definition.name] = keywords.pop(definition.name, None)
        if named[definition.name] is None and definition.variadicity == "single":
            raise TypeError(f"{name} requires operand {definition.name}")
    return named


def described(
    build: Callable, definition: ods.Operation, operands: Sequence[ods.Value], preset: Mapping[str, Any]
) -> Callable:
    """Gives a builder the name, the documentation and the signature of its operation."""
    parameter = inspect.Parameter
    parameters = [
        parameter(
            each.name,
            parameter.POSITIONAL_OR_KEYWORD,
            default=parameter.empty if each.variadicity == "single" else None,
        )
        for each in operands
    ]
    for declared in definition.attributes:
        default = preset.get(declared.name, parameter.empty if declared.required else ods.absent_value(declared))
        parameters.append(parameter(declared.name, parameter.KEYWORD_ONLY, default=default))
    own = inspect.signature(build).parameters.values()
    parameters += [each for each in own if each.kind is parameter.KEYWORD_ONLY]
    build.__signature__ = inspect.Signature(parameters)
    build.__name__ = build.__qualname__ = definition.name.partition(".")[2]
    build.__doc__ = definition.summary
    return build


def read_defaults(classes: Iterable[type], operations: Mapping[str, ods.Operation]) -> None:
    """Lets the accessors of op classes read an absent attribute as its default; the generated ones raise KeyError."""
    for op_class in classes:
        for declared in operations[op_class.OPERATION_NAME].attributes:
            if declared.default is not None:
                setattr(op_class, declared.name, _with_default(op_class, declared))


def _with_default(op_class: type, declared: ods.Attribute) -> property:
    generated = getattr(op_class, declared.name)

    def read(self: ir.OpView) -> ir.Attribute:
        if declared.name in self.operation.attributes:
            return self.operation.attributes[declared.name]
        with self.operation.context:
            return ods.build_attribute(declared.kind, declared.default)

    return property(read, generated.fset, generated.fdel, generated.__doc__)
