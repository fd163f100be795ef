# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lit tests, a directory at a time so that pytest's workers share them."""

import collections
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LIT = Path(sys.executable).with_name("lit")


def find_tests() -> dict[str, list[str]]:
    """The tests that lit finds: directory -> files, relative to this one."""
    shown = subprocess.run([LIT, "--show-tests", TESTS], capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(list)
    for line in shown.splitlines():
        _, separator, test = line.partition(" :: ")
        if separator:
            found[str(Path(test).parent)].append(test)
    return dict(found)


DIRECTORIES = find_tests()


def test_lit_finds_tests():
    assert {"dialects/TorqHL", "dialects/QuantizedDecomposed"} <= DIRECTORIES.keys()


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_lit(directory):
    files = [TESTS / test for test in DIRECTORIES[directory]]
    run = subprocess.run([LIT, "-v", "-j1", *files], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
