# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands and functions that docs/gen-config.md and README.md show are there."""

import ast
import inspect
import re
import shlex
from pathlib import Path

import pytest

from torq_mlir import gen_config
from torq_mlir.tools import torq_gen_config

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "gen-config.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^(?:\$ | {4})?torq-gen-config ([a-z]+ .*)$", (PAGE + README).replace("\\\n", " "), re.MULTILINE)
(PYTHON,) = re.findall(r"```python\n(from torq_mlir import gen_config\n.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("command", sorted(set(SHOWN)))
def test_commands(command):
    arguments = shlex.split(command)
    assert torq_gen_config._parser().parse_args(arguments).function


def test_all_commands_are_shown():
    assert {command.split()[0] for command in SHOWN} >= {"discover", "view", "edit", "run"}


def test_functions():
    calls = [node for node in ast.walk(ast.parse(PYTHON)) if isinstance(node, ast.Call)]
    used = {node.func.attr: node for node in calls if isinstance(node.func, ast.Attribute)}
    assert used.keys() == {"ModelOptions", "DiscoverOptions", "discover", "edit", "view", "run"}
    for name, call in used.items():
        known = inspect.signature(getattr(gen_config, name)).parameters
        assert {keyword.arg for keyword in call.keywords} <= set(known), name
