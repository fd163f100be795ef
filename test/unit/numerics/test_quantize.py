# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize: definition, bounds and special values."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from torq_mlir.numerics.quantize import dequantize, quantize

float32s = st.floats(width=32, allow_nan=False)
scales = st.floats(min_value=2.0**-126, max_value=2.0**100, width=32)
INT8 = (-128, 127, np.int8)


@given(float32s, scales, st.integers(-128, 127), st.booleans())
@example(2.5, 1.0, 0, True)
@example(-2.5, 1.0, 0, False)
@example(float("inf"), 1.0, 5, False)
@example(float("-inf"), 1.0, 5, True)
def test_one_value(x, scale, zero_point, divide):
    x, scale = np.float32(x), np.float32(scale)
    with np.errstate(all="ignore"):
        scaled = x / scale if divide else x * (np.float32(1) / scale)
    if np.isinf(scaled):
        expected = 127 if scaled > 0 else -128
    else:
        expected = min(max(round(Fraction(float(scaled))) + zero_point, -128), 127)
    assert quantize(x, scale, zero_point, *INT8, divide=divide).tolist() == expected


@given(st.data(), st.sampled_from([np.int8, np.uint8, np.int16, np.uint16]))
def test_range_narrower_than_the_storage_type(data, dtype):
    limits = np.iinfo(dtype)
    low = data.draw(st.integers(limits.min, limits.max))
    high = data.draw(st.integers(low, limits.max))
    x = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_side=0), elements=st.floats(-1e6, 1e6, width=32)))
    q = quantize(x, 0.5, low, low, high, dtype)
    assert q.dtype == dtype
    assert q.shape == x.shape
    assert ((q >= low) & (q <= high)).all()
    assert q.tolist() == np.clip(np.rint(x.astype(np.float64) * 2) + low, low, high).astype(dtype).tolist()


def test_reciprocal_and_division_differ_near_ties():
    scale = np.float32(0.037)
    x = (np.arange(-1000, 1000) + 0.5).astype(np.float32) * scale
    by_reciprocal = quantize(x, scale, 0, -(2**15), 2**15 - 1, np.int16)
    by_division = quantize(x, scale, 0, -(2**15), 2**15 - 1, np.int16, divide=True)
    assert np.abs(by_reciprocal.astype(int) - by_division).max() == 1


@given(st.data())
def test_channels_are_quantized_alone(data):
    x = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=1), elements=st.floats(-100, 100, width=32)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    channels = x.shape[axis]
    scale = data.draw(hnp.arrays(np.float32, channels, elements=st.floats(2.0**-7, 8, width=32)))
    zero_point = data.draw(hnp.arrays(np.int8, channels))
    divide = data.draw(st.booleans())
    q = quantize(x, scale, zero_point, *INT8, axis=axis, divide=divide)
    restored = dequantize(q, scale, zero_point, axis=axis)
    for channel in range(channels):
        of_channel = q.take(channel, axis)
        expected = quantize(x.take(channel, axis), scale[channel], zero_point[channel], *INT8, divide=divide)
        assert of_channel.tolist() == expected.tolist()
        expected = dequantize(of_channel, scale[channel], zero_point[channel])
        assert restored.take(channel, axis).tolist() == expected.tolist()


@given(st.sampled_from([np.float16, ml_dtypes.bfloat16]), st.data(), st.booleans())
def test_half_precision_is_computed_in_float32(dtype, data, divide):
    x = np.array(data.draw(st.lists(st.floats(-100, 100), max_size=8)), dtype=dtype)
    scale = np.float32(0.037)
    expected = quantize(x.astype(np.float32), scale, 3, *INT8, divide=divide)
    assert quantize(x, scale, 3, *INT8, divide=divide).tolist() == expected.tolist()


def test_nan_is_zero_as_in_torch_and_the_least_value_as_in_onnx():
    x = np.array([np.nan, 1.0], dtype=np.float32)
    assert quantize(x, 1.0, 3, *INT8).tolist() == [0, 4]
    assert quantize(x, 1.0, 3, *INT8, divide=True).tolist() == [-128, 4]
    assert quantize(x, 1.0, 3, 1, 255, np.uint8, divide=True).tolist() == [1, 4]


def test_scale_of_zero_and_denormal_scale():
    x = np.array([0.0, 1e-40, -1.0], dtype=np.float32)
    for scale in (np.float32(0.0), np.float32(1e-40)):  # both have an infinite reciprocal in float32
        assert quantize(x, scale, 3, *INT8).tolist() == [0, 127, -128]
    assert quantize(x, np.float32(1e-40), 3, *INT8, divide=True).tolist() == [3, 4, -128]
    assert dequantize(np.int8([2, 0]), np.float32(1e-40), 0).tolist() == [2 * float(np.float32(1e-40)), 0.0]


def test_int32_bound_saturates():
    x = np.array([3e9, -3e9, 5.0], dtype=np.float32)
    assert quantize(x, 1.0, 0, -(2**31), 2**31 - 1, np.int32).tolist() == [2**31 - 1, -(2**31), 5]


def test_scalars_and_empty_arrays():
    assert quantize(np.float32(1.0), 0.5, 0, *INT8).shape == ()
    assert quantize(np.zeros((0, 3), np.float32), np.ones(3, np.float32), np.zeros(3, int), *INT8, axis=1).shape == (
        0,
        3,
    )
    assert dequantize(np.zeros((2, 0), np.int8), np.ones(0, np.float32), None, axis=1).shape == (2, 0)


@given(hnp.arrays(np.int8, hnp.array_shapes()), scales, st.integers(-128, 127))
def test_dequantize_rounds_once_in_float32(q, scale, zero_point):
    with np.errstate(over="ignore"):
        expected = [np.float32(float(scale) * (int(value) - zero_point)) for value in q.flat]
    result = dequantize(q, np.float32(scale), zero_point)
    assert result.dtype == np.float32
    assert result.ravel().tolist() == [float(value) for value in expected]


@given(hnp.arrays(np.int8, st.integers(0, 8)), st.floats(2.0**-7, 8, width=32), st.integers(-128, 127))
def test_quantize_inverts_dequantize(q, scale, zero_point):
    x = dequantize(q, np.float32(scale), zero_point)
    for divide in (False, True):
        assert quantize(x, np.float32(scale), zero_point, *INT8, divide=divide).tolist() == q.tolist()


def test_per_channel_zero_points_of_int8_do_not_wrap():
    q = np.array([[-128, 127]], dtype=np.int8)
    assert dequantize(q, np.float32([1.0]), np.int8([127]), axis=0).tolist() == [[-255.0, 0.0]]


def test_errors():
    x = np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match=r"range \[0, 255\] is not a range of int8"):
        quantize(x, 1.0, 0, 0, 255, np.int8)
    with pytest.raises(ValueError, match=r"range \[1, 0\]"):
        quantize(x, 1.0, 0, 1, 0, np.int8)
    with pytest.raises(ValueError, match="2 scales for 3 channels"):
        quantize(x, np.ones(2), np.zeros(2, int), *INT8, axis=1)
    with pytest.raises(ValueError, match="2 zero points for 3 channels"):
        dequantize(x.astype(np.int8), np.ones(3), np.zeros(2, int), axis=1)
    with pytest.raises(ValueError, match="axis 2 is out of range for rank 2"):
        quantize(x, np.ones(3), 0, *INT8, axis=2)
    with pytest.raises(ValueError, match="need an axis"):
        dequantize(x.astype(np.int8), np.ones(3), 0)
    with pytest.raises(TypeError, match="not int64"):
        quantize(np.zeros(2, int), 1.0, 0, *INT8)
    with pytest.raises(TypeError, match="not float32"):
        dequantize(x, 1.0, 0)
