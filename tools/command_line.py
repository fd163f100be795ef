# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command lines as LLVM's tools read them.

An option is `-name` or `--name`; its value follows `=`, or is the next argument where a value is always needed. What is
no option of the tool is kept in order: it may be the flag of a pass.
"""

import difflib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


class UsageError(Exception):
    """The command line is wrong; the text says how."""


class InputError(Exception):
    """A file cannot be read or written, or the passes do not fit together; the text is the whole message."""


def boolean(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
    except KeyError:
        raise ValueError(f"'{text}' is invalid value for boolean argument! Try 0 or 1") from None


def unsigned(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"'{text}' value invalid for uint argument!")
    return int(text)


def comma_separated(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


@dataclass(frozen=True)
class Option:
    """An option of a tool.

    Attributes:
      name: as on the command line, without dashes.
      help: what it does.
      parse: the value of a text; its ValueError says what is wrong with the text.
      default: value when the option is absent.
      implicit: text of the value when there is no `=`; None if the value is then the next argument.
      placeholder: what stands for the value in help.
      extends: several occurrences add up instead of replacing each other.
    """

    name: str
    help: str
    parse: Callable[[str], Any] = boolean
    default: Any = False
    implicit: str | None = "true"
    placeholder: str = ""
    extends: bool = False

    @property
    def attribute(self) -> str:
        return self.name.replace("-", "_")

    @property
    def usage(self) -> str:
        if not self.placeholder:
            return self.flag
        value = f"=<{self.placeholder}>"
        return f"{self.flag}{value if self.implicit is None else f'[{value}]'}"

    @property
    def flag(self) -> str:
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name}"


class Arguments:
    """The values of options as attributes, and what else the command line has.

    Attributes:
      positional: arguments that are no options.
      flags: names and values of unknown options, in order; None for a value that is not given.
    """

    def __init__(self, options: Iterable[Option]):
        self.positional: list[str] = []
        self.flags: list[tuple[str, str | None]] = []
        for option in options:
            setattr(self, option.attribute, option.default)

    def set(self, option: Option, text: str) -> None:
        """Sets the value of an option.

        Raises:
          UsageError: `text` is no value of the option.
        """
        try:
            value = option.parse(text)
        except ValueError as error:
            raise UsageError(f"for the {option.flag} option: {error}") from None
        if option.extends:
            value = getattr(self, option.attribute) + value
        setattr(self, option.attribute, value)


def parse(options: Sequence[Option], arguments: Sequence[str]) -> Arguments:
    """Reads a command line without the name of the tool.

    Raises:
      UsageError: a value is missing or wrong.
    """
    known = {option.name: option for option in options}
    result = Arguments(options)
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            result.positional.extend(remaining)
            break
        if argument == "-" or not argument.startswith("-"):
            result.positional.append(argument)
            continue
        name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
        option = known.get(name)
        if option is None:
            result.flags.append((name, value if equals else None))
            continue
        if not equals:
            value = option.implicit if option.implicit is not None else next(remaining, None)
        if value is None:
            raise UsageError(f"for the {option.flag} option: requires a value!")
        result.set(option, value)
    return result


def unknown_argument(tool: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for an option that nobody knows."""
    text = f"Unknown command line argument '--{name}'.  Try: '{tool} --help'"
    similar = difflib.get_close_matches(name, known, n=1)
    return UsageError(text + (f"\n{tool}: Did you mean '--{similar[0]}'?" if similar else ""))


_WIDTH = 100
_COLUMN = 46


def format_entry(usage: str, text: str, indent: int = 2) -> str:
    """An option and its help in two columns."""
    head = " " * indent + usage
    lines = textwrap.wrap(text, _WIDTH - _COLUMN - 2, break_on_hyphens=False) or [""]
    rest = "".join(f"\n{' ' * _COLUMN}  {line}" for line in lines[1:])
    separator = f"\n{' ' * _COLUMN}" if len(head) >= _COLUMN else " " * (_COLUMN - len(head))
    return f"{head}{separator}- {lines[0]}{rest}"
