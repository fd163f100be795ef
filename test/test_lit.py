# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lit tests, a directory at a time so that pytest's workers share them."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DIRECTORIES = sorted(
    {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.mlir") if "Output" not in path.parts}
)


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_lit(directory):
    # Tests of subdirectories are those of another case.
    files = sorted(path for path in (TESTS / directory).iterdir() if path.suffix == ".mlir")
    command = [sys.executable, "-m", "lit.main", "-v", "-j1", *files]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
