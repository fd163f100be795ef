# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ODS says about an operation: its operands, attributes and results with their constraints.

The generated modules `torq_mlir._generated.<dialect>` consist of these descriptions.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch_mlir import ir


class InvalidOperationError(ValueError):
    """An operation does not follow its definition. The text continues "'<operation>' op"."""


class Constraint(NamedTuple):
    """A predicate on an attribute or type, with the words that describe what satisfies it."""

    summary: str
    holds: Callable[[Any], bool]


class Value(NamedTuple):
    """An operand or result. `variadicity` is "single", "optional" or "variadic"; at most one is not single."""

    name: str
    constraint: Constraint
    variadicity: str


class Attribute(NamedTuple):
    """An attribute. `kind` is a key of `build_attribute`; `default` is what an absent attribute stands for."""

    name: str
    constraint: Constraint
    kind: str
    optional: bool
    default: Any

    @property
    def required(self) -> bool:
        return not self.optional and self.default is None


class Operation(NamedTuple):
    """An operation; `name` includes the dialect."""

    name: str
    summary: str
    operands: tuple[Value, ...]
    attributes: tuple[Attribute, ...]
    results: tuple[Value, ...]
    pure: bool


class Dialect(NamedTuple):
    """A dialect and its operations."""

    name: str
    operations: tuple[Operation, ...]


_BUILDERS: dict[str, Callable[[Any], ir.Attribute]] = {
    "bool": lambda value: ir.BoolAttr.get(value),
    "i8": lambda value: ir.IntegerAttr.get(ir.IntegerType.get_signless(8), value),
    "i32": lambda value: ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value),
    "i64": lambda value: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value),
    "f32": lambda value: ir.FloatAttr.get_f32(value),
    "f64": lambda value: ir.FloatAttr.get_f64(value),
    "array<i32>": lambda value: ir.DenseI32ArrayAttr.get(list(value)),
    "array<i64>": lambda value: ir.DenseI64ArrayAttr.get(list(value)),
    "string": lambda value: ir.StringAttr.get(value),
    "type": lambda value: ir.TypeAttr.get(value),
    "unit": lambda value: ir.UnitAttr.get(),
}


def build_attribute(kind: str, value: Any) -> ir.Attribute:
    """The attribute of `kind` for a Python value, in the current context. Attributes pass through."""
    return value if isinstance(value, ir.Attribute) else _BUILDERS[kind](value)


def array_values(attribute: ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr) -> tuple[int, ...]:
    """The elements of a dense array; by index, which is several times faster than the iterator of the bindings."""
    return tuple([attribute[index] for index in range(len(attribute))])


_PYTHON_VALUES: dict[type, Callable[[ir.Attribute], Any]] = {
    ir.UnitAttr: lambda attribute: True,
    ir.DenseI32ArrayAttr: array_values,
    ir.DenseI64ArrayAttr: array_values,
    **dict.fromkeys((ir.BoolAttr, ir.FloatAttr, ir.IntegerAttr, ir.StringAttr, ir.TypeAttr), lambda each: each.value),
}


def python_value(attribute: ir.Attribute) -> Any:
    """The Python value of an attribute: bool, int, float, str, tuple of int, ir.Type, or True for a unit."""
    return _PYTHON_VALUES[type(attribute)](attribute)


def absent_value(declared: Attribute) -> Any:
    """What the absence of an attribute means."""
    return False if declared.kind == "unit" else declared.default


def attribute_values(op: ir.OpView | ir.Operation, definition: Operation) -> dict[str, Any]:
    """The declared attributes of `op` as Python values: the default when absent, None or False when optional."""
    present = op.operation.attributes
    return {
        declared.name: python_value(present[declared.name]) if declared.name in present else absent_value(declared)
        for declared in definition.attributes
    }


def group(what: str, values: Sequence, definitions: tuple[Value, ...]) -> dict[str, Any]:
    """Operands or results by name: one value, None for an absent optional one, a tuple for a variadic one.

    Args:
      what: "operand" or "result".

    Raises:
      InvalidOperationError: the number of values does not fit.
    """
    if len(values) == len(definitions) and all(each.variadicity != "variadic" for each in definitions):
        return {definition.name: value for definition, value in zip(definitions, values, strict=True)}
    least = sum(each.variadicity == "single" for each in definitions)
    surplus = len(values) - least
    _check_number(what, len(values), surplus, definitions)
    grouped: dict[str, Any] = {}
    remaining = iter(values)
    for definition in definitions:
        size = 1 if definition.variadicity == "single" else surplus
        part = tuple(itertools.islice(remaining, size))
        grouped[definition.name] = part if definition.variadicity == "variadic" else next(iter(part), None)
    return grouped


def _check_number(what: str, found: int, surplus: int, definitions: tuple[Value, ...]) -> None:
    """Raises in the words that MLIR has for it."""
    least = found - surplus
    position, flexible = next(
        ((index, each.variadicity) for index, each in enumerate(definitions) if each.variadicity != "single"),
        (0, "single"),
    )
    if flexible == "single" and surplus:
        one = {"operand": "requires a single operand", "result": "requires one result"}
        several = {"operand": f"expected {least} operands, but found {found}", "result": f"expected {least} results"}
        raise InvalidOperationError((one if least == 1 else several)[what])
    if surplus < 0:
        raise InvalidOperationError(f"expected {least} or more {what}s, but found {found}")
    if flexible == "optional" and surplus > 1:
        group = f"{what} group starting at #{position}"
        raise InvalidOperationError(f"{group} requires 0 or 1 element, but found {surplus}")
