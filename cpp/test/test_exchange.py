# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both torq-opt read what the other writes, and print the same."""

import subprocess
from pathlib import Path

import pytest

MODULES = sorted((Path(__file__).parents[2] / "test" / "dialects").rglob("*ops.mlir"))


def run(command, source):
    return subprocess.run(command, input=source, capture_output=True, check=True).stdout


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_text_and_bytecode(tools, path):
    source = path.read_bytes()
    python, cpp = run(tools["python"], source), run(tools["cpp"], source)
    # Names of several results are in the definitions, and C++ alone prints them.
    assert run(tools["python"], cpp) == python
    assert run(tools["cpp"], python) == cpp
    assert run(tools["cpp"], run([*tools["python"], "--emit-bytecode"], source)) == cpp
    # Of the versions of bytecode, 5 is the first with properties, which a dialect registered at run time does not have.
    assert run(tools["python"], run([*tools["cpp"], "--emit-bytecode", "--emit-bytecode-version=4"], source)) == python


def test_dialects_are_registered(tools):
    shown = run([*tools["cpp"], "--show-dialects"], b"").decode()
    assert {"torq_hl", "quantized_decomposed", "linalg", "tensor", "arith", "func"} <= set(
        shown.replace(",", " ").split()
    )
