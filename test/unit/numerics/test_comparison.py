# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons in integers against those of dequantized numbers, over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.numerics.comparison import dequantized, ranks, thresholds

scales = st.one_of(st.sampled_from([0.05, 0.03, 0.1, 0.3, 1.0, 2.0**-8]), st.floats(2.0**-20, 2.0**10, width=32))
zero_points = st.integers(-128, 127)


def order(first, second):
    return (first > second).astype(int) - (first < second)


@given(scales, zero_points, scales, zero_points)
def test_ranks_are_ordered_as_the_numbers_are(s1, z1, s2, z2):
    x1, x2 = dequantized(s1, z1, 8), dequantized(s2, z2, 8)
    r1, r2 = ranks(x1, x2)
    assert np.array_equal(order(r1[:, None], r2), order(x1[:, None], x2))
    assert min(r1.min(), r2.min()) >= 0
    assert max(r1.max(), r2.max()) < 512


def test_simple_scales_are_not_ordered_as_their_products():
    """3 * 0.1 and 0.3 are equal in f32, 5 * 0.1 * 3 and 5 * 0.3 are not all so: no weights would order them."""
    products = [np.float32(3 * k) * np.float32(0.1) == np.float32(k) * np.float32(0.3) for k in range(1, 43)]
    assert 0 < sum(products) < len(products)


@given(scales, zero_points, st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=4))
def test_thresholds(scale, zero_point, constants):
    values, constants = dequantized(scale, zero_point, 8), np.array(constants)
    integers = np.arange(-128, 128)[:, None]
    above, from_ = (thresholds(values, constants, 8, inclusive=inclusive) for inclusive in (False, True))
    assert np.array_equal(integers >= above, values[:, None].astype(np.float64) > constants)
    assert np.array_equal(integers >= from_, values[:, None].astype(np.float64) >= constants)


@pytest.mark.parametrize(("constant", "expected"), [(1e9, 128), (-1e9, -128)])
def test_thresholds_beyond_all_values(constant, expected):
    assert thresholds(dequantized(0.1, 0, 8), np.array(constant), 8, inclusive=False) == expected
