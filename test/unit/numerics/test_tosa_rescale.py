# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tosa.rescale with these parameters is the rescale of `numerics`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.numerics.rescale import multiplier_and_shift, rescale
from torq_mlir.numerics.tosa_rescale import tosa_multiplier_and_shift

scales = st.one_of(st.just(0.0), st.floats(2.0**-70, 2.0**10))


def apply_scale_32(value, multiplier, shift):
    """As the specification of TOSA defines it, without double rounding."""
    assert multiplier >= 0
    assert 2 <= shift <= 62
    assert -(1 << (shift - 1)) <= value < 1 << (shift - 1)
    return (value * multiplier + (1 << (shift - 1))) >> shift


@given(st.lists(scales, min_size=1, max_size=4), st.lists(st.integers(-(2**24), 2**24), min_size=1, max_size=8))
def test_results_are_equal(scales, accumulators):
    multiplier, shift = multiplier_and_shift(np.array(scales))
    greatest = max(map(abs, accumulators))
    try:
        multipliers, shifts = tosa_multiplier_and_shift(multiplier, shift, greatest)
    except ValueError:
        assert greatest * max(scales) >= 2**28  # far beyond any output
        return
    assert (multipliers.dtype, shifts.dtype) == (np.int32, np.int8)
    for channel, (m, s) in enumerate(zip(multipliers.tolist(), shifts.tolist(), strict=True)):
        for accumulator in accumulators:
            expected = rescale(np.array(accumulator), multiplier[channel], shift)
            assert apply_scale_32(accumulator, m, s) == expected


def test_the_shift_is_as_great_as_possible():
    multipliers, shifts = tosa_multiplier_and_shift(np.int32([1, 2**30, 0]), 40, 100)
    np.testing.assert_array_equal(multipliers, [2**22, 2**30, 0])
    np.testing.assert_array_equal(shifts, [62, 40, 62])


def test_small_shifts_grow():
    multipliers, shifts = tosa_multiplier_and_shift(np.int32(5), 0, 100)
    assert (int(multipliers), int(shifts)) == (5 << 28, 28)


@pytest.mark.parametrize(
    ("multiplier", "shift", "greatest", "reason"),
    [(-1, 40, 1, "negative"), (2**30, 0, 1, "too large"), (2**30, 30, 2**29, "values of up to 536870912")],
)
def test_what_tosa_cannot_express(multiplier, shift, greatest, reason):
    with pytest.raises(ValueError, match=reason):
        tosa_multiplier_and_shift(np.int32(multiplier), shift, greatest)
