# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The integer form of a layer gives the bits that the NPU simulator gave, in TOSA and in StableHLO."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from lowering import TARGETS, convert, execute

from torq_mlir import pipelines
from torq_mlir.importing import import_model

DIRECTORY = Path(__file__).parents[2] / "data" / "oracle"
LAYERS = (
    "conv1x1_ties",
    "conv1x1_zp",
    "conv3x3_s2_sym",
    "conv3x3_same_zp",
    "conv3x3_wzp",
    "dw3x3_zp",
    "gemm_batch1",
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, target):
    model = onnx.load(DIRECTORY / f"{name}.onnx")
    with np.load(DIRECTORY / "oracle.npz") as recorded:
        inputs = [recorded[f"{name}/{value.name}"] for value in model.graph.input]
        expected = recorded[f"{name}/npu"]
    module = import_model(model).module
    pipelines.run(module, f"torq-onnx-to-{target}")
    convert(module, target, fuse=True)
    np.testing.assert_array_equal(execute(module, target, inputs)[0], expected)
