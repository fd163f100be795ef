# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products against loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_reference import arrays, convolution, outputs, pair, scale_biases

from torq_mlir.backends.interpreter.kernels import conv1d, conv2d, depthwise_conv2d, fully_connected, matmul

WEIGHTS = st.sampled_from([np.int8, np.int16])
RESULTS = st.sampled_from([np.int8, np.int16, np.int32])


@st.composite
def convolutions(draw, depthwise=False, rank=2):
    """Operands and attributes of a convolution whose kernel fits in its padded input."""
    groups = draw(st.integers(1, 3))
    depth = 1 if depthwise else draw(st.integers(1, 3))
    per_group = draw(st.integers(1, 2))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilation = [draw(st.integers(1, 2)) for _ in range(rank)]
    stride = [draw(st.integers(1, 3)) for _ in range(rank)]
    sides = [[draw(st.integers(0, 2)), draw(st.integers(0, 2))] for _ in range(rank)]
    extents = [(size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True)]
    least = [max(1, extent - sum(side)) for extent, side in zip(extents, sides, strict=True)]
    image = [draw(st.integers(size, size + 3)) for size in least]
    x = draw(arrays(np.int8, (draw(st.integers(1, 2)), groups * depth, *image)))
    weights = draw(arrays(draw(WEIGHTS), (groups * per_group, depth, *kernel)))
    attributes = {
        "input_zp": draw(st.integers(-128, 127)),
        "groups": groups,
        "pad": [amount for side in reversed(sides) for amount in side],
        "stride": stride,
        "dilation": dilation,
    }
    result = draw(RESULTS)
    return x, weights, draw(scale_biases(len(weights))), attributes, result, draw(outputs(result))


def unused():
    return {"weight_zp": 0, "vectorization_mode": 0}


@given(convolutions(), st.booleans())
def test_conv2d(case, nhwc):
    x, weights, scale_bias, attributes, result, output = case
    expected = convolution(x, weights, scale_bias, output, **attributes)
    init = np.empty(expected.shape, result)
    given_input = np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if nhwc else x
    common = {**attributes, **output.attributes(), **unused(), "nhwc_input": nhwc}
    y = conv2d(init, weights, scale_bias, given_input, **common)
    assert y.dtype == result
    assert y.tolist() == expected.tolist()


@given(convolutions(depthwise=True), st.booleans())
def test_depthwise_conv2d(case, nhwc):
    x, weights, scale_bias, attributes, result, output = case
    expected = convolution(x, weights, scale_bias, output, **attributes)
    given_input = x.transpose(0, 2, 3, 1) if nhwc else x
    common = {**attributes, **output.attributes(), **unused(), "nhwc_input": nhwc}
    y = depthwise_conv2d(np.empty(expected.shape, result), weights, scale_bias, given_input, **common)
    assert y.tolist() == expected.tolist()


@given(convolutions(rank=1))
def test_conv1d(case):
    x, weights, scale_bias, attributes, result, output = case
    in_two_dimensions = {
        **attributes,
        "pad": [*attributes["pad"], 0, 0],
        "stride": [1, *attributes["stride"]],
        "dilation": [1, *attributes["dilation"]],
    }
    rows = x[:, :, None], weights[:, :, None]
    expected = convolution(*rows, scale_bias, output, **in_two_dimensions)[:, :, 0]
    init = np.empty(expected.shape, result)
    y = conv1d(init, weights, scale_bias, x, **attributes, **output.attributes(), **unused())
    assert y.tolist() == expected.tolist()


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_convolution_in_several_blocks(seed):
    """Images that are unrolled a few rows at a time, against one convolution for each row of the output."""
    random = np.random.default_rng(seed)
    x = random.integers(-128, 128, (1, 64, 40, 90), dtype=np.int8)
    weights = random.integers(-128, 128, (8, 32, 3, 3), dtype=np.int8)
    scale_bias = np.array([5, 2**20], dtype=np.int32)
    attributes = {"input_zp": 0, "groups": 2, "stride": (1, 1), "dilation": (1, 1), "pad": (0,) * 4, **unused()}
    attributes |= {"output_zp": 0, "output_min": -128, "output_max": 127, "shift_factor": 32}
    y = conv2d(np.empty((1, 8, 38, 88), np.int8), weights, scale_bias, x, **attributes)
    for row in range(38):
        init = np.empty((1, 8, 1, 88), np.int8)
        expected = conv2d(init, weights, scale_bias, x[:, :, row : row + 3], **attributes)
        np.testing.assert_array_equal(y[:, :, row : row + 1], expected)


@given(st.data())
def test_fully_connected(data):
    *leading, depth = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    columns = data.draw(st.integers(1, 4))
    x = data.draw(arrays(np.int8, (*leading, depth)))
    weights = data.draw(arrays(data.draw(WEIGHTS), (depth, columns)))
    scale_bias, result = data.draw(scale_biases(columns)), data.draw(RESULTS)
    output = data.draw(outputs(result))
    expected = np.zeros((*leading, columns), np.int64)
    for index in np.ndindex(expected.shape):
        bias, multiplier = pair(scale_bias, index[-1])
        products = (int(x[*index[:-1], k]) * int(weights[k, index[-1]]) for k in range(depth))
        expected[index] = output.of(bias + sum(products), multiplier)
    init = np.empty(expected.shape, result)
    y = fully_connected(init, weights, scale_bias, x, input_zp=3, **output.attributes(), **unused())
    assert y.dtype == result
    assert y.tolist() == expected.tolist()


@given(st.data())
def test_matmul(data):
    batch = data.draw(st.lists(st.integers(1, 3), max_size=2))
    rows, depth, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    x1 = data.draw(arrays(np.int8, (*batch, rows, depth)))
    x2 = data.draw(arrays(data.draw(WEIGHTS), (*batch, depth, columns)))
    scale_bias, output, unsigned = data.draw(scale_biases(1)), data.draw(outputs()), data.draw(st.booleans())
    expected = np.zeros((*batch, rows, columns), np.int64)
    for *b, m, n in np.ndindex(expected.shape):
        bias, multiplier = pair(scale_bias, 0)
        left = [int(value) % 256 if unsigned else int(value) for value in x1[*b, m]]
        products = (left[k] * int(x2[*b, k, n]) for k in range(depth))
        expected[*b, m, n] = output.of(bias + sum(products), multiplier)
    init = np.empty(expected.shape, np.int8)
    y = matmul(init, scale_bias, x1, x2, **output.attributes("shift"), input1_unsigned=unsigned)
    assert y.tolist() == expected.tolist()


def one_product(weights_dtype=np.int16, bias=0, **changes):
    """A 1x1 convolution of 1,000 channels, all with the extreme value."""
    x = np.full((1, 1000, 1, 1), -128, np.int8)
    weights = np.full((1, 1000, 1, 1), np.iinfo(weights_dtype).min, weights_dtype)
    attributes = {"input_zp": 0, "weight_zp": 0, "output_zp": 0, "output_min": -128, "output_max": 127}
    attributes |= {"shift_factor": 24, "groups": 1, "pad": (0,) * 4, "stride": (1, 1), "dilation": (1, 1)}
    attributes |= {"vectorization_mode": 0, **changes}
    init = np.empty((1, 1, 1, 1), np.int8)
    return conv2d(init, weights, np.array([bias, 1], np.int32), x, **attributes)


def test_accumulator_that_leaves_int32_is_an_error():
    with pytest.raises(OverflowError, match="accumulator 4194304000 does not fit in int32"):
        one_product()
    assert one_product(np.int8).shape == (1, 1, 1, 1)
    with pytest.raises(OverflowError):
        one_product(np.int8, bias=2**31 - 1)


def test_what_is_not_defined_is_refused():
    with pytest.raises(ValueError, match="weight_zp is 3: the weights must have their zero point folded in"):
        one_product(weight_zp=3)
    with pytest.raises(ValueError, match="segment_output is True"):
        one_product(segment_output=True)
    with pytest.raises(ValueError, match="vectorization_mode is 1"):
        one_product(vectorization_mode=1)
    with pytest.raises(ValueError, match=r"result has shape \(1, 1, 3, 1\), init \(1, 1, 1, 1\)"):
        one_product(np.int8, pad=(0, 0, 1, 1))
    floats = np.ones((2, 2), np.float32)
    with pytest.raises(TypeError, match="weights is float32; this operation is defined for integers"):
        fully_connected(
            floats,
            floats,
            np.ones(2, np.float32),
            floats,
            input_zp=0,
            weight_zp=0,
            output_zp=0,
            output_min=0,
            output_max=0,
            shift_factor=0,
            vectorization_mode=0,
        )
