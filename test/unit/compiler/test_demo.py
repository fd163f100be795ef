# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make demo` runs, and its table says what it should."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the demo trains with PyTorch")
def test_demo():
    command = [sys.executable, "-m", "demo"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for operation in ("conv2d", "depthwise_conv2d", "add", "maxpool2d", "avg_pool2d", "fully_connected"):
        assert f'"torq_hl.{operation}"' in output
    accuracy = {name: float(share) for name, share in re.findall(r"^(\w+, [\w -]+?) +([\d.]+)%", output, re.MULTILINE)}
    assert list(accuracy) == ["float, ONNX Runtime", "int8, ONNX Runtime", "int8, torq-mlir"]
    assert min(accuracy.values()) > 95
    assert abs(accuracy["int8, torq-mlir"] - accuracy["int8, ONNX Runtime"]) < 0.5
    same, images = map(int, re.search(r"the same digit for (\d+) of (\d+) images", output).groups())
    assert images == 540
    assert same >= 0.99 * images
    assert int(re.search(r"quantization, (\d+) by more\.", output)[1]) <= 0.01 * 10 * images
