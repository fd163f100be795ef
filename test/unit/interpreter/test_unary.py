# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one tensor."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_reference import arrays

from torq_mlir.backends.interpreter.kernels import act, convert, table

BFLOAT16 = ml_dtypes.bfloat16
INTEGERS = st.sampled_from([np.int8, np.int16, np.int32])


DEFAULTS = {"input_zp": 0, "output_zp": 0, "min_int": 0, "max_int": 0, "min_fp": 0.0, "max_fp": 0.0}


def apply(name, x, dtype, **attributes):
    return act(np.empty(x.shape, dtype), x, name=name, **{**DEFAULTS, **attributes})


def saturated(value, dtype):
    limits = np.iinfo(dtype)
    return min(max(value, limits.min), limits.max)


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=8))
def test_f2f_rounds_half_to_even(values):
    y = apply("f2f", np.float32(values), BFLOAT16)
    bits = np.float32(values).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
    assert y.view(np.uint16).tolist() == rounded.tolist()
    assert apply("f2f", y, np.float32).tolist() == y.astype(np.float32).tolist()


@given(st.lists(st.floats(width=32), max_size=8), INTEGERS, st.sampled_from(["f2i", "convert"]))
def test_f2i_rounds_half_to_even_and_saturates(values, dtype, operation):
    x = np.float32(values)
    y = convert(np.empty(x.shape, dtype), x) if operation == "convert" else apply("f2i", x, dtype)
    limits = np.iinfo(dtype)
    for value, result in zip(values, y.tolist(), strict=True):
        if math.isnan(value):
            assert result == 0
        elif math.isinf(value):
            assert result == (limits.max if value > 0 else limits.min)
        else:
            assert result == saturated(round(Fraction(value)), dtype)


def test_f2i_of_bfloat16():
    assert apply("f2i", np.array([2.5, 3.5, -0.5, 200], BFLOAT16), np.int8).tolist() == [2, 4, 0, 127]


@given(INTEGERS, st.data())
def test_i2f_subtracts_the_zero_point(dtype, data):
    x, zero_point = data.draw(arrays(dtype, st.integers(0, 5))), data.draw(st.integers(-128, 127))
    y = apply("i2f", x, np.float32, input_zp=zero_point)
    assert y.tolist() == [float(np.float32(int(value) - zero_point)) for value in x]
    narrow = apply("i2f", x, BFLOAT16, input_zp=zero_point)
    assert narrow.tolist() == y.astype(BFLOAT16).tolist()


@given(INTEGERS, st.data())
def test_clamp_of_integers(dtype, data):
    x = data.draw(arrays(dtype, st.integers(0, 5)))
    low, high = sorted(data.draw(st.tuples(*[st.integers(-(2**40), 2**40)] * 2)))
    y = apply("clamp", x, dtype, min_int=low, max_int=high)
    assert y.tolist() == [saturated(min(max(int(value), low), high), dtype) for value in x]


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
def test_clamp_of_floats(dtype):
    x = np.array([-1, 0.5, 3, np.inf, -np.inf, np.nan], dtype)
    y = apply("clamp", x, dtype, min_fp=0.25, max_fp=2.0)
    np.testing.assert_array_equal(y.astype(np.float32), np.float32([0.25, 0.5, 2, 2, 0.25, np.nan]))


@given(INTEGERS, st.data())
def test_abs_and_negate_of_integers(dtype, data):
    x = data.draw(arrays(dtype, st.integers(0, 5)))
    input_zp, output_zp = data.draw(st.integers(-128, 127)), data.draw(st.integers(-128, 127))
    centered = [int(value) - input_zp for value in x]
    y = apply("abs", x, dtype, input_zp=input_zp, output_zp=output_zp)
    assert y.tolist() == [saturated(abs(value) + output_zp, dtype) for value in centered]
    y = apply("negate", x, dtype, input_zp=input_zp, output_zp=output_zp)
    assert y.tolist() == [saturated(-value + output_zp, dtype) for value in centered]


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
def test_functions_of_floats(dtype):
    x = np.array([-1.5, 0.0, 2.5, -np.inf], dtype)
    assert apply("abs", x, dtype).tolist() == [1.5, 0.0, 2.5, np.inf]
    assert apply("negate", x, dtype).tolist() == [1.5, 0.0, -2.5, np.inf]
    expected = [dtype(np.float32(math.tanh(float(value)))) for value in x]
    assert apply("tanh", x, dtype).tolist() == expected


def test_what_act_does_not_define():
    x = np.zeros(2, np.int8)
    with pytest.raises(TypeError, match='act "tanh" from int8 to int8 is not defined'):
        apply("tanh", x, np.int8)
    with pytest.raises(TypeError, match='act "sinh"'):
        apply("sinh", np.float32([1]), np.float32)
    with pytest.raises(ValueError, match="with weights"):
        act(x, x, x, name="abs", **DEFAULTS)


@given(INTEGERS, INTEGERS, st.data())
def test_convert_between_integers_saturates(source, target, data):
    x = data.draw(arrays(source, hnp.array_shapes(max_dims=2)))
    y = convert(np.empty(x.shape, target), x)
    assert y.dtype == target
    assert y.ravel().tolist() == [saturated(int(value), target) for value in x.flat]


def test_convert_between_other_types():
    booleans = np.array([True, False])
    assert convert(np.empty(2, np.int8), booleans).tolist() == [1, 0]
    assert convert(np.empty(2, np.float32), booleans).tolist() == [1.0, 0.0]
    assert convert(np.empty(2, np.bool_), booleans).tolist() == [True, False]
    assert convert(np.empty(1, BFLOAT16), np.float32([1 + 2.0**-8])).tolist() == [1.0]
    assert convert(np.empty(1, np.float32), np.int32([2**24 + 1])).tolist() == [2.0**24]
    with pytest.raises(TypeError, match="convert from int8 to i1"):
        convert(np.empty(2, np.bool_), np.zeros(2, np.int8))


@given(arrays(np.int8, 256), arrays(np.int8, hnp.array_shapes()), st.booleans())
def test_table(values, x, dynamic):
    words = np.array([(int(value) << 8) & 0xFFFF for value in values], np.int32)
    tables = {"dynamic_table": words} if dynamic else {"static_table": tuple(words.tolist())}
    y = table(np.empty(x.shape, np.int8), np.int32([-128, 128]), x, **tables)
    assert y.ravel().tolist() == [int(values[int(index) + 128]) for index in x.flat]


@given(arrays(np.int32, 256), arrays(np.int16, hnp.array_shapes()))
def test_table_of_i16(words, x):
    """Entries as they are for i8; a line between an entry and the next one that its slope gives for i16."""
    x8 = (x >> 8).astype(np.int8)
    y = table(np.empty(x.shape, np.int16), np.int32([-128, 128]), x8, words & 0xFFFF)
    assert y.ravel().tolist() == [int(words[int(index) + 128].astype(np.int16)) for index in x8.flat]

    def line(value: int) -> int:
        entry, fraction = divmod(value + 2**15, 256)
        base, slope = int(words[entry].astype(np.int16)), int(words[entry] >> 16)
        return min(max(base + (slope * fraction + 128) // 256, -(2**15)), 2**15 - 1)

    y = table(np.empty(x.shape, np.int16), np.int32([-32768, 1]), x, words)
    assert y.dtype == np.int16
    assert y.ravel().tolist() == [line(int(value)) for value in x.flat]


def test_what_table_does_not_define():
    x, index, words = np.zeros(2, np.int8), np.int32([-128, 128]), np.zeros(256, np.int32)
    with pytest.raises(ValueError, match="a slope is not 0"):
        table(x, index, x, words + (1 << 16))
    with pytest.raises(ValueError, match=r"scale_bias \[0, 1\]"):
        table(x, np.int32([0, 1]), x, words)
    with pytest.raises(ValueError, match="shift is 8"):
        table(x, index, x, words, shift=8)
    with pytest.raises(ValueError, match="one table"):
        table(x, index, x, words, static_table=words)
    with pytest.raises(TypeError, match="table from int16 to int8"):
        table(x, index, x.astype(np.int16), words)
    with pytest.raises(ValueError, match=r"scale_bias \[-128, 128\] is not \[-32768, 1\]"):
        table(x.astype(np.int16), index, x.astype(np.int16), words)
