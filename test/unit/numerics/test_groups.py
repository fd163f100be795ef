# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per token and per channel group: against ONNX Runtime's blocks, special values, errors."""

import functools

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper

from torq_mlir.numerics.fake_quantize import fake_quant_per_channel
from torq_mlir.numerics.groups import (
    dequantize_per_channel_group,
    dequantize_per_token,
    quantize_per_channel_group,
    quantize_per_token,
)

INT8 = (-128, 127, np.int8)
STORAGE = [np.int8, np.uint8, np.int16, np.uint16]


@functools.cache
def session(op_type, rank, dtype, axis, block_size):
    """QuantizeLinear or DequantizeLinear with blocks along an axis."""
    stored = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    source, target = (1, stored) if op_type == "QuantizeLinear" else (stored, 1)
    shape = [None] * rank
    inputs = [helper.make_tensor_value_info(*each, shape) for each in (("x", source), ("s", 1), ("z", stored))]
    node = helper.make_node(op_type, ["x", "s", "z"], ["y"], axis=axis, block_size=block_size)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", target, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("dtype", STORAGE)
@settings(max_examples=20)
@given(data=st.data())
def test_blocks_of_onnxruntime(dtype, data):
    rank = data.draw(st.integers(2, 3))  # ONNX Runtime takes one scale for one of the tensor
    parameter_shape = data.draw(hnp.array_shapes(min_dims=rank, max_dims=rank, max_side=4))
    axis = data.draw(st.integers(-rank, rank - 1))
    block_size = data.draw(st.integers(2, 4))
    shape = list(parameter_shape)
    shape[axis] *= block_size
    ties = st.integers(-600, 600).map(lambda value: value / 4)
    x = data.draw(hnp.arrays(np.float32, shape, elements=st.one_of(ties, st.sampled_from([np.inf, -np.inf, 1e30]))))
    scale = data.draw(hnp.arrays(np.float32, parameter_shape, elements=st.floats(2.0**-6, 8, width=32)))
    zero_point = data.draw(hnp.arrays(dtype, parameter_shape))
    limits = np.iinfo(dtype)
    form = {"axis": axis, "group_size": block_size}
    q = quantize_per_channel_group(
        x, scale, zero_point, limits.min, limits.max, dtype, divide=True, round_first=True, **form
    )
    theirs = session("QuantizeLinear", rank, dtype, axis, block_size).run(None, {"x": x, "s": scale, "z": zero_point})
    np.testing.assert_array_equal(q, theirs[0])
    y = dequantize_per_channel_group(q, scale, zero_point, **form)
    theirs = session("DequantizeLinear", rank, dtype, axis, block_size).run(None, {"x": q, "s": scale, "z": zero_point})
    np.testing.assert_array_equal(y, theirs[0])


@pytest.mark.parametrize(("divide", "expected"), [(False, 0), (True, -5)])
def test_nan(divide, expected):
    x, scale = np.float32([[np.nan, 1]]), np.ones((1, 1), np.float32)
    q = quantize_per_channel_group(x, scale, None, -5, 127, np.int8, group_size=2, divide=divide)
    assert q.tolist() == [[expected, 1]]


def test_a_token_is_a_group_of_the_last_axis():
    generator = np.random.default_rng(0)
    x = generator.normal(0, 50, (3, 2, 5)).astype(np.float32)
    scale, zero_point = generator.uniform(0.1, 1, (3, 2, 1)), generator.integers(-9, 9, (3, 2, 1))
    q = quantize_per_token(x, scale, zero_point, *INT8)
    np.testing.assert_array_equal(q, quantize_per_channel_group(x, scale, zero_point, *INT8, group_size=5))
    rows = [quantize_per_token(x[i, j], scale[i, j], zero_point[i, j], *INT8) for i in range(3) for j in range(2)]
    np.testing.assert_array_equal(q.reshape(6, 5), rows)
    y = dequantize_per_channel_group(q, scale, zero_point, group_size=5)
    np.testing.assert_array_equal(dequantize_per_token(q, scale, zero_point), y)


def test_empty():
    x, scale = np.zeros((2, 0), np.float32), np.ones((2, 0), np.float32)
    assert quantize_per_channel_group(x, scale, None, *INT8, group_size=4).shape == (2, 0)
    assert quantize_per_token(np.zeros((0, 3), np.float32), np.ones((0, 1)), None, *INT8).shape == (0, 3)


def test_saturation_beyond_the_bounds_of_half_precision():
    """bfloat16 rounds 32767 to 32768, which int16 does not hold."""
    x, scale = np.array([[1e6, -1e6]], ml_dtypes.bfloat16), np.ones((1, 1), ml_dtypes.bfloat16)
    assert quantize_per_token(x, scale, None, -32768, 32767, np.int16).tolist() == [[32767, -32768]]


ONES = np.ones((2, 4), np.float32)
ERRORS = {
    "integers": (lambda: quantize_per_token(np.ones((2, 4), np.int8), ONES[:, :1], None, *INT8), TypeError, "int8"),
    "range": (lambda: quantize_per_token(ONES, ONES[:, :1], None, -129, 127, np.int8), ValueError, r"\[-129, 127\]"),
    "scales": (lambda: quantize_per_token(ONES, ONES[:1, :1], None, *INT8), ValueError, r"scales .* \(1, 1\)"),
    "zero points": (
        lambda: quantize_per_token(ONES, ONES[:, :1], np.zeros((2, 4), np.int8), *INT8),
        ValueError,
        r"zero points have shape \(2, 4\), expected \(2, 1\)",
    ),
    "group size": (
        lambda: quantize_per_channel_group(ONES, ONES[:, :2], None, *INT8, group_size=3),
        ValueError,
        "groups of 3 do not divide an axis of 4",
    ),
    "axis": (
        lambda: quantize_per_channel_group(ONES, ONES[:, :2], None, *INT8, group_size=2, axis=2),
        ValueError,
        "axis 2 is out of range for rank 2",
    ),
    "scalar": (lambda: quantize_per_token(np.float32(1), np.float32(1), None, *INT8), ValueError, "rank 0"),
    "floats": (lambda: dequantize_per_token(ONES, ONES[:, :1], None), TypeError, "float32"),
    "fake float16": (
        lambda: fake_quant_per_channel(ONES.astype(np.float16), ONES[0], np.zeros(4, np.int8), 1, 0, 1),
        TypeError,
        "float16",
    ),
    "fake scales": (
        lambda: fake_quant_per_channel(ONES, ONES[0], np.zeros(4, np.int8), 0, 0, 1),
        ValueError,
        r"scales have shape \(4,\), expected \(2,\)",
    ),
    "fake axis": (
        lambda: fake_quant_per_channel(ONES, ONES[0], np.zeros(4, np.int8), 2, 0, 1),
        ValueError,
        "axis 2 is out of range",
    ),
}


@pytest.mark.parametrize("what", ERRORS)
def test_errors(what):
    call, error, message = ERRORS[what]
    with pytest.raises(error, match=message):
        call()
