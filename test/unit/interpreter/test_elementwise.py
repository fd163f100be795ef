# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations on two tensors against loops."""

import operator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_reference import arrays, outputs, pair, scale_biases

from torq_mlir.backends.interpreter.kernels import add, elementwisebinary, fma, mul, select

BROADCAST = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)
RESULTS = st.sampled_from([np.int8, np.int16])


@given(BROADCAST, st.data())
def test_add(shapes, data):
    x1, x2 = (data.draw(arrays(np.int8, shape)) for shape in shapes.input_shapes)
    weights, scale_bias = data.draw(arrays(np.int16, 2)), data.draw(scale_biases(1))
    result = data.draw(RESULTS)
    output = data.draw(outputs(result))
    bias, multiplier = pair(scale_bias, 0)
    first, second = np.broadcast_arrays(x1, x2)
    expected = np.zeros(shapes.result_shape, np.int64)
    for index in np.ndindex(expected.shape):
        accumulator = int(first[index]) * int(weights[0]) + int(second[index]) * int(weights[1]) + bias
        expected[index] = output.of(accumulator, multiplier)
    init = np.empty(shapes.result_shape, result)
    y = add(init, weights, scale_bias, x1, x2, name="add", input_zp=0, **output.attributes())
    assert y.dtype == result
    assert y.tolist() == expected.tolist()


def test_add_of_a_scalar():
    x1, x2 = np.array([[1, 2], [3, 4]], np.int8), np.array([[[10]]], np.int8)
    attributes = {"name": "sub", "input_zp": 0, "output_zp": 1, "output_min": -128, "output_max": 127}
    operands = np.array([4, -4], np.int16), np.array([0, 1], np.int32), x1, x2
    y = add(np.empty((2, 2), np.int8), *operands, shift_factor=2, rhs_is_scalar=True, **attributes)
    assert y.tolist() == [[-8, -7], [-6, -5]]
    with pytest.raises(ValueError, match="input_zp is 3"):
        add(np.empty((2, 2), np.int8), *operands, shift_factor=2, **{**attributes, "input_zp": 3})
    with pytest.raises(ValueError, match='add named "max" is not defined'):
        add(np.empty((2, 2), np.int8), *operands, shift_factor=2, **{**attributes, "name": "max"})


@given(BROADCAST, st.data())
def test_mul_of_integers(shapes, data):
    x1, x2 = (data.draw(arrays(np.int16, shape)) for shape in shapes.input_shapes)
    scale_bias, result = data.draw(scale_biases(1)), data.draw(RESULTS)
    output = data.draw(outputs(result))
    bias, multiplier = pair(scale_bias, 0)
    first, second = np.broadcast_arrays(x1, x2)
    expected = np.zeros(shapes.result_shape, np.int64)
    for index in np.ndindex(expected.shape):
        expected[index] = output.of(int(first[index]) * int(second[index]) + bias, multiplier)
    y = mul(np.empty(shapes.result_shape, result), scale_bias, x1, x2, **output.attributes("shift"))
    assert y.tolist() == expected.tolist()


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=1, max_size=5), st.floats(-9, 9, width=32)
)
def test_mul_of_bfloat16(values, bias):
    x1, x2 = np.array(values, ml_dtypes.bfloat16).T
    attributes = {"output_zp": 0, "output_min": 0, "output_max": 0, "shift": 0}
    y = mul(np.empty(len(values), ml_dtypes.bfloat16), np.float32([bias]), x1, x2, **attributes)
    for result, a, b in zip(y, x1, x2, strict=True):
        product = np.float32(float(a) * float(b))
        assert result == ml_dtypes.bfloat16(product + np.float32(bias))


def test_mul_of_other_floats_is_refused():
    x = np.ones(2, np.float32)
    with pytest.raises(TypeError, match="mul of float32 and float32"):
        mul(np.empty(2, ml_dtypes.bfloat16), x[:1], x, x, output_zp=0, output_min=0, output_max=0, shift=0)
    with pytest.raises(TypeError, match="defined for integers"):
        mul(x, x, x, x, output_zp=0, output_min=0, output_max=0, shift=0)


@given(hnp.array_shapes(min_dims=0, max_dims=4, max_side=3), st.data())
def test_fma(shape, data):
    channel_axis = 1 if len(shape) > 2 else -1
    channels = shape[channel_axis] if shape else 1
    x = data.draw(arrays(np.int8, shape))
    weights = data.draw(arrays(np.int8, data.draw(st.sampled_from([1, channels]))))
    scale_bias, unsigned = data.draw(scale_biases(channels)), data.draw(st.booleans())
    result = data.draw(st.sampled_from([np.int8, np.int16, np.int32]))
    output = data.draw(outputs(result))
    expected = np.zeros(shape, np.int64)
    for index in np.ndindex(shape):
        channel = index[channel_axis] if index else 0
        bias, multiplier = pair(scale_bias, channel)
        value = int(x[index]) % 256 if unsigned else int(x[index])
        weight = int(weights[channel if weights.size > 1 else 0])
        expected[index] = output.of(value * weight + bias, multiplier)
    y = fma(np.empty(shape, result), weights, scale_bias, x, **output.attributes(), input_unsigned=unsigned)
    assert y.dtype == result
    assert y.tolist() == expected.tolist()


def wrapped(value):
    return (value + 128) % 256 - 128


BINARY = {
    0: operator.and_,
    1: operator.or_,
    2: operator.xor,
    4: min,
    5: max,
    6: operator.gt,
    7: operator.ge,
    8: operator.eq,
    9: lambda a, b: bool(a) and bool(b),
    10: lambda a, b: bool(a) or bool(b),
    11: lambda a, b: bool(a) != bool(b),
    13: operator.sub,
    14: operator.add,
}


@given(BROADCAST, st.sampled_from(sorted(BINARY)), st.booleans(), st.data())
def test_elementwisebinary_of_integers(shapes, op_type, unsigned, data):
    x1, x2 = (data.draw(arrays(np.int8, shape)) for shape in shapes.input_shapes)
    gives_bool = 6 <= op_type <= 12
    first, second = np.broadcast_arrays(x1, x2)
    expected = np.zeros(shapes.result_shape, np.int64)
    for index in np.ndindex(expected.shape):
        a, b = int(first[index]), int(second[index])
        if unsigned:
            a, b = a % 256, b % 256
        value = BINARY[op_type](a, b)
        expected[index] = value if gives_bool else wrapped(value)
    init = np.empty(shapes.result_shape, np.bool_ if gives_bool else np.int8)
    y = elementwisebinary(init, x1, x2, op_type=op_type, is_unsigned=unsigned)
    assert y.dtype == init.dtype
    assert y.tolist() == expected.tolist()


def test_elementwisebinary_of_floats():
    x1, x2 = np.float32([1.5, np.nan, -1]), np.float32([1.5, 2, 1])
    results = {op: elementwisebinary(np.empty(3, np.float32), x1, x2, op_type=op) for op in (4, 5, 13, 14)}
    np.testing.assert_array_equal(results[4], np.float32([1.5, np.nan, -1]))
    np.testing.assert_array_equal(results[5], np.float32([1.5, np.nan, 1]))
    np.testing.assert_array_equal(results[13], np.float32([0, np.nan, -2]))
    np.testing.assert_array_equal(results[14], np.float32([3, np.nan, 0]))
    compared = [elementwisebinary(np.empty(3, np.bool_), x1, x2, op_type=op).tolist() for op in (6, 7, 8)]
    assert compared == [[False] * 3, [True, False, False], [True, False, False]]


def test_elementwisebinary_of_booleans():
    x1, x2 = np.array([True, True, False]), np.array([True, False, False])
    results = [elementwisebinary(np.empty(3, np.bool_), x1, x2, op_type=op).tolist() for op in (0, 9, 10, 11)]
    assert results == [[True, False, False], [True, False, False], [True, True, False], [False, True, False]]


@pytest.mark.parametrize("op_type", [3, 12, 15, -1])
def test_operations_on_one_input_are_refused(op_type):
    x = np.zeros(2, np.int8)
    with pytest.raises(ValueError, match=f"op_type {op_type} is not a binary operation"):
        elementwisebinary(x, x, x, op_type=op_type)


def test_elementwisebinary_refuses_mixed_types():
    with pytest.raises(TypeError, match="input1 is int8, input2 int16"):
        elementwisebinary(np.zeros(2, np.int8), np.zeros(2, np.int8), np.zeros(2, np.int16), op_type=14)
    floats = np.zeros(2, np.float32)
    with pytest.raises(TypeError, match="bitwise"):
        elementwisebinary(floats, floats, floats, op_type=0)


def test_select():
    condition = np.array([[True], [False]])
    y = select(np.empty((2, 3), np.int8), condition, np.int8([1, 2, 3]), np.int8([[-1]]))
    assert y.dtype == np.int8
    assert y.tolist() == [[1, 2, 3], [-1, -1, -1]]


@pytest.mark.parametrize("op_type", [13, 14])
def test_i1_has_no_arithmetic(op_type):
    x = np.array([True, False])
    with pytest.raises(TypeError, match="i1"):
        elementwisebinary(x, x, x, op_type=op_type)
