# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No change of layout stays between two operations that agree."""

import numpy as np
import pytest

import torq_mlir
from e2e.compiled import Compiled
from e2e.models.catalog import quantized_model
from e2e.structure import body, function_of, in_own_layout, in_source_layout


@pytest.mark.parametrize("variant", ["qdq-per-channel", "qdq-u8"])
def test_transposes_stay_at_the_borders(variant):
    compiled = Compiled(quantized_model("channels_last", variant))
    names = [operation.name for operation in body(function_of(compiled.module))]
    computing = [name for name in names if name.startswith("torq_hl.")]
    assert computing.count("torq_hl.transpose") == 2
    assert computing[0] == computing[-1] == "torq_hl.transpose"
    assert {"torq_hl.add", "torq_hl.conv2d", "torq_hl.mul", "torq_hl.table"} <= set(computing)


def test_both_executors_give_the_same():
    model = quantized_model("channels_last", "qdq-per-channel")
    x = np.random.default_rng(0).normal(size=(1, 5, 6, 3)).astype(np.float32)
    first, second = (torq_mlir.compile(model, backend=backend)(x)[0] for backend in ("interpreter", "jit"))
    assert np.array_equal(first, second)


def test_layouts_are_permutations_of_the_model():
    compiled = Compiled(quantized_model("channels_last", "qdq-per-channel"))
    moved = [each for each in body(function_of(compiled.module)) if "torq_hl.layout" in each.attributes]
    values = np.arange(8 * 5 * 6).reshape(1, 8, 5, 6)
    assert moved
    for operation in moved:
        in_model = in_source_layout(operation, values)
        assert in_model.shape == (1, 5, 6, 8)
        assert np.array_equal(in_own_layout(operation, in_model), values)
