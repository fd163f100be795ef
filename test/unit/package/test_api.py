# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/api.md against the code."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import torq_mlir
from torq_mlir import environment
from torq_mlir.tools import torq_compile, torq_gen_config

PAGE = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
# By the name of a module what the page says is public in it.
PUBLIC = {
    name: re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    for name, section in re.findall(r"^## `(torq_mlir[\w.]*)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}


def test_the_page_lists_modules():
    assert {"torq_mlir", "torq_mlir.quantization", "torq_mlir.pytorch", "torq_mlir.backends.iree"} <= PUBLIC.keys()


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_those_of_the_page(module):
    imported = importlib.import_module(module)
    assert sorted(PUBLIC[module]) == sorted(imported.__all__)
    for name in imported.__all__:
        assert getattr(imported, name) is not None


@pytest.mark.parametrize("module", PUBLIC)
def test_the_other_names_of_a_public_module_are_underscored(module):
    imported = importlib.import_module(module)
    own = {
        name
        for name, value in vars(imported).items()
        if not name.startswith("_") and not inspect.ismodule(value) and getattr(value, "__module__", module) == module
    }
    assert own - set(imported.__all__) == set()


def test_versions_are_those_of_a_bug_report():
    versions = torq_mlir.versions()
    packages = {"torq-mlir", "torch-mlir", "numpy", "onnx", "onnxruntime", "ml_dtypes", "torch", "torchao", "openvino"}
    assert (
        packages | {"iree-base-compiler", "iree-base-runtime", "mlir", "python", "platform", "cpu"} <= versions.keys()
    )
    assert versions["torq-mlir"] == torq_mlir.__version__
    assert versions["onnx"] == importlib.import_module("onnx").__version__
    assert re.fullmatch(r"\d+\.\d+\.\w+( \([0-9a-f]{40}\))?", versions["mlir"])
    assert versions["cpu-kernels"] in ("avx512-vnni", "avx-vnni", "avx2", "generic")
    lines = str(versions).splitlines()
    assert lines[0] == f"torq-mlir {torq_mlir.__version__}"
    assert len(lines) == len(versions)


def test_a_package_that_is_not_installed_has_no_version(monkeypatch):
    monkeypatch.setattr(environment, "installed_version", lambda name: None if name == "torch" else "1")
    assert torq_mlir.versions()["torch"] == "not installed"


@pytest.mark.parametrize("tool", [torq_compile, torq_gen_config])
def test_the_commands_print_the_versions(capsys, tool):
    with pytest.raises(SystemExit) as caught:
        tool.main(["--version"])
    assert (caught.value.code, capsys.readouterr().out) == (0, f"{torq_mlir.versions()}\n")
