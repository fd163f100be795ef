# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frozen dataclasses to what JSON has and back. Fields that are empty by default, and are empty, are left out."""

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Any

# JSON has no numbers for these.
_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def encode(value: Any) -> Any:
    """`value`, of dataclasses, tuples, mappings and scalars, as objects, lists and scalars of JSON."""
    if dataclasses.is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {field.name: encode(content) for field, content in pairs if content or content != _default(field)}
    if isinstance(value, Mapping):
        return {key: encode(content) for key, content in value.items()}
    if isinstance(value, tuple | list):
        return [encode(content) for content in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _default(field: dataclasses.Field) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def decode(type_: Any, value: Any) -> Any:
    """The inverse of `encode`, for JSON that the schema has accepted. Fields that the dataclass lacks are ignored."""
    if dataclasses.is_dataclass(type_):
        hints = _hints(type_)
        return type_(**{name: decode(hints[name], content) for name, content in value.items() if name in hints})
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (types.UnionType, typing.Union):
        return _decode_union(arguments, value)
    if origin is tuple:
        return tuple(decode(arguments[0], content) for content in value)
    if origin is Mapping:
        return {key: decode(arguments[1], content) for key, content in value.items()}
    if type_ is float:
        return _NOT_FINITE[value] if isinstance(value, str) else float(value)
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        return type_(value)
    return value


def _decode_union(arguments: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    others = [each for each in arguments if each is not types.NoneType]
    if len(others) == 1:
        return decode(others[0], value)
    return tuple(value) if isinstance(value, list) else value


@functools.cache
def _hints(type_: type) -> dict[str, Any]:
    return typing.get_type_hints(type_)
