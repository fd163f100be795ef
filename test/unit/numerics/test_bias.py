# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Biases at the scale of the accumulator, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from torq_mlir.numerics.bias import add_correction, is_accumulator_scale, requantize_bias

float32s = st.floats(min_value=-(2.0**20), max_value=2.0**20, width=32)
scales = st.floats(min_value=2.0**-30, max_value=2.0**10, width=32)


@given(float32s, scales, scales)
@example(0.5, 1.0, 1.0)
@example(1.5, 1.0, 1.0)
@example(-2.5, 1.0, 1.0)
def test_float_bias_is_rounded_exactly(bias, sx, sw):
    scale = float(sx) * float(sw)
    exact = round(Fraction(bias) / Fraction(scale))
    if -(2**31) <= exact < 2**31:
        result = requantize_bias(np.float32(bias), scale)
        assert result.dtype == np.int32
        assert int(result) == exact
    else:
        with pytest.raises(OverflowError, match="outside int32"):
            requantize_bias(np.float32(bias), scale)


@given(st.integers(-(2**31), 2**31 - 1), scales, scales)
def test_integer_bias_at_another_scale(bias, bias_scale, scale):
    exact = round(bias * Fraction(bias_scale) / Fraction(scale))
    if -(2**31) <= exact < 2**31:
        assert int(requantize_bias(np.int32(bias), scale, bias_scale=np.float32(bias_scale))) == exact
    else:
        with pytest.raises(OverflowError):
            requantize_bias(np.int32(bias), scale, bias_scale=np.float32(bias_scale))


@given(st.integers(-(2**31), 2**31 - 1), scales)
def test_integer_bias_at_the_scale_is_kept(bias, scale):
    assert int(requantize_bias(np.int32(bias), scale, bias_scale=scale)) == bias


@pytest.mark.parametrize(("bias", "scale"), [(0.5, 1 - 2.0**-53), (2.5, 1 - 2.0**-53), (1e6 + 0.5, 1 - 2.0**-53)])
def test_quotient_that_float64_rounds_to_a_tie(bias, scale):
    exact = Fraction(bias) / Fraction(scale)
    assert int(requantize_bias(bias, scale)) == round(exact) == int(exact + Fraction(1, 2))


def test_channels():
    result = requantize_bias(np.array([1.0, -1.0, 0.25]), np.array([0.5, 0.25, 0.1]))
    assert result.tolist() == [2, -4, 2]
    assert result.dtype == np.int32
    assert requantize_bias(np.array([1.0, 2.0]), 0.5).tolist() == [2, 4]
    assert requantize_bias(np.zeros(0), 0.5).shape == (0,)


def test_errors_name_the_channel():
    with pytest.raises(OverflowError, match=r"channel 1: bias 5\.0 is 5e\+09 units of the accumulator"):
        requantize_bias(np.array([1.0, 5.0]), np.array([1.0, 1e-9]))
    with pytest.raises(ValueError, match="channel 2: bias nan is not finite"):
        requantize_bias(np.array([1.0, 2.0, np.nan]), 0.1)
    with pytest.raises(ValueError, match=r"channel 0: scale 0\.0 is not finite and positive"):
        requantize_bias(np.array([1.0]), np.array([0.0]))
    with pytest.raises(ValueError, match=r"^bias scale inf is not"):
        requantize_bias(np.int32(1), 1.0, bias_scale=np.inf)


@pytest.mark.parametrize(
    ("bias", "representable"), [(2147483647.0, True), (2147483647.5, False), (-2147483648.5, True)]
)
def test_int32_boundary(bias, representable):
    if representable:
        assert int(requantize_bias(bias, 1.0)) == round(Fraction(bias))
    else:
        with pytest.raises(OverflowError):
            requantize_bias(bias, 1.0)


def test_correction_is_added_within_int32():
    total = add_correction(np.array([1, 2], dtype=np.int32), np.array([10, -20]))
    assert total.tolist() == [11, -18]
    assert total.dtype == np.int32
    with pytest.raises(OverflowError, match=r"channel 1: .*2147483648"):
        add_correction(np.array([0, 2**31 - 1], dtype=np.int32), np.array([0, 1]))


@given(scales, scales)
def test_the_float32_product_of_the_scales_is_the_accumulator_scale(sx, sw):
    product = np.float32(sx) * np.float32(sw)
    assert is_accumulator_scale(product, float(sx) * float(sw))
    assert not is_accumulator_scale(product * np.float32(1.001), float(sx) * float(sw))


def test_one_channel_at_another_scale_is_enough():
    assert not is_accumulator_scale(np.array([0.1, 0.2]), np.array([0.1, 0.3]))
