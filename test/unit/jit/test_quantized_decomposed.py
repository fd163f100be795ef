# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled operations per token and per group, chosen parameters and conversions give the bits of PyTorch's."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from modules_under_test import assert_same, constant, module_of
from quantized_decomposed_torch import (
    FLOATS,
    STORAGE,
    draw_range,
    floats,
    integers,
    operators,
    scales,
    to_numpy,
    to_torch,
    torch,
)
from torch_mlir import ir

from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.numerics.groups import dequantize_per_channel_group, quantize_per_channel_group

few = settings(max_examples=12)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64]
ZERO_POINTS = [np.int32, np.int64, *FLOATS]


def integer_type(dtype):
    """With its sign."""
    width, signed = 8 * np.dtype(dtype).itemsize, np.dtype(dtype).kind == "i"
    return ir.IntegerType.get_signed(width) if signed else ir.IntegerType.get_unsigned(width)


def element_type(dtype):
    """With the sign of integers; a boolean is i1."""
    return integer_type(dtype) if np.dtype(dtype).kind in "iu" else elements.element_type(np.dtype(dtype))


def signless(array):
    """As arrays of unsigned storage are passed."""
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def agree(inputs, expected, body, dynamic=False):
    """What is compiled of `body` gives the expected arrays, or tensors of PyTorch."""
    inputs = [signless(array) for array in inputs]
    expected = [each if isinstance(each, np.ndarray) else to_numpy(each) for each in expected]
    for actual, reference in zip(jit.compile(module_of(inputs, body, dynamic))(inputs), expected, strict=True):
        assert_same(actual, signless(reference))


def zero_points(shape, dtype):
    return integers(shape, dtype, -128, 255) if np.dtype(dtype).kind == "i" else floats(shape, dtype, nan=False)


def draw_token_parameters(data, shape):
    shape = (*shape[:-1], 1)
    scale = data.draw(scales(shape, data.draw(st.sampled_from(list(FLOATS)))))
    return scale, data.draw(zero_points(shape, data.draw(st.sampled_from(ZERO_POINTS))))


@pytest.mark.parametrize("input_dtype", FLOATS)
@pytest.mark.parametrize("constants", [True, False])
@few
@given(st.sampled_from([np.int8, np.uint8]), st.booleans(), st.data())
def test_quantize_per_token(input_dtype, constants, dtype, dynamic, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=5)), input_dtype))
    parameters = draw_token_parameters(data, x.shape)
    low, high = draw_range(data, dtype)
    expected = operators.quantize_per_token(to_torch(x), *map(to_torch, parameters), low, high, STORAGE[dtype])

    def body(x, *arguments):
        operands = map(constant, parameters) if constants else arguments
        attributes = {"quant_min": low, "quant_max": high, "dtype": integer_type(dtype)}
        return quantized_decomposed.quantize_per_token(x, *operands, **attributes)

    agree([x] if constants else [x, *parameters], [expected], body, dynamic)


@pytest.mark.parametrize("result_dtype", FLOATS)
@pytest.mark.parametrize("constants", [True, False])
@few
@given(st.sampled_from([np.int8, np.uint8, np.int16]), st.booleans(), st.data())
def test_dequantize_per_token(result_dtype, constants, dtype, dynamic, data):
    q = data.draw(integers(data.draw(hnp.array_shapes(max_side=5)), dtype))
    parameters = draw_token_parameters(data, q.shape)
    low, high = (int(bound) for bound in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    types = STORAGE[dtype], FLOATS[result_dtype]
    expected = operators.dequantize_per_token(to_torch(q), *map(to_torch, parameters), low, high, *types)

    def body(q, *arguments):
        operands = map(constant, parameters) if constants else arguments
        attributes = {"quant_min": low, "quant_max": high, "dtype": integer_type(dtype)}
        result = elements.element_type(np.dtype(result_dtype))
        return quantized_decomposed.dequantize_per_token(q, *operands, result_element_type=result, **attributes)

    agree([q] if constants else [q, *parameters], [expected], body, dynamic)


@st.composite
def groups(draw, rank=None):
    """Shape, axis, group size, and the shape of the parameters."""
    rank = draw(st.integers(1, 4)) if rank is None else rank
    shape, axis = [draw(st.integers(1, 4)) for _ in range(rank)], draw(st.integers(-rank, rank - 1))
    count, size = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    parameter_shape = [*shape]
    shape[axis], parameter_shape[axis] = count * size, count
    return tuple(shape), axis, size + (draw(st.integers(0, 3)) if count == 1 else 0), tuple(parameter_shape)


@pytest.mark.parametrize("input_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8]), st.booleans(), st.data())
def test_quantize_per_channel_group(input_dtype, dtype, dynamic, data):
    rows, count, size = (data.draw(st.integers(low, 4)) for low in (1, 1, 2))
    x = data.draw(floats((rows, count * size), input_dtype, nan=False))
    scale = data.draw(scales((rows, count), data.draw(st.sampled_from(list(FLOATS)))))
    zero_point = data.draw(zero_points(scale.shape, data.draw(st.sampled_from(ZERO_POINTS))))
    low, high = draw_range(data, dtype)
    inputs = [x, scale, zero_point]
    expected = operators.quantize_per_channel_group(*map(to_torch, inputs), low, high, STORAGE[dtype], size)
    attributes = {"quant_min": low, "quant_max": high, "group_size": size}
    agree(
        inputs,
        [expected],
        lambda x, s, z: quantized_decomposed.quantize_per_channel_group(
            x, s, z, dtype=integer_type(dtype), **attributes
        ),
        dynamic,
    )


@pytest.mark.parametrize("result_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.uint8, np.int16]), st.booleans(), st.booleans(), st.data())
def test_dequantize_per_channel_group(result_dtype, dtype, symmetric, dynamic, data):
    rows, count, size = (data.draw(st.integers(low, 4)) for low in (1, 1, 2))
    q = data.draw(integers((rows, count * size), dtype))
    scale = data.draw(floats((rows, count), data.draw(st.sampled_from(list(FLOATS)))))
    zero_point = data.draw(zero_points(scale.shape, data.draw(st.sampled_from(ZERO_POINTS))))
    inputs = [q, scale, *([] if symmetric else [zero_point])]
    low, high = (int(bound) for bound in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    tensors = [to_torch(q), to_torch(scale), None if symmetric else to_torch(zero_point)]
    types = STORAGE[dtype], size, FLOATS[result_dtype]
    expected = operators.dequantize_per_channel_group(*tensors, low, high, *types)
    attributes = {"quant_min": low, "quant_max": high, "group_size": size}

    def body(*operands):
        result = elements.element_type(np.dtype(result_dtype))
        return quantized_decomposed.dequantize_per_channel_group(
            *operands, dtype=integer_type(dtype), result_element_type=result, **attributes
        )

    agree(inputs, [expected], body, dynamic)


@pytest.mark.parametrize("input_dtype", FLOATS)
@few
@given(groups(), st.booleans(), st.booleans(), st.data())
def test_groups_along_any_axis(input_dtype, shapes, divide, round_first, data):
    """What PyTorch has not, as ONNX's blocked operators, as `numerics` defines it."""
    shape, axis, group_size, parameter_shape = shapes
    dtype = data.draw(st.sampled_from([np.int8, np.uint8, np.int16, np.uint16, np.int32]))
    x = data.draw(floats(shape, input_dtype))
    scale = data.draw(scales(parameter_shape, input_dtype))
    zero_point = data.draw(integers(parameter_shape, dtype, 0, 100))
    low, high = draw_range(data, dtype)
    form = {"group_size": group_size, "axis": axis}
    flags = {"divide": divide, "round_first": round_first}
    q = quantize_per_channel_group(x, scale, zero_point, low, high, dtype, **form, **flags)
    back = dequantize_per_channel_group(q, scale, zero_point, dtype=input_dtype, **form)

    def body(x, scale, zero_point):
        attributes = {"quant_min": low, "quant_max": high, "dtype": integer_type(dtype), **form}
        q = quantized_decomposed.quantize_per_channel_group(x, scale, zero_point, **attributes, **flags)
        result = elements.element_type(np.dtype(input_dtype))
        return q, quantized_decomposed.dequantize_per_channel_group(
            q, scale, zero_point, result_element_type=result, **attributes
        )

    agree([x, scale, zero_point], [q, back], body, data.draw(st.booleans()))


def test_bounds_that_half_precision_makes_infinite():
    x, scale, zero_point = np.zeros((2, 4), np.float16), np.ones((2, 2), np.float16), np.zeros((2, 2), np.int32)
    low, high = 65520, 2**31 - 1
    form = {"group_size": 2, "axis": 1}
    q = quantize_per_channel_group(x, scale, zero_point, low, high, np.int32, **form)
    assert (q == high).all()

    def body(x, scale, zero_point):
        attributes = {"quant_min": low, "quant_max": high, "dtype": integer_type(np.int32), **form}
        return (quantized_decomposed.quantize_per_channel_group(x, scale, zero_point, **attributes),)

    agree([x, scale, zero_point], [q], body, False)


@pytest.mark.parametrize("unsigned", [False, True])
def test_four_bits_in_groups(unsigned):
    q = np.arange(32, dtype=np.int8).reshape(2, 16) % 16 - (0 if unsigned else 8)
    scale, zero_point = np.float32([[0.5, 0.25], [2, 3]]), np.int8([[1, 2], [3, 7]])
    low, high = (0, 15) if unsigned else (-8, 7)
    expected = dequantize_per_channel_group(q, scale, zero_point, group_size=8)

    def body(scale):
        element = ir.IntegerType.get_signless(4)
        weights, zero_points = (constant_of(array, element) for array in ((q << 4 >> 4) if unsigned else q, zero_point))
        dtype = ir.IntegerType.get_unsigned(4) if unsigned else ir.IntegerType.get_signed(4)
        return quantized_decomposed.dequantize_per_channel_group(
            weights, scale, zero_points, quant_min=low, quant_max=high, dtype=dtype, group_size=8
        )

    agree([scale], [expected], body)


def constant_of(array, element):
    return ir.Operation.create(
        "arith.constant",
        results=[ir.RankedTensorType.get(array.shape, element)],
        attributes={"value": elements.from_numpy(array, element)},
    ).result


@pytest.mark.parametrize("input_dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("dtype", [*STORAGE, np.int32])
@few
@given(st.booleans(), st.booleans(), st.data())
def test_choose_qparams(input_dtype, dtype, nan, dynamic, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)), input_dtype, nan=nan))
    limits = np.iinfo(dtype)
    low = int(data.draw(st.one_of(st.just(limits.min), st.integers(limits.min, 0))))
    high = int(data.draw(st.one_of(st.just(limits.max), st.integers(1, limits.max))))
    eps = data.draw(st.sampled_from([1e-12, 1.1920928955078125e-07, 1.0]))
    arguments = to_torch(x), low, high, eps, {**STORAGE, np.int32: torch.int32}[dtype]
    expected = *operators.choose_qparams.tensor(*arguments), *operators.choose_qparams_symmetric.tensor(*arguments)

    def body(x):
        attributes = {"quant_min": low, "quant_max": high, "eps": eps, "dtype": integer_type(dtype)}
        return (
            *quantized_decomposed.choose_qparams(x, **attributes),
            *quantized_decomposed.choose_qparams_symmetric(x, **attributes),
        )

    agree([x], expected, body, dynamic)


@pytest.mark.parametrize("input_dtype", FLOATS)
@few
@given(st.booleans(), st.booleans(), st.data())
def test_choose_qparams_per_token(input_dtype, nan, dynamic, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=6)), input_dtype, nan=nan))
    expected = (
        *operators.choose_qparams_per_token(to_torch(x), torch.int8),
        *operators.choose_qparams_per_token_asymmetric(to_torch(x), torch.int8),
        *operators._choose_qparams_per_token_asymmetric_impl(to_torch(x), torch.int8),
    )

    def body(x):
        dtype = integer_type(np.int8)
        return (
            *quantized_decomposed.choose_qparams_per_token(x, dtype=dtype),
            *quantized_decomposed.choose_qparams_per_token_asymmetric(x, dtype=dtype),
            *quantized_decomposed._choose_qparams_per_token_asymmetric_impl(x, dtype=dtype),
        )

    agree([x], expected, body, dynamic)


@few
@given(st.booleans(), st.data())
def test_dynamic_quantization_per_tensor(symmetric, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=6)), np.float32, nan=False))
    attributes = {"quant_min": -128, "quant_max": 127}
    choose = "choose_qparams_symmetric" if symmetric else "choose_qparams"
    parameters = getattr(operators, choose).tensor(to_torch(x), -128, 127, 1e-7, torch.int8)
    q = operators.quantize_per_tensor.tensor(to_torch(x), *parameters, -128, 127, torch.int8)
    expected = operators.dequantize_per_tensor.tensor(q, *parameters, -128, 127, torch.int8)

    def body(x):
        dtype = integer_type(np.int8)
        parameters = getattr(quantized_decomposed, choose)(x, eps=1e-7, dtype=dtype, **attributes)
        q = quantized_decomposed.quantize_per_tensor(x, *parameters, dtype=dtype, **attributes)
        return q, quantized_decomposed.dequantize_per_tensor(q, *parameters, dtype=dtype, **attributes)

    agree([x], [q, expected], body)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("input_dtype", FLOATS)
@few
@given(st.booleans(), st.data())
def test_dynamic_quantization_per_token(input_dtype, symmetric, nan, data):
    """NaN and infinities pass through all of it as in PyTorch."""
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=6)), input_dtype, nan=nan))
    choose = "choose_qparams_per_token" if symmetric else "choose_qparams_per_token_asymmetric"
    parameters = getattr(operators, choose)(to_torch(x), torch.int8)
    q = operators.quantize_per_token(to_torch(x), *parameters, -128, 127, torch.int8)
    expected = operators.dequantize_per_token(q, *parameters, -128, 127, torch.int8, torch.float32)

    def body(x):
        attributes = {"quant_min": -128, "quant_max": 127, "dtype": integer_type(np.int8)}
        parameters = getattr(quantized_decomposed, choose)(x, dtype=integer_type(np.int8))
        q = quantized_decomposed.quantize_per_token(x, *parameters, **attributes)
        return q, quantized_decomposed.dequantize_per_token(q, *parameters, **attributes)

    agree([x], [q, expected], body)


@pytest.mark.parametrize("scale_dtype", FLOATS)
@few
@given(st.sampled_from([np.int8, np.int32, np.int64]), st.booleans(), st.data())
def test_fake_quant_per_channel(scale_dtype, zero_point_dtype, dynamic, data):
    x = data.draw(floats(data.draw(hnp.array_shapes(max_side=5)), np.float32))
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale = data.draw(scales(x.shape[axis], scale_dtype))
    zero_point = data.draw(integers(x.shape[axis], zero_point_dtype))
    expected = operators.fake_quant_per_channel(to_torch(x), to_torch(scale), to_torch(zero_point), axis, -100, 90)
    attributes = {"axis": axis - x.ndim if data.draw(st.booleans()) else axis, "quant_min": -100, "quant_max": 90}
    agree(
        [x, scale, zero_point],
        [expected],
        lambda x, s, z: quantized_decomposed.fake_quant_per_channel(x, s, z, **attributes),
        dynamic,
    )


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, np.bool_])
@settings(max_examples=3)
@given(dynamic=st.booleans(), data=st.data())
def test_convert_element_type(source, dynamic, data):
    """To every other type at once."""
    if source in FLOATS:
        x = data.draw(floats(30, source))
        large = [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**31 + 300, 1e12, -1e20, 65535.9, -0.9, -(2.0**31) - 0.5]
        with np.errstate(over="ignore"):
            x = np.concatenate(
                [x, np.array(large).astype(np.float32 if source != np.float64 else source).astype(source)]
            )
    else:
        x = data.draw(hnp.arrays(np.bool_, 30)) if source == np.bool_ else data.draw(integers(30, source))
    targets = [*FLOATS, *INTEGERS, np.bool_]
    expected = [operators.convert_element_type.no_fuse(to_torch(x), to_torch(np.zeros(1, to)).dtype) for to in targets]

    def body(x):
        types = [element_type(target) for target in targets]
        return [
            quantized_decomposed.convert_element_type(x, dtype=to, input_dtype=element_type(source)) for to in types
        ]

    agree([x], expected, body, dynamic)


def test_the_interpreter_agrees():
    """Operations with several results are computed there by compiled code, too."""
    x = np.random.default_rng(0).normal(0, 3, (3, 8)).astype(np.float32)

    def body(x):
        attributes = {"quant_min": -128, "quant_max": 127, "dtype": integer_type(np.int8)}
        parameters = quantized_decomposed.choose_qparams_per_token_asymmetric(x, dtype=integer_type(np.int8))
        q = quantized_decomposed.quantize_per_token(x, *parameters, **attributes)
        return *parameters, q, quantized_decomposed.dequantize_per_token(q, *parameters, **attributes)

    module = module_of([x], body)
    for actual, expected in zip(interpreter.run(module, [x]), jit.compile(module)([x]), strict=True):
        assert_same(actual, expected)
