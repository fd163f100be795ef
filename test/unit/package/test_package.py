# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as it is installed, against what the repository says."""

import importlib.metadata
import tomllib
from pathlib import Path

import pytest

from torq_mlir import _generated

ROOT = Path(__file__).parents[3]
GENERATED = Path(_generated.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize(
    ("generated", "kept"),
    [
        ("TorqHL.md", "dialects/TorqHL.md"),
        ("QuantizedDecomposed.md", "dialects/QuantizedDecomposed.md"),
        ("passes.md", "passes.md"),
    ],
)
def test_documentation_is_that_of_the_definitions(generated, kept):
    assert (ROOT / "docs" / kept).read_text() == (GENERATED / generated).read_text(), "run: make docs"


def test_build_requirements_are_those_of_the_development_environment():
    """`make venv` builds without isolation, so the environment must hold what an isolated build would."""
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])


def test_commands_are_installed():
    commands = {entry.name: entry.value for entry in importlib.metadata.entry_points(group="console_scripts")}
    assert PROJECT["project"]["scripts"].items() <= commands.items()
    for target in PROJECT["project"]["scripts"].values():
        assert callable(importlib.metadata.EntryPoint("command", target, "console_scripts").load())


def test_core_needs_neither_torch_nor_torchao():
    core = [requirement for requirement in importlib.metadata.requires("torq-mlir") if "extra ==" not in requirement]
    names = sorted(requirement.split(">")[0].split("<")[0].split("=")[0].strip() for requirement in core)
    command = ["jinja2", "jsonschema", "pebble", "rich"]  # torq-gen-config
    assert names == sorted(["ml_dtypes", "numpy", "onnx", "onnxruntime", "packaging", "torch-mlir", *command])
