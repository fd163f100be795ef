# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command lines are read as LLVM's tools read them."""

import pytest

from torq_mlir.tools import command_line
from torq_mlir.tools.command_line import Option, UsageError, comma_separated, unsigned

OPTIONS = (
    Option("o", "", str, "-", None),
    Option("fast", "", default=True),
    Option("limit", "", unsigned, None, None),
    Option("marker", "", str, None, "#"),
    Option("names", "", comma_separated, (), None, extends=True),
)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ([], {"o": "-", "fast": True, "limit": None, "marker": None, "names": ()}),
        (["-o", "a", "--fast=0"], {"o": "a", "fast": False}),
        (["--o=a=b", "-fast=TRUE"], {"o": "a=b", "fast": True}),
        (["-fast=0", "--fast"], {"fast": True}),
        (["--limit=3", "-limit", "4"], {"limit": 4}),
        (["--marker"], {"marker": "#"}),
        (["--marker="], {"marker": ""}),
        (["--names=a,b", "-names", "c"], {"names": ("a", "b", "c")}),
        (["-o", "-"], {"o": "-"}),
    ],
)
def test_values(arguments, values):
    parsed = command_line.parse(OPTIONS, arguments)
    assert {name: getattr(parsed, name) for name in values} == values
    assert not parsed.positional
    assert not parsed.flags


def test_positional_arguments_and_flags_keep_their_order():
    parsed = command_line.parse(OPTIONS, ["--b=x=1 y", "in", "-a", "--fast", "-", "--b=", "--", "--fast", "-a"])
    assert parsed.flags == [("b", "x=1 y"), ("a", None), ("b", "")]
    assert parsed.positional == ["in", "-", "--fast", "-a"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-o"], "for the -o option: requires a value!"),
        (["--limit=-1"], "for the --limit option: '-1' value invalid for uint argument!"),
        (["--fast=maybe"], "for the --fast option: 'maybe' is invalid value for boolean argument! Try 0 or 1"),
    ],
)
def test_wrong_values(arguments, reason):
    with pytest.raises(UsageError) as caught:
        command_line.parse(OPTIONS, arguments)
    assert str(caught.value) == reason


def test_unknown_argument():
    error = command_line.unknown_argument("tool", "limt", ["limit", "marker"])
    assert str(error).splitlines() == [
        "Unknown command line argument '--limt'.  Try: 'tool --help'",
        "tool: Did you mean '--limit'?",
    ]
    assert "Did you mean" not in str(command_line.unknown_argument("tool", "zzz", ["limit"]))
