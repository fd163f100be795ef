# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize with the reciprocal and dequantize against PyTorch's quantized_decomposed operators, bit for bit."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from torq_mlir.numerics.quantize import dequantize, quantize

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch.ao.quantization.fx._decomposed

operators = torch.ops.quantized_decomposed
STORAGE = {np.int8: torch.int8, np.uint8: torch.uint8, np.int16: torch.int16, np.uint16: torch.uint16}
FLOATS = {
    np.float16: torch.float16,
    ml_dtypes.bfloat16: torch.bfloat16,
    np.float32: torch.float32,
    np.float64: torch.float64,
}
HALF = [np.float16, ml_dtypes.bfloat16]
values = st.one_of(st.floats(-1000, 1000, width=16), st.sampled_from([np.nan, np.inf, -np.inf, -0.0]))
few = settings(max_examples=40)
scales = st.floats(2.0**-10, 16)


def to_torch(array, dtype=None):
    array = np.asarray(array)
    if array.dtype in (np.dtype(d) for d in HALF):
        return torch.from_numpy(array.astype(np.float32)).to(FLOATS[array.dtype.type])
    return torch.from_numpy(array.copy())


def same(ours, theirs):
    if theirs.is_floating_point():
        theirs = theirs.to(torch.float64)
        ours = ours.astype(np.float64)
    np.testing.assert_array_equal(ours, theirs.numpy())


def draw_range(data, dtype):
    limits = np.iinfo(dtype)
    low = data.draw(st.one_of(st.just(limits.min), st.integers(limits.min, limits.max - 1)))
    return low, data.draw(st.one_of(st.just(limits.max), st.integers(low + 1, limits.max)))


@pytest.mark.parametrize("dtype", STORAGE)
@few
@given(st.sampled_from([np.float32, *HALF]), st.data())
def test_quantize_per_tensor(dtype, input_dtype, data):
    x = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_side=20), elements=values)).astype(
        input_dtype
    )
    low, high = draw_range(data, dtype)
    scale, zero_point = data.draw(scales), data.draw(st.integers(low, high))
    ours = quantize(x, scale, zero_point, low, high, dtype)
    same(ours, operators.quantize_per_tensor(to_torch(x), scale, zero_point, low, high, STORAGE[dtype]))
    scale = np.array(scale, dtype=np.float32)
    ours = quantize(x, scale, zero_point, low, high, dtype)
    parameters = torch.from_numpy(scale), torch.tensor(zero_point)
    same(ours, operators.quantize_per_tensor.tensor(to_torch(x), *parameters, low, high, STORAGE[dtype]))


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from(list(STORAGE)), st.sampled_from([np.float32, *HALF]), st.data())
def test_quantize_per_channel(scale_dtype, dtype, input_dtype, data):
    x = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_side=9), elements=values)).astype(input_dtype)
    low, high = draw_range(data, dtype)
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale = data.draw(hnp.arrays(np.float64, x.shape[axis], elements=scales)).astype(scale_dtype)
    zero_point = data.draw(hnp.arrays(np.int64, x.shape[axis], elements=st.integers(low, high)))
    ours = quantize(x, scale, zero_point, low, high, dtype, axis=axis)
    parameters = to_torch(scale), to_torch(zero_point), axis
    same(ours, operators.quantize_per_channel(to_torch(x), *parameters, low, high, STORAGE[dtype]))


@pytest.mark.parametrize("scale", [1e-40, 1e-38, 3e38])
def test_extreme_scales(scale):
    x = np.array([0.0, 1.0, -1.0, np.nan, 1e-40, 1e-39, np.inf] * 9, dtype=np.float32)
    theirs = operators.quantize_per_tensor(torch.from_numpy(x), scale, 3, -128, 127, torch.int8)
    same(quantize(x, scale, 3, -128, 127, np.int8), theirs)


def test_int32_within_its_range():
    x = np.array([0.0, 2.5, -3.5, 2.0**30, -(2.0**31), 1.7e9], dtype=np.float32)
    theirs = operators.quantize_per_tensor(torch.from_numpy(x), 1.0, 1, -(2**31), 2**31 - 1, torch.int32)
    same(quantize(x, 1.0, 1, -(2**31), 2**31 - 1, np.int32), theirs)


@pytest.mark.parametrize("result_dtype", FLOATS)
@few
@given(st.sampled_from(list(STORAGE)), st.data())
def test_dequantize_per_tensor(result_dtype, dtype, data):
    q = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_side=20)))
    limits = np.iinfo(dtype)
    scale, zero_point = data.draw(scales), data.draw(st.integers(limits.min, limits.max))
    arguments = limits.min, limits.max, STORAGE[dtype]
    theirs = operators.dequantize_per_tensor(to_torch(q), scale, zero_point, *arguments, out_dtype=FLOATS[result_dtype])
    same(dequantize(q, scale, zero_point, dtype=result_dtype), theirs)


@pytest.mark.parametrize("result_dtype", FLOATS)
@few
@given(data=st.data())
def test_dequantize_int32(result_dtype, data):
    q = data.draw(hnp.arrays(np.int32, hnp.array_shapes(min_dims=0)))
    scale, zero_point = data.draw(scales), data.draw(st.integers(-(2**31), 2**31 - 1))
    arguments = -(2**31), 2**31 - 1, torch.int32
    theirs = operators.dequantize_per_tensor(to_torch(q), scale, zero_point, *arguments, out_dtype=FLOATS[result_dtype])
    same(dequantize(q, scale, zero_point, dtype=result_dtype), theirs)


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8, np.int16]), st.sampled_from(list(FLOATS)), st.data())
def test_dequantize_per_channel(scale_dtype, dtype, result_dtype, data):
    q = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_side=9)))
    axis = data.draw(st.integers(0, q.ndim - 1))
    limits = np.iinfo(dtype)
    scale = data.draw(hnp.arrays(np.float64, q.shape[axis], elements=scales)).astype(scale_dtype)
    zero_points = hnp.arrays(np.int64, q.shape[axis], elements=st.integers(limits.min, limits.max))
    zero_point = data.draw(st.one_of(st.none(), zero_points))
    theirs = operators.dequantize_per_channel(
        to_torch(q),
        to_torch(scale),
        None if zero_point is None else to_torch(zero_point),
        axis,
        limits.min,
        limits.max,
        STORAGE[dtype],
        out_dtype=FLOATS[result_dtype],
    )
    same(dequantize(q, scale, zero_point, axis=axis, dtype=result_dtype), theirs)


@pytest.mark.parametrize("result_dtype", HALF)
def test_float64_rounds_twice(result_dtype):
    """By way of float32, which takes what is just above a tie to the tie."""
    scale = np.array([1 + 2.0**-11 + 2.0**-30, 1 + 2.0**-8 + 2.0**-40])
    q, zero_point = np.array([[1], [1]], np.int8), np.array([0, 0])
    parameters = to_torch(scale), to_torch(zero_point), 0, -128, 127, torch.int8
    theirs = operators.dequantize_per_channel(to_torch(q), *parameters, out_dtype=FLOATS[result_dtype])
    same(dequantize(q, scale, zero_point, axis=0, dtype=result_dtype), theirs)
