# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Zero points folded into weights and bias, and the accumulator's range."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from torq_mlir.numerics.zero_points import (
    accumulator_bound,
    check_int32_accumulator,
    fold_weight_zero_point,
    input_zero_point_correction,
)

shapes = hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)
int8_weights = hnp.arrays(np.int8, shapes)


@given(int8_weights)
def test_zero_point_zero_leaves_signed_weights_alone(weights):
    assert fold_weight_zero_point(weights, 0) is weights
    assert fold_weight_zero_point(weights, np.zeros(weights.shape[0], np.int8), axis=0) is weights


@given(int8_weights, st.integers(-128, 127).filter(bool))
def test_zero_point_widens_to_int16(weights, zero_point):
    folded = fold_weight_zero_point(weights, np.int8(zero_point))
    assert folded.dtype == np.int16
    assert folded.tolist() == (weights.astype(int) - zero_point).tolist()


@given(hnp.arrays(np.uint8, shapes), st.integers(0, 255))
def test_unsigned_weights(weights, zero_point):
    folded = fold_weight_zero_point(weights, np.array([zero_point], dtype=np.uint8))
    assert folded.dtype == (np.int8 if zero_point == 128 else np.int16)
    assert folded.tolist() == (weights.astype(int) - zero_point).tolist()


@given(int8_weights, st.data())
def test_zero_points_of_channels(weights, data):
    axis = data.draw(st.integers(-weights.ndim, weights.ndim - 1))
    zero_points = data.draw(hnp.arrays(np.int8, weights.shape[axis], elements=st.integers(1, 127)))
    folded = fold_weight_zero_point(weights, zero_points, axis=axis)
    for index in np.ndindex(weights.shape):
        assert folded[index] == int(weights[index]) - int(zero_points[index[axis]])


def test_refused_zero_points():
    weights = np.zeros((2, 3), dtype=np.int8)
    with pytest.raises(ValueError, match="zero point 128 is not a value of int8"):
        fold_weight_zero_point(weights, 128)
    with pytest.raises(ValueError, match="3 weight zero points for 2 channels"):
        fold_weight_zero_point(weights, np.zeros(3, np.int8), axis=0)
    with pytest.raises(ValueError, match="2 weight zero points need an axis"):
        fold_weight_zero_point(weights, np.zeros(2, np.int8))
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        fold_weight_zero_point(weights, np.zeros(2, np.int8), axis=2)
    with pytest.raises(TypeError, match="float32"):
        fold_weight_zero_point(weights.astype(np.float32), 0)
    with pytest.raises(TypeError, match="zero point is float64"):
        fold_weight_zero_point(weights, 1.0)
    with pytest.raises(OverflowError, match="outside int16"):
        fold_weight_zero_point(np.array([-32768], dtype=np.int16), 1)


@given(st.data())
def test_folding_and_correction_are_the_contraction_without_zero_points(data):
    channels, reduced, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    x = data.draw(hnp.arrays(np.int8, (reduced, columns))).astype(np.int64)
    weights = data.draw(hnp.arrays(np.int8, (channels, reduced)))
    zx, zw = data.draw(st.integers(-128, 127)), data.draw(st.integers(-128, 127))
    folded = fold_weight_zero_point(weights, zw)
    correction = input_zero_point_correction(folded, zx, (1,))
    assert correction.dtype == np.int64
    expected = (weights.astype(np.int64) - zw) @ (x - zx)
    assert (folded.astype(np.int64) @ x + correction[:, None]).tolist() == expected.tolist()


def test_correction_keeps_the_channels():
    weights = np.arange(24, dtype=np.int8).reshape(2, 3, 2, 2)
    assert input_zero_point_correction(weights, 3, (1, 2, 3)).tolist() == [-3 * sum(range(12)), -3 * sum(range(12, 24))]
    assert input_zero_point_correction(weights.reshape(4, 6), -1, (0,)).shape == (6,)


@given(st.data())
def test_bound_is_reached_and_never_passed_by_a_partial_sum(data):
    weights = data.draw(hnp.arrays(np.int8, (1, 3)))
    low = data.draw(st.integers(-128, 127))
    high = data.draw(st.integers(low, 127))
    bias = data.draw(st.integers(-1000, 1000))
    greatest = 0
    for xs in itertools.product({low, high}, repeat=3):
        terms = [int(w) * x for w, x in zip(weights[0], xs, strict=True)] + [bias]
        for count in range(len(terms) + 1):
            greatest = max(greatest, *(abs(sum(chosen)) for chosen in itertools.combinations(terms, count)))
    bound = accumulator_bound(weights, low, high, np.array([bias]), (1,))
    assert bound.shape == (1,)
    assert int(bound[0]) == greatest


def test_accumulator_beyond_int32_is_refused():
    weights = np.full((2, 70000), 127, dtype=np.int16)
    weights[0] = 0
    fits = accumulator_bound(weights[:, :1000], -128, 127, 0, (1,))
    check_int32_accumulator(fits)
    bound = accumulator_bound(weights * 2, -128, 127, np.array([5, -5]), (1,))
    assert bound.tolist() == [5, 70000 * 254 * 128 + 5]
    with pytest.raises(OverflowError, match=r"channel 1: the accumulator can reach 2275840005, above"):
        check_int32_accumulator(bound)
    check_int32_accumulator(np.array([2**31 - 1]))
    with pytest.raises(OverflowError):
        check_int32_accumulator(np.array(2**31))
