# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the installed package has for C++ projects. `make test-cpp` builds one."""

import importlib.metadata
import re
import subprocess
from pathlib import Path

import mlir
import pytest

import torq_mlir

ROOT = Path(__file__).parents[3]
TOOLS = Path(next(iter(mlir.__path__)))


def run_tblgen(generator, source):
    includes = [f"-I{torq_mlir.get_include()}", f"-I{TOOLS / 'include'}"]
    command = [TOOLS / "bin" / "mlir-tblgen", generator, *includes, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("dialect", "generated_class"), [("TorqHL", "Conv2DOp"), ("QuantizedDecomposed", "QuantizePerTensorOp")]
)
def test_tablegen_reads_installed_definitions(dialect, generated_class):
    source = f'include "torq_mlir/Dialect/{dialect}/{dialect}Ops.td"'
    assert f"class {generated_class} : public ::mlir::Op<" in run_tblgen("-gen-op-decls", source)


def test_definitions_of_others_can_use_the_constraints():
    source = """
include "torq_mlir/Dialect/TorqHL/TorqHL.td"
def Other_Dialect : Dialect { let name = "other"; }
def Other_PackOp : Op<Other_Dialect, "pack", [Pure]> {
  let arguments = (ins TorqHL_Weights:$weights, TorqHL_Pad4:$pad);
}
"""
    assert "class PackOp : public ::mlir::Op<" in run_tblgen("-gen-op-decls", source)


def test_installed_files_are_those_of_the_repository():
    include = Path(torq_mlir.get_include())
    definitions = {path.relative_to(ROOT / "dialects"): path for path in (ROOT / "dialects").rglob("*.td")}
    assert definitions
    for name, path in definitions.items():
        assert (include / "torq_mlir" / "Dialect" / name).read_text() == path.read_text(), "run: make venv"
    sources = Path(torq_mlir.get_cmake_dir()).with_name("cpp")
    for path in (ROOT / "cpp" / "lib").iterdir():
        assert (sources / "lib" / path.name).read_text() == path.read_text(), "run: make venv"


def test_version_of_the_cmake_package():
    text = (Path(torq_mlir.get_cmake_dir()) / "TorqMLIRConfigVersion.cmake").read_text()
    assert re.search(r'set\(PACKAGE_VERSION "(.*)"\)', text)[1] == importlib.metadata.version("torq-mlir")
