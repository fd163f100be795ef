# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights and bias of a quantized addition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.numerics.addition import add_bias, add_weights, constant_scale

scales = st.floats(min_value=2.0**-40, max_value=2.0**10, width=32)


def test_weights_observed_from_the_vendor():
    weights, shift = add_weights(0.05, 0.04, 0.06)
    assert weights.tolist() == [3413, 2731]
    assert weights.dtype == np.int16
    assert shift == 12
    assert add_bias(weights, 3, -5) == 3416


@given(scales, scales, scales, st.booleans())
def test_weights_are_the_roundings_for_the_largest_shift(s1, s2, sy, subtract):
    quotients = [s1 / sy, (-s2 if subtract else s2) / sy]
    if max(map(abs, quotients)) >= 32767.5:
        with pytest.raises(ValueError, match=r"below 32767\.5"):
            add_weights(s1, -s2 if subtract else s2, sy)
        return
    weights, shift = add_weights(s1, -s2 if subtract else s2, sy)
    assert shift % 4 == 0
    assert shift >= 0
    assert weights.tolist() == [round(Fraction(quotient) * 2**shift) for quotient in quotients]
    next_weights = [round(Fraction(quotient) * 2 ** (shift + 4)) for quotient in quotients]
    assert max(next_weights) > 32767 or min(next_weights) < -32768


@given(st.integers(-32768, 32767), st.integers(-32768, 32767), st.integers(-32768, 32767), st.integers(-32768, 32767))
def test_bias_cancels_the_zero_points(w0, w1, z1, z2):
    bias = add_bias(np.array([w0, w1], dtype=np.int16), z1, z2)
    assert z1 * w0 + z2 * w1 + bias == 0


def test_scales_that_have_no_quotient():
    with pytest.raises(ValueError, match="scale of the output is zero"):
        add_weights(0.1, 0.1, 0.0)
    with pytest.raises(ValueError, match="not finite"):
        add_weights(float("nan"), 0.1, 0.1)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0, 99))
def test_constants_have_a_whole_weight_and_fit(s1, sy, greatest):
    scale = constant_scale(s1, sy, greatest)
    weights, shift = add_weights(s1, scale, sy)
    assert weights[1] * sy / 2.0**shift == pytest.approx(scale, rel=1e-12)
    assert abs(np.rint(greatest / scale)) <= 32767


def test_constants_that_are_not_finite_have_no_scale():
    with pytest.raises(ValueError, match="finite"):
        constant_scale(0.5, 0.5, float("inf"))


def test_constants_that_are_out_of_reach_have_no_scale():
    with pytest.raises(ValueError, match="out of reach"):
        constant_scale(0.01, 1.0, 1e5)
