# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize per token and per channel group against PyTorch's operators, bit for bit."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from quantized_decomposed_torch import (
    FLOATS,
    STORAGE,
    draw_range,
    floats,
    integers,
    operators,
    same,
    scales,
    to_torch,
)

from torq_mlir.numerics.groups import (
    dequantize_per_channel_group,
    dequantize_per_token,
    quantize_per_channel_group,
    quantize_per_token,
)

few = settings(max_examples=40)

# int8 zero points of int8 values wrap around in PyTorch, and bounds beyond 8 bits are not values of half precision.
ZERO_POINTS = [np.int32, np.int64, *FLOATS]


def zero_points(shape, dtype):
    return integers(shape, dtype, -128, 255) if np.dtype(dtype).kind == "i" else floats(shape, dtype, nan=False)


@st.composite
def groups(draw):
    """Shape of a matrix, its group size, and the shape of the parameters."""
    rows, count, size = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(2, 6))
    longer = draw(st.integers(0, 9)) if count == 1 else 0
    return (rows, count * size), size + longer, (rows, count)


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8]), st.sampled_from(list(FLOATS)), st.sampled_from(ZERO_POINTS), st.data())
def test_quantize_per_token(scale_dtype, dtype, input_dtype, zero_point_dtype, data):
    shape = data.draw(hnp.array_shapes(max_side=6))
    x = data.draw(floats(shape, input_dtype))
    scale = data.draw(scales((*shape[:-1], 1), scale_dtype))
    zero_point = data.draw(zero_points((*shape[:-1], 1), zero_point_dtype))
    low, high = draw_range(data, dtype)
    ours = quantize_per_token(x, scale, zero_point, low, high, dtype)
    parameters = to_torch(scale), to_torch(zero_point)
    same(ours, operators.quantize_per_token(to_torch(x), *parameters, low, high, STORAGE[dtype]))


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from(list(STORAGE)), st.sampled_from(list(FLOATS)), st.sampled_from(ZERO_POINTS), st.data())
def test_dequantize_per_token(scale_dtype, dtype, result_dtype, zero_point_dtype, data):
    shape = data.draw(hnp.array_shapes(max_side=6))
    q = data.draw(integers(shape, dtype))
    scale = data.draw(floats((*shape[:-1], 1), scale_dtype))
    zero_point = data.draw(zero_points((*shape[:-1], 1), zero_point_dtype))
    ours = dequantize_per_token(q, scale, zero_point, dtype=result_dtype)
    bounds = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    parameters = to_torch(scale), to_torch(zero_point), *bounds, STORAGE[dtype], FLOATS[result_dtype]
    if dtype == np.uint16 and np.dtype(zero_point_dtype).kind == "i":
        return  # PyTorch does not promote uint16 with other integers
    same(ours, operators.dequantize_per_token(to_torch(q), *parameters))


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8]), st.sampled_from(list(FLOATS)), st.sampled_from(ZERO_POINTS), st.data())
def test_quantize_per_channel_group(scale_dtype, dtype, input_dtype, zero_point_dtype, data):
    shape, group_size, parameter_shape = data.draw(groups())
    x = data.draw(floats(shape, input_dtype, nan=False))
    scale = data.draw(scales(parameter_shape, scale_dtype))
    zero_point = data.draw(zero_points(parameter_shape, zero_point_dtype))
    low, high = draw_range(data, dtype)
    ours = quantize_per_channel_group(x, scale, zero_point, low, high, dtype, group_size=group_size)
    arguments = to_torch(scale), to_torch(zero_point), low, high, STORAGE[dtype], group_size
    same(ours, operators.quantize_per_channel_group(to_torch(x), *arguments))


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8, np.int16]), st.sampled_from(list(FLOATS)), st.data())
def test_dequantize_per_channel_group(scale_dtype, dtype, result_dtype, data):
    shape, group_size, parameter_shape = data.draw(groups())
    q = data.draw(integers(shape, dtype))
    scale = data.draw(floats(parameter_shape, scale_dtype))
    zero_point_dtype = data.draw(st.sampled_from([None, *ZERO_POINTS]))
    zero_point = None if zero_point_dtype is None else data.draw(zero_points(parameter_shape, zero_point_dtype))
    ours = dequantize_per_channel_group(q, scale, zero_point, group_size=group_size, dtype=result_dtype)
    theirs = operators.dequantize_per_channel_group(
        to_torch(q),
        to_torch(scale),
        None if zero_point is None else to_torch(zero_point),
        int(np.iinfo(dtype).min),
        int(np.iinfo(dtype).max),
        STORAGE[dtype],
        group_size,
        FLOATS[result_dtype],
    )
    same(ours, theirs)


@pytest.mark.parametrize("scale", [0.0, 1e-40, 1e-38, 3e38, np.inf])
def test_extreme_scales(scale):
    x = np.array([[0.0, 1.0, -1.0, 1e-40, 1e-39, np.inf, 3e38, -0.0]] * 2, dtype=np.float32)
    scale, zero_point = np.full((2, 2), scale, np.float32), np.full((2, 2), 3, np.int32)
    arguments = to_torch(scale), to_torch(zero_point), -128, 127, STORAGE[np.int8], 4
    ours = quantize_per_channel_group(x, scale, zero_point, -128, 127, np.int8, group_size=4)
    same(ours, operators.quantize_per_channel_group(to_torch(x), *arguments))


def test_bounds_round_to_half_precision():
    x = np.array([[2000.0, -2000.0]], ml_dtypes.bfloat16)
    scale, zero_point = np.ones((1, 1), ml_dtypes.bfloat16), np.zeros((1, 1), np.int32)
    arguments = to_torch(scale), to_torch(zero_point), -1001, 999, STORAGE[np.int16]
    ours = quantize_per_token(x, scale, zero_point, -1001, 999, np.int16)
    assert ours.tolist() == [[1000, -1000]]
    same(ours, operators.quantize_per_token(to_torch(x), *arguments))


@given(st.data())
def test_the_zero_point_is_added_before_rounding(data):
    """A tie rounds to an even sum, not to an even quotient."""
    quotient, zero_point = data.draw(st.integers(-50, 50)), data.draw(st.integers(-50, 50))
    x, one = np.array([[quotient + 0.5]], np.float32), np.ones((1, 1), np.float32)
    parameters = one, np.full((1, 1), zero_point, np.int64), -128, 127, np.int8
    assert quantize_per_token(x, *parameters).item() == round(quotient + zero_point + 0.5)
    assert quantize_per_token(x, *parameters, round_first=True).item() == round(quotient + 0.5) + zero_point
