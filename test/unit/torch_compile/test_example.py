# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example of docs/pytorch.md runs, and prints what it should: a model that torchao has quantized, on integers."""

import re
import runpy
import warnings
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "pytorch" / "quantized_network.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_example(capsys, fallbacks):
    with warnings.catch_warnings():
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    output = capsys.readouterr().out
    quantized, of_float, in_float = map(float, re.findall(r"(\S+) from PyTorch", output))
    assert quantized < 1e-1  # one step of the output's quantization
    assert of_float < 1e-1
    assert in_float < 1e-5
    assert "a module: TorqModule(images: float32[4x1x8x8] -> output: float32[4x10])" in output
    assert "the same bits: True" in output
    for operation in ("conv2d", "maxpool2d", "fully_connected"):
        assert f"torq_hl.{operation}" in output
    assert fallbacks() == []
