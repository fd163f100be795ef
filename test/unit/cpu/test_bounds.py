# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No kernel reads or writes outside of a buffer."""

import subprocess
import sys
from pathlib import Path

import pytest

from torq_mlir.backends.cpu import machine

PROCESSORS = [each.name for each in machine.available()]
EVERY = [
    pytest.param(name, marks=[pytest.mark.slow] if number else [], id=name) for number, name in enumerate(PROCESSORS)
]


def run(processor: str, side: str, shrink: int = 0) -> subprocess.CompletedProcess:
    command = [sys.executable, Path(__file__).with_name("guarded.py"), processor, side, str(shrink)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("processor", EVERY)
def test_kernels_stay_inside(processor, side):
    result = run(processor, side)
    assert (result.returncode, result.stdout) == (0, "untouched\n"), result.stderr


@pytest.mark.parametrize("side", ["before", "after"])
def test_one_byte_too_few_is_noticed(side):
    assert run(PROCESSORS[0], side, shrink=1).returncode < 0
