# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes: declared in Passes.td, implemented in one module each, found by name.

The module of a pass is named as its flag, with underscores, and defines `run(op, **options)`. It is imported when
the pass first runs. A pass that cannot go on reports an error at the location of the op that is the reason and raises
`PassFailure`.
"""

import functools
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch_mlir import ir

from torq_mlir import _generated


class PassFailure(Exception):
    """Ends a pass whose error has been reported as a diagnostic.

    It may be raised in a rewrite pattern, but not in a callback of `Operation.walk`, which makes it a RuntimeError.
    """


class OptionError(ValueError):
    """The text of a pass's options does not fit its declaration."""


def _parse_bool(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
    except KeyError:
        raise ValueError(text) from None


def _parse_unsigned(text: str) -> int:
    if (value := int(text, 0)) < 0:
        raise ValueError(text)
    return value


def _parse_int(text: str) -> int:
    return int(text, 0)


# Types of options as Passes.td spells them: parser, value where no default is declared, and placeholder in help.
_OPTION_TYPES: Mapping[str, tuple[Callable[[str], Any], Any, str]] = {
    "bool": (_parse_bool, False, "bool"),
    "int": (_parse_int, 0, "int"),
    "int64_t": (_parse_int, 0, "int"),
    "unsigned": (_parse_unsigned, 0, "uint"),
    "double": (float, 0.0, "number"),
    "std::string": (str, "", "string"),
}


@dataclass(frozen=True)
class OptionInfo:
    """An option of a pass. `run` gets it as the keyword argument `keyword`."""

    name: str
    type: str
    default: Any
    description: str
    is_list: bool

    @classmethod
    def from_declaration(cls, declared: Mapping[str, Any]) -> "OptionInfo":
        if declared["type"] not in _OPTION_TYPES:
            known = ", ".join(_OPTION_TYPES)
            raise ValueError(f"option {declared['name']} has type {declared['type']}; known types: {known}")
        parse, default, _ = _OPTION_TYPES[declared["type"]]
        if declared["list"]:
            default = ()
        elif declared["default"] is not None:
            default = parse(declared["default"].strip('"'))
        return cls(declared["name"], declared["type"], default, declared["description"], declared["list"])

    @property
    def keyword(self) -> str:
        return self.name.replace("-", "_")

    @property
    def placeholder(self) -> str:
        """What stands for the value in help texts: `int`, or `int,...` for a list."""
        placeholder = _OPTION_TYPES[self.type][2]
        return f"{placeholder},..." if self.is_list else placeholder

    def parse(self, text: str) -> Any:
        """The value that `text` stands for: a tuple for a list.

        Raises:
          OptionError: `text` is no value of the option's type.
        """
        parse_element = _OPTION_TYPES[self.type][0]
        try:
            if self.is_list:
                return tuple(parse_element(element.strip()) for element in text.split(",")) if text else ()
            return parse_element(text)
        except ValueError:
            raise OptionError(f"'{text}' is no value of option {self.name}, which takes {self.placeholder}") from None

    def format(self, value: Any) -> str:
        """`name=value` as the text of a pipeline has it."""
        texts = [
            str(each).lower() if isinstance(each, bool) else str(each) for each in (value if self.is_list else [value])
        ]
        text = ",".join(texts)
        return f"{self.name}={{{text}}}" if not text or any(c in text for c in " '\"{},") else f"{self.name}={text}"


@dataclass(frozen=True)
class PassInfo:
    """A declared pass.

    Attributes:
      name: the flag, without dashes in front.
      operation: name of the op that the pass runs on, or "any".
      dependent_dialects: dialects to load before the pass runs: those of the ops it creates.
    """

    name: str
    summary: str
    description: str
    operation: str
    dependent_dialects: tuple[str, ...]
    options: tuple[OptionInfo, ...]
    implementation: Callable[..., None] | None = None

    @classmethod
    def from_declaration(cls, declared: Mapping[str, Any]) -> "PassInfo":
        return cls(
            name=declared["name"],
            summary=declared["summary"],
            description=declared["description"],
            operation=declared["operation"],
            dependent_dialects=tuple(declared["dependent_dialects"]),
            options=tuple(OptionInfo.from_declaration(option) for option in declared["options"]),
        )

    @property
    def module(self) -> str:
        """Name of the module that implements the pass."""
        return f"{__name__}.{self.name.replace('-', '_')}"

    def load(self) -> Callable[..., None]:
        """Imports the module and returns its `run(op: ir.Operation, **options) -> None`."""
        return self.implementation or importlib.import_module(self.module).run

    def run(self, op: ir.Operation, **options: Any) -> None:
        """Runs the implementation on `op`."""
        self.load()(op, **options)

    def parse_options(self, text: str) -> dict[str, Any]:
        """Keyword arguments of `run` for options as in `{name=1 flag text="a b"}`, without the outer braces.

        Raises:
          OptionError: an option is unknown, or its value is not of its type.
        """
        declared = {option.name: option for option in self.options}
        values = {option.keyword: option.default for option in self.options}
        for name, value in _split_options(text):
            option = declared.get(name)
            if option is None:
                raise OptionError(f"no such option {name}; {self.name} has {', '.join(declared) or 'no options'}")
            if value is None and option.type != "bool":
                raise OptionError(f"option {name} needs a value, {name}={option.placeholder}")
            values[option.keyword] = option.parse("true" if value is None else value)
        return values

    def format(self, values: Mapping[str, Any]) -> str:
        """The pass in the text of a pipeline, with all its options."""
        if not self.options:
            return self.name
        return f"{self.name}{{{' '.join(option.format(values[option.keyword]) for option in self.options)}}}"


_CLOSING = {'"': '"', "'": "'", "{": "}"}


def _split_options(text: str) -> Iterator[tuple[str, str | None]]:
    """Names and values, as MLIR separates them: by spaces, with values that have spaces in quotes or braces."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        start = position
        while position < len(text) and text[position] != "=" and not text[position].isspace():
            position += 1
        name = text[start:position]
        if not text.startswith("=", position):
            yield name, None
            continue
        end = _end_of_value(text, position + 1)
        value = text[position + 1 : end]
        enclosed = len(value) > 1 and _CLOSING.get(value[0]) == value[-1]
        yield name, value[1:-1] if enclosed else value
        position = end


def _end_of_value(text: str, position: int) -> int:
    expected: list[str] = []
    while position < len(text):
        character = text[position]
        if expected and character == expected[-1]:
            expected.pop()
        elif character in _CLOSING and (not expected or expected[-1] == "}"):
            expected.append(_CLOSING[character])
        elif character.isspace() and not expected:
            return position
        position += 1
    if expected:
        raise OptionError(f"missing {expected[-1]} in the options '{text}'")
    return position


@functools.cache
def registry() -> Mapping[str, PassInfo]:
    """The declared passes by name, in alphabetical order."""
    declarations = json.loads(Path(_generated.__file__).with_name("passes.json").read_text(encoding="utf-8"))
    passes = (PassInfo.from_declaration(declared) for declared in declarations)
    return MappingProxyType({info.name: info for info in passes})
