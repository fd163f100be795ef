# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters chosen at run time, fake quantization and conversions against PyTorch, bit for bit."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from quantized_decomposed_torch import FLOATS, STORAGE, floats, integers, operators, same, scales, to_torch, torch

from torq_mlir.numerics.choose_qparams import (
    choose_qparams,
    choose_qparams_per_token,
    choose_qparams_per_token_asymmetric,
    choose_qparams_symmetric,
)
from torq_mlir.numerics.conversion import convert_element_type
from torq_mlir.numerics.fake_quantize import fake_quant_per_channel

TARGETS = {**STORAGE, np.int32: torch.int32}
ELEMENTS = {**FLOATS, **TARGETS, np.int64: torch.int64, np.bool_: torch.bool}
few = settings(max_examples=40)
HALF = [np.float16, ml_dtypes.bfloat16]


def draw_range_with_zero(data, dtype):
    limits = np.iinfo(dtype)
    low = data.draw(st.one_of(st.just(limits.min), st.integers(limits.min, 0)))
    return int(low), int(data.draw(st.one_of(st.just(limits.max), st.integers(1, limits.max))))


@pytest.mark.parametrize("input_dtype", [np.float32, *HALF])
@pytest.mark.parametrize("dtype", TARGETS)
@few
@given(nan=st.booleans(), data=st.data())
def test_choose_qparams(input_dtype, dtype, nan, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(min_dims=0, max_side=5)), input_dtype, nan=nan))
    low, high = draw_range_with_zero(data, dtype)
    eps = data.draw(st.sampled_from([1e-12, 1.1920928955078125e-07, 2.0**-12, 1.0, 1e-45]))
    theirs = operators.choose_qparams.tensor(to_torch(x), low, high, eps, TARGETS[dtype])
    for ours, their in zip(choose_qparams(x, low, high, eps), theirs, strict=True):
        same(ours, their)
    theirs = operators.choose_qparams_symmetric.tensor(to_torch(x), low, high, eps, TARGETS[dtype])
    for ours, their in zip(choose_qparams_symmetric(x, low, high, eps, dtype), theirs, strict=True):
        same(ours, their)


@pytest.mark.parametrize("input_dtype", FLOATS)
@given(nan=st.booleans(), data=st.data())
def test_choose_qparams_per_token(input_dtype, nan, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=6)), input_dtype, nan=nan))
    for ours, theirs in (
        (choose_qparams_per_token, operators.choose_qparams_per_token),
        (choose_qparams_per_token_asymmetric, operators.choose_qparams_per_token_asymmetric),
        (choose_qparams_per_token_asymmetric, operators._choose_qparams_per_token_asymmetric_impl),
    ):
        for our, their in zip(ours(x), theirs(to_torch(x), torch.int8), strict=True):
            same(our, their)


@pytest.mark.parametrize("input_dtype", FLOATS)
@pytest.mark.parametrize("value", [0.0, 1e-7, -1e-7, 1e-5, 1e-40, -0.0])
def test_tokens_of_small_values(input_dtype, value):
    """The least scale is one of the type of the input, for float16 a denormal."""
    x = np.full((2, 3), value, np.float64).astype(np.float32).astype(input_dtype)
    for ours, theirs in (
        (choose_qparams_per_token, operators.choose_qparams_per_token),
        (choose_qparams_per_token_asymmetric, operators.choose_qparams_per_token_asymmetric),
    ):
        for our, their in zip(ours(x), theirs(to_torch(x), torch.int8), strict=True):
            same(our, their)


@pytest.mark.parametrize("scale_dtype", FLOATS)
@given(st.sampled_from([np.int8, np.uint8, np.int32, np.int64]), st.data())
def test_fake_quant_per_channel(scale_dtype, zero_point_dtype, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=6)), np.float32))
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale = data.draw(scales(x.shape[axis], scale_dtype))
    zero_point = data.draw(
        integers(x.shape[axis], zero_point_dtype, *((0, 255) if zero_point_dtype == np.uint8 else ()))
    )
    low, high = sorted(data.draw(st.lists(st.integers(-(2**20), 2**20), min_size=2, max_size=2, unique=True)))
    theirs = operators.fake_quant_per_channel(to_torch(x), to_torch(scale), to_torch(zero_point), axis, low, high)
    same(fake_quant_per_channel(x, scale, zero_point, axis, low, high), theirs)
    same(fake_quant_per_channel(x, scale, zero_point, axis - x.ndim, low, high), theirs)


@pytest.mark.parametrize("target", ELEMENTS)
@given(source=st.sampled_from(list(ELEMENTS)), data=st.data())
def test_convert_element_type(target, source, data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_side=20, max_dims=2))
    if source in FLOATS and data.draw(st.booleans()):
        large = st.sampled_from([2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**31 + 300, 1e12, -1e20, 65535.9, -0.9])
        x = convert_element_type(data.draw(hnp.arrays(np.float64, shape, elements=large)), source)
    elif source in FLOATS:
        x = data.draw(floats(shape, source))
    elif source == np.bool_:
        x = data.draw(hnp.arrays(np.bool_, shape))
    else:
        x = data.draw(integers(shape, source))
    same(convert_element_type(x, target), operators.convert_element_type.no_fuse(to_torch(x), ELEMENTS[target]))
