# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling and means against loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_reference import arrays, outputs, pair, scale_biases

from torq_mlir.backends.interpreter.kernels import argmax, avg_pool2d, maxpool2d, reduce, reduce_mean

IDENTITY = np.int8([1]), np.int32([0, 1])


@given(st.data())
def test_maxpool2d(data):
    kernel = [data.draw(st.integers(1, 3)) for _ in range(2)]
    stride = [data.draw(st.integers(1, 3)) for _ in range(2)]
    left, right, top, bottom = pad = [data.draw(st.integers(0, 2)) for _ in range(4)]
    height = data.draw(st.integers(max(1, kernel[0] - top - bottom), 5))
    width = data.draw(st.integers(max(1, kernel[1] - left - right), 5))
    x = data.draw(arrays(np.int8, (1, 2, height, width)))
    input_zp = data.draw(st.sampled_from([-128, 5]))
    low, high = sorted(data.draw(st.tuples(*[st.integers(-128, 127)] * 2)))
    rows, columns = (
        (height + top + bottom - kernel[0]) // stride[0] + 1,
        (width + left + right - kernel[1]) // stride[1] + 1,
    )
    expected = np.zeros((1, 2, rows, columns), np.int64)
    for n, c, i, j in np.ndindex(expected.shape):
        values = []
        for u, v in itertools.product(range(kernel[0]), range(kernel[1])):
            row, column = i * stride[0] + u - top, j * stride[1] + v - left
            inside = 0 <= row < height and 0 <= column < width
            values.append(int(x[n, c, row, column]) if inside else input_zp)
        expected[n, c, i, j] = min(max(*values, low, -128), high)
    attributes = {"input_zp": input_zp, "output_min": low, "output_max": high}
    y = maxpool2d(np.empty(expected.shape, np.int8), *IDENTITY, x, stride=stride, pad=pad, kernel=kernel, **attributes)
    assert y.dtype == np.int8
    assert y.tolist() == expected.tolist()


def test_maxpool2d_is_of_integers_and_has_no_scale():
    x = np.zeros((1, 1, 2, 2), np.int8)
    attributes = {"input_zp": -128, "output_min": -128, "output_max": 127, "stride": (1, 1), "pad": (0,) * 4}
    attributes["kernel"] = (1, 1)
    with pytest.raises(ValueError, match=r"weights \[2\]"):
        maxpool2d(x, np.int8([2]), IDENTITY[1], x, **attributes)
    with pytest.raises(TypeError, match="integers"):
        maxpool2d(x.astype(np.float32), *IDENTITY, x.astype(np.float32), **attributes)


@given(st.data())
def test_avg_pool2d(data):
    x = data.draw(arrays(np.int8, hnp.array_shapes(min_dims=4, max_dims=4, max_side=4)))
    batch, _, _, channels = x.shape
    scale_bias, output = data.draw(scale_biases(1)), data.draw(outputs())
    bias, multiplier = pair(scale_bias, 0)
    expected = np.zeros((batch, 1, 1, channels), np.int64)
    for n, c in itertools.product(range(batch), range(channels)):
        total = sum(int(value) for value in x[n, :, :, c].flat)
        expected[n, 0, 0, c] = output.of(total + bias, multiplier)
    init = np.empty(expected.shape, np.int8)
    y = avg_pool2d(init, np.int8([1]), scale_bias, x, input_zp=3, **output.attributes())
    assert y.tolist() == expected.tolist()


@given(st.data())
def test_reduce_mean(data):
    x = data.draw(arrays(np.int8, hnp.array_shapes(max_side=4)))
    scale_bias, output = data.draw(scale_biases(1)), data.draw(outputs())
    bias, multiplier = pair(scale_bias, 0)
    expected = np.zeros((*x.shape[:-1], 1), np.int64)
    for index in np.ndindex(x.shape[:-1]):
        expected[*index, 0] = output.of(sum(int(value) for value in x[index]) + bias, multiplier)
    init = np.empty(expected.shape, np.int8)
    y = reduce_mean(init, np.int8([1]), scale_bias, x, input_zp=3, **output.attributes())
    assert y.tolist() == expected.tolist()


def test_means_have_no_weights():
    x = np.zeros((1, 2, 2, 1), np.int8)
    attributes = {"input_zp": 0, "output_zp": 0, "output_min": -128, "output_max": 127, "shift_factor": 0}
    with pytest.raises(ValueError, match=r"weights \[3\] of a mean"):
        avg_pool2d(x[:, :1, :1], np.int8([3]), IDENTITY[1], x, **attributes)


@given(st.data())
def test_reduce(data):
    x = data.draw(arrays(data.draw(st.sampled_from([np.int8, np.int16])), hnp.array_shapes(max_side=4)))
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale_bias, output = data.draw(scale_biases(1)), data.draw(outputs())
    bias, multiplier = pair(scale_bias, 0)
    rows = np.moveaxis(x, axis, -1)
    for name, function in (("reduce_sum", sum), ("reduce_max", max), ("reduce_min", min)):
        expected = np.zeros(rows.shape[:-1], np.int64)
        for index in np.ndindex(expected.shape):
            expected[index] = output.of(function(int(value) for value in rows[index]) + bias, multiplier)
        init = np.empty(expected.shape, np.int8)
        y = reduce(init, np.int8([1]), scale_bias, x, name=name, axis=axis, **output.attributes())
        assert y.dtype == np.int8
        assert y.tolist() == expected.tolist()


def test_a_sum_beyond_32_bits_is_refused():
    x = np.full((1 << 17,), 32767, np.int16)
    output = {"output_zp": 0, "output_min": -128, "output_max": 127, "shift_factor": 0}
    with pytest.raises(OverflowError, match="int32"):
        reduce(np.empty((), np.int8), *IDENTITY, x, name="reduce_sum", axis=0, **output)


@given(st.data())
def test_argmax(data):
    x = data.draw(hnp.arrays(np.int8, hnp.array_shapes(max_side=4), elements=st.integers(-128, -125)))
    axis = data.draw(st.integers(0, x.ndim - 1))
    rows = np.moveaxis(x, axis, -1)
    expected = [rows[index].tolist().index(max(rows[index])) for index in np.ndindex(rows.shape[:-1])]
    y = argmax(np.empty(rows.shape[:-1], np.int32), IDENTITY[1], x, axis=axis)
    assert y.dtype == np.int32
    assert y.ravel().tolist() == expected


def test_argmax_has_no_scale():
    with pytest.raises(ValueError, match="scale_bias"):
        argmax(np.empty((), np.int32), np.int32([0, 2]), np.zeros(2, np.int8), axis=0)
