# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multipliers, shifts and the integer rescale against exact rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from torq_mlir.numerics.rescale import multiplier_and_shift, real_scale, requantize, rescale

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1

int32s = st.integers(INT32_MIN, INT32_MAX)
scales = st.floats(min_value=5e-324, max_value=2147483647.0)


def exact_multiplier(scale: float, shift: int) -> int:
    return round(Fraction(scale) * 2**shift)


def exact_rescale(accumulator: int, multiplier: int, shift: int) -> int:
    value = Fraction(accumulator * multiplier, 2**shift)
    return accumulator * multiplier if shift == 0 else math.floor(value + Fraction(1, 2))


@given(scales)
@example(0.5)
@example(INT32_MAX / 2**31)
@example(2147483647.0)
@example(5e-324)
@example(float(np.nextafter(0.5, 0)))
@example((2**31 - 0.5) / 2**28)  # rounds up to 2^31 with shift 28, so the shift is 24
@example(float(np.nextafter((2**31 - 0.5) / 2**28, 0)))
def test_multiplier_is_the_exact_rounding_for_the_largest_shift(scale):
    multiplier, shift = multiplier_and_shift(scale)
    assert multiplier.dtype == np.int32
    assert multiplier.shape == ()
    assert shift % 4 == 0
    assert shift >= 0
    assert int(multiplier) == exact_multiplier(scale, shift)
    assert exact_multiplier(scale, shift + 4) > INT32_MAX


@given(st.lists(st.one_of(scales, st.just(0.0)), min_size=1, max_size=6))
def test_channels_share_the_largest_shift_that_suits_all(channel_scales):
    multipliers, shift = multiplier_and_shift(np.array(channel_scales))
    assert multipliers.shape == (len(channel_scales),)
    assert multipliers.tolist() == [exact_multiplier(scale, shift) for scale in channel_scales]
    if any(channel_scales):
        assert max(exact_multiplier(scale, shift + 4) for scale in channel_scales) > INT32_MAX
    else:
        assert shift == 28


@given(scales)
def test_negative_scale_has_the_negative_multiplier(scale):
    multiplier, shift = multiplier_and_shift(scale)
    negative, negative_shift = multiplier_and_shift(-scale)
    assert Fraction(int(negative), 2**negative_shift) in (
        -Fraction(int(multiplier), 2**shift),
        Fraction(INT32_MIN, 2**negative_shift),  # one more value below zero than above
    )


@pytest.mark.parametrize(
    ("scale", "multiplier", "shift"),
    [
        (0.0, 0, 28),
        (0.5, 2**27, 28),
        (1.0, 2**28, 28),
        (0.01, 687194767, 36),
        (real_scale([np.float32(0.05), np.float32(0.04)], np.float32(0.06)), 143165579, 32),  # observed from the vendor
        (2.0**-100, 2**28, 128),
        (2147483647.0, INT32_MAX, 0),
    ],
)
def test_known_multipliers(scale, multiplier, shift):
    result = multiplier_and_shift(scale)
    assert (int(result[0]), result[1]) == (multiplier, shift)


def test_all_zero_channels():
    multipliers, shift = multiplier_and_shift(np.zeros(3))
    assert multipliers.tolist() == [0, 0, 0]
    assert shift == 28
    assert multiplier_and_shift(np.zeros(0))[1] == 28


@pytest.mark.parametrize("scale", [2147483647.5, 2.0**31, 1e300])
def test_scale_that_needs_a_left_shift_is_refused_with_the_limit(scale):
    with pytest.raises(ValueError, match=r"too large.*below 2147483647\.5"):
        multiplier_and_shift(scale)
    assert int(multiplier_and_shift(np.nextafter(2147483647.5, 0))[0]) == INT32_MAX


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf])
def test_scale_that_is_not_finite_is_refused(scale):
    with pytest.raises(ValueError, match="not finite"):
        multiplier_and_shift(np.array([0.5, scale]))


@given(int32s, int32s, st.integers(0, 200))
@example(INT32_MIN, INT32_MIN, 63)
@example(INT32_MIN, INT32_MIN, 62)
@example(INT32_MIN, INT32_MIN, 64)
@example(INT32_MIN, INT32_MAX, 63)
@example(INT32_MIN, INT32_MIN, 0)
@example(-1, 1, 1)  # -1/2 is a tie and goes up, to 0
@example(1, 1, 1)
@example(-3, 1, 1)
def test_rescale_is_exact(accumulator, multiplier, shift):
    result = rescale(np.array(accumulator, dtype=np.int32), multiplier, shift)
    assert result.dtype == np.int64
    assert int(result) == exact_rescale(accumulator, multiplier, shift)


@given(st.lists(int32s, min_size=1, max_size=5), st.integers(1, 4), st.integers(0, 70))
def test_rescale_broadcasts_channels(accumulators, channels, shift):
    accumulator = np.array(accumulators, dtype=np.int64)[None, :].repeat(channels, axis=0)
    multiplier = (np.arange(channels) * 1_000_003 - 7).reshape(-1, 1)
    expected = [[exact_rescale(a, int(m), shift) for a in accumulators] for m in multiplier[:, 0]]
    assert rescale(accumulator, multiplier, shift).tolist() == expected


@given(int32s, st.integers(0, INT32_MAX), st.integers(64, 1000))
def test_shift_beyond_the_product_gives_zero(accumulator, multiplier, shift):
    assert int(rescale(np.int64(accumulator), multiplier, shift)) == 0


def test_rescale_does_not_write_to_its_arguments():
    accumulator, multiplier = np.array([3, -3], dtype=np.int64), np.array([5, 7], dtype=np.int64)
    rescale(accumulator, multiplier, 2)
    assert accumulator.tolist() == [3, -3]
    assert multiplier.tolist() == [5, 7]


def test_rescale_refuses_what_the_hardware_has_no_room_for():
    with pytest.raises(OverflowError, match="accumulator 2147483648"):
        rescale(np.array([0, 2**31]), 1, 4)
    with pytest.raises(OverflowError, match="multiplier -2147483649"):
        rescale(np.array([1]), np.array([-(2**31) - 1]), 4)
    with pytest.raises(TypeError, match="accumulator is float64"):
        rescale(np.array([1.0]), 1, 4)
    with pytest.raises(ValueError, match="shift -4 is negative"):
        rescale(np.array([1]), 1, -4)


@given(int32s, st.integers(0, INT32_MAX), st.integers(0, 80), st.integers(-128, 127), st.tuples(int32s, int32s))
def test_requantize_adds_the_zero_point_and_clamps(accumulator, multiplier, shift, zero_point, bounds):
    low, high = sorted(bounds)
    expected = min(max(exact_rescale(accumulator, multiplier, shift) + zero_point, low), high)
    assert int(requantize(np.int32(accumulator), multiplier, shift, zero_point, low, high)) == expected


def test_requantize_refuses_reversed_bounds():
    with pytest.raises(ValueError, match="output_min 3 is greater than output_max 2"):
        requantize(np.array([1]), 1, 0, 0, 3, 2)


float32s = st.floats(min_value=2.0**-60, max_value=2.0**20, width=32)


@given(float32s, float32s, float32s, st.integers(1, 1 << 16))
def test_real_scale_rounds_once(sx, sw, sy, count):
    exact = Fraction(sx) * Fraction(sw) / (Fraction(sy))
    assert float(real_scale([np.float32(sx), np.float32(sw)], np.float32(sy))) == exact.numerator / exact.denominator
    exact = Fraction(sx) / (Fraction(sy) * count)
    assert float(real_scale([sx], sy, count=count)) == exact.numerator / exact.denominator


def test_real_scale_per_channel():
    weight_scales = np.array([0.25, 0.5], dtype=np.float32)
    assert real_scale([np.float32(0.5), weight_scales], np.float32(2.0)).tolist() == [0.0625, 0.125]
    assert real_scale([0.5], 2.0).shape == ()
    with pytest.raises(ValueError, match=r"division by output scale 0\.0"):
        real_scale([1.0], 0.0)
