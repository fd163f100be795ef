# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result shapes, against numpy or against a count of window positions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from torq_mlir.dialects import shapes
from torq_mlir.dialects.shapes import ShapeError

CONV = {"groups": 1, "pad": [0, 0, 0, 0], "stride": [1, 1], "dilation": [1, 1], "nhwc_input": False}
SMALL = st.integers(1, 4)


def positions(size, kernel, before, after, stride, dilation):
    """Window positions counted one by one."""
    padded = before + size + after
    return sum(start + dilation * (kernel - 1) < padded for start in range(0, padded, stride))


@given(st.integers(1, 12), SMALL, st.integers(0, 3), st.integers(0, 3), SMALL, SMALL)
def test_window_counts_positions(size, kernel, before, after, stride, dilation):
    expected = positions(size, kernel, before, after, stride, dilation)
    arguments = {"before": before, "after": after, "stride": stride, "dilation": dilation, "dimension": "width"}
    if expected:
        assert shapes.window(size, kernel, **arguments) == expected
    else:
        with pytest.raises(ShapeError, match="does not fit the padded width of 'input'"):
            shapes.window(size, kernel, **arguments)


def test_conv2d_pads_left_right_top_bottom():
    attributes = {**CONV, "pad": [1, 2, 3, 4], "stride": [2, 1], "dilation": [1, 2]}
    result = shapes.conv2d(input=(2, 3, 10, 20), weights=(8, 3, 3, 5), **attributes)
    assert result == (2, 8, positions(10, 3, 3, 4, 2, 1), positions(20, 5, 1, 2, 1, 2))


def test_conv2d_of_nhwc_input_gives_nchw():
    attributes = {**CONV, "nhwc_input": True}
    assert shapes.conv2d(input=(1, 8, 9, 3), weights=(4, 3, 3, 3), **attributes) == (1, 4, 6, 7)


def test_grouped_conv2d():
    attributes = {**CONV, "groups": 2}
    assert shapes.conv2d(input=(1, 6, 4, 4), weights=(8, 3, 1, 1), **attributes) == (1, 8, 4, 4)


@pytest.mark.parametrize(
    ("input", "weights", "attributes", "message"),
    [
        ((1, 3, 8), (4, 3, 3, 3), {}, "'input' must have rank 4"),
        ((1, 3, 8, 8), (4, 3, 3), {}, "'weights' must have rank 4"),
        ((1, 4, 8, 8), (4, 3, 3, 3), {}, "'input' has 4 channels"),
        ((1, 4, 8, 8), (5, 2, 3, 3), {"groups": 2}, "'groups' .2. must divide the 5 output channels"),
        ((1, 3, 2, 8), (4, 3, 3, 3), {}, "does not fit the padded height"),
    ],
)
def test_conv2d_refuses(input, weights, attributes, message):
    with pytest.raises(ShapeError, match=message):
        shapes.conv2d(input=input, weights=weights, **{**CONV, **attributes})


def test_dynamic_dimensions_stay_unknown():
    result = shapes.conv2d(input=(None, 3, None, 8), weights=(4, 3, 3, 3), **CONV)
    assert result == (None, 4, None, 6)
    assert shapes.conv2d(input=(1, None, 8, 8), weights=(None, 3, 3, 3), **CONV) == (1, None, 6, 6)
    assert shapes.fully_connected(input=(None, 5), weights=(5, 7)) == (None, 7)
    assert shapes.matmul(input1=(None, 2, 3), input2=(4, None, 5)) == (4, 2, 5)


def test_depthwise_weights_have_one_input_channel():
    attributes = {**CONV, "groups": 4}
    assert shapes.depthwise_conv2d(input=(1, 4, 5, 5), weights=(8, 1, 3, 3), **attributes) == (1, 8, 3, 3)
    with pytest.raises(ShapeError, match="'weights' must have 1 input channel, but has 2"):
        shapes.depthwise_conv2d(input=(1, 8, 5, 5), weights=(8, 2, 3, 3), **attributes)


def test_conv1d():
    arguments = {"groups": 1, "pad": [1, 2], "stride": [2], "dilation": [1]}
    assert shapes.conv1d(input=(1, 3, 9), weights=(4, 3, 4), **arguments) == (1, 4, positions(9, 4, 1, 2, 2, 1))


@given(st.lists(st.integers(1, 3), max_size=4), st.lists(st.integers(1, 3), max_size=4))
def test_broadcast_is_numpys(first, second):
    try:
        expected = np.broadcast_shapes(tuple(first), tuple(second))
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            shapes.broadcast_inputs(input1=tuple(first), input2=tuple(second))
    else:
        assert shapes.broadcast_inputs(input1=tuple(first), input2=tuple(second)) == expected


def test_broadcast_of_dynamic_dimensions():
    assert shapes.broadcast_inputs(input1=(None, 1, 4), input2=(3, None)) == (None, 3, 4)
    assert shapes.broadcast_inputs(input1=(None,), input2=(5,)) == (5,)


@given(st.data(), st.lists(st.integers(0, 3), min_size=2, max_size=4), st.integers(1, 4))
def test_matmul_is_numpys(data, leading_and_rows, columns):
    *leading, rows = leading_and_rows
    inner = data.draw(st.integers(0, 3))
    first, second = (*leading, rows, inner), (*leading, inner, columns)
    expected = np.matmul(np.zeros(first), np.zeros(second)).shape
    assert shapes.matmul(input1=first, input2=second) == expected


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ((2, 3), (4, 5), "'input1' has 3 columns, but 'input2' has 4 rows"),
        ((2, 3), (1, 3, 5), "one rank of at least 2"),
        ((2, 2, 3), (3, 3, 5), "a leading dimension is 2 in 'input1', but 3 in 'input2'"),
    ],
)
def test_matmul_refuses(first, second, message):
    with pytest.raises(ShapeError, match=message):
        shapes.matmul(input1=first, input2=second)


@given(st.permutations([0, 1, 2, 3]))
def test_transpose_is_numpys(perm):
    assert shapes.transpose(input=(2, 3, 4, 5), perm=perm) == np.zeros((2, 3, 4, 5)).transpose(perm).shape


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=4))
def test_transpose_refuses_what_is_no_permutation(perm):
    assume(sorted(perm) != [0, 1, 2])
    with pytest.raises(ShapeError, match=r"'perm' must be a permutation of 0\.\.2"):
        shapes.transpose(input=(1, 2, 3), perm=perm)


def test_broadcast_along_new_dimensions():
    assert shapes.broadcast(input=(3,), init=(2, 3, 4), dimensions=[0, 2]) == (2, 3, 4)
    for dimensions, message in (([2, 0], "must be increasing"), ([0, 3], "within 0..2"), ([0, 1], "'init' without")):
        with pytest.raises(ShapeError, match=message):
            shapes.broadcast(input=(3,), init=(2, 3, 4), dimensions=dimensions)


def test_pooling_and_reductions():
    pool = {"kernel": [2, 3], "pad": [1, 0, 0, 1], "stride": [2, 1]}
    assert shapes.maxpool2d(input=(1, 5, 7, 8), **pool) == (
        1,
        5,
        positions(7, 2, 0, 1, 2, 1),
        positions(8, 3, 1, 0, 1, 1),
    )
    assert shapes.avg_pool2d(input=(2, 7, 8, 5)) == (2, 1, 1, 5)
    assert shapes.reduce_mean(input=(2, 7)) == (2, 1)
    with pytest.raises(ShapeError, match="'input' must have rank 1 or more"):
        shapes.reduce_mean(input=())


def test_without_axis():
    assert shapes.without_axis(input=(2, 7, None), axis=1) == (2, None)
    with pytest.raises(ShapeError, match="axis"):
        shapes.without_axis(input=(2, 7), axis=2)


def test_select():
    assert shapes.select(input1=(2, 1), input2=(3,), input3=(1, 1)) == (2, 3)
    with pytest.raises(ShapeError, match="broadcast"):
        shapes.select(input1=(2,), input2=(3,), input3=())
