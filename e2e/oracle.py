# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with the outputs of the vendor's NPU simulator: what is compiled gives the same, bit for bit."""

import functools
from pathlib import Path

import numpy as np
import onnx

from e2e.backends import Backend
from e2e.checks import Report, check_against_reference
from e2e.compiled import Compiled

DIRECTORY = Path(__file__).parents[1] / "test" / "data" / "oracle"
NAMES = (
    "add_diff_scales",
    "avgpool2x2",
    "cnn_mobile_folded",
    "cnn_residual",
    "conv1x1_ties",
    "conv1x1_zp",
    "conv3x3_s2_sym",
    "conv3x3_same_zp",
    "conv3x3_wzp",
    "dw3x3_zp",
    "gemm_batch1",
    "global_avgpool",
    "maxpool2x2_int8",
    "mul_zp",
    "sigmoid",
)


@functools.cache
def _recorded() -> dict[str, np.ndarray]:
    with np.load(DIRECTORY / "oracle.npz") as arrays:
        return dict(arrays)


def check(name: str, backend: Backend) -> Report:
    """Compares a model with ONNX Runtime, and its output with that of the simulator."""
    model = onnx.load(DIRECTORY / f"{name}.onnx")
    sample = {value.name: _recorded()[f"{name}/{value.name}"] for value in model.graph.input}
    report = check_against_reference(model, [sample], frozenset(), backend)
    compiled = Compiled(model)
    executor = backend.names[0]
    outputs = compiled.interpret(sample) if executor == "interpreter" else compiled.execute(sample, executor)
    (actual,), expected = outputs.values(), _recorded()[f"{name}/npu"]
    if not np.array_equal(actual, expected):
        count, step = np.count_nonzero(actual != expected), np.abs(actual.astype(int) - expected).max()
        report.failures.append(f"{count} of {expected.size} elements differ from the NPU, by up to {step}")
    return report
