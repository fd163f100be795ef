# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled quantized_decomposed operations give the bits of PyTorch and ONNX Runtime."""

import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from modules_under_test import assert_same, constant, module_of
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends import jit
from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.numerics.quantize import dequantize, quantize

few = settings(max_examples=12)
BFLOAT16 = ml_dtypes.bfloat16
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]
STORAGE = [np.int8, np.uint8, np.int16, np.uint16, np.int32]
INFINITE = [np.nan, np.inf, -np.inf, -0.0]


def storage_type(dtype):
    width, signed = 8 * np.dtype(dtype).itemsize, np.dtype(dtype).kind == "i"
    return ir.IntegerType.get_signed(width) if signed else ir.IntegerType.get_unsigned(width)


def signless(array):
    """As arrays of unsigned storage are passed."""
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def run(inputs, body, dynamic=False):
    (result,) = jit.compile(module_of(inputs, body, dynamic))(inputs)
    return result


def floats(dtype, shape, magnitude=500):
    ties = st.integers(-600, 600).map(lambda value: value / 4)
    values = st.one_of(st.floats(-magnitude, magnitude, width=16), st.sampled_from(INFINITE), ties)
    return hnp.arrays(np.float64, shape, elements=values, fill=st.nothing()).map(lambda array: array.astype(dtype))


def integers(dtype, shape, low=None, high=None):
    limits = np.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    return hnp.arrays(dtype, shape, elements=st.integers(int(low), int(high)), fill=st.nothing())


def scales(dtype, shape):
    values = st.floats(2.0**-6, 8).filter(lambda value: value > 0)
    return hnp.arrays(np.float64, shape, elements=values, fill=st.nothing()).map(lambda array: array.astype(dtype))


@st.composite
def parameters(draw, shape, dtype, scale_dtype, zero_point_dtype):
    """Axis or None, scale, zero point, and the range."""
    limits = np.iinfo(dtype)
    axis = draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1))) if shape else None
    size = () if axis is None else shape[axis]
    low = draw(st.one_of(st.just(limits.min), st.integers(int(limits.min), 0)))
    high = draw(st.one_of(st.just(limits.max), st.integers(1, 100)))
    bounds = max(-100, int(low)), min(100, int(high))
    zero_point = draw(st.one_of(st.just(np.zeros(size, np.int64)), integers(np.int64, size, *bounds)))
    return axis, draw(scales(scale_dtype, size)), zero_point.astype(zero_point_dtype), int(low), int(high)


def build_quantize(axis, **attributes):
    if axis is None:
        return lambda x, s, z: quantized_decomposed.quantize_per_tensor(x, s, z, **attributes)
    return lambda x, s, z: quantized_decomposed.quantize_per_channel(x, s, z, axis=axis, **attributes)


def build_dequantize(axis, **attributes):
    if axis is None:
        return lambda q, s, z: quantized_decomposed.dequantize_per_tensor(q, s, z, **attributes)
    return lambda q, s, z: quantized_decomposed.dequantize_per_channel(q, s, z, axis=axis, **attributes)


@pytest.mark.parametrize("divide", [False, True])
@pytest.mark.parametrize("dtype", STORAGE)
@few
@given(data=st.data())
def test_quantize(dtype, divide, data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, max_side=4))
    x = data.draw(floats(data.draw(st.sampled_from(FLOATS)), shape))
    scale_dtype = np.float32 if divide else data.draw(st.sampled_from(FLOATS))
    zero_point_dtype = data.draw(st.sampled_from([dtype, np.int32, np.int64]))
    axis, scale, zero_point, low, high = data.draw(parameters(shape, dtype, scale_dtype, zero_point_dtype))
    expected = signless(quantize(x, scale, zero_point, low, high, dtype, axis=axis, divide=divide))
    is_constant, dynamic = data.draw(st.booleans()), data.draw(st.booleans())

    def body(x, *operands):
        operands = operands or (constant(scale), constant(signless(zero_point)))
        attributes = {"quant_min": low, "quant_max": high, "dtype": storage_type(dtype), "divide": divide}
        return build_quantize(axis, **attributes)(x, *operands)

    inputs = [x] if is_constant else [x, scale, signless(zero_point)]
    assert_same(run(inputs, body, dynamic), expected)


@pytest.mark.parametrize("low", [-(2**24) - 1, -(2**24) - 3, -(2**31) + 8])
def test_bounds_that_are_no_floats(low):
    """They are rounded to the nearest one, as PyTorch does before it clamps."""
    x, (scale, zero_point) = np.array([-np.inf, np.inf], np.float32), (np.ones((), np.float32), np.zeros((), np.int32))
    expected = quantize(x, scale, zero_point, low, 100, np.int32)
    np.testing.assert_array_equal(expected, [np.float32(low), 100])
    form = {"quant_min": low, "quant_max": 100}

    def body(x):
        build = build_quantize(None, dtype=storage_type(np.int32), **form)
        return build(x, constant(scale), constant(zero_point))

    assert_same(run([x], body), expected)


@pytest.mark.parametrize("dtype", STORAGE)
@few
@given(data=st.data())
def test_dequantize(dtype, data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, max_side=4))
    q = data.draw(integers(dtype, shape))
    scale_dtype, result_dtype = (data.draw(st.sampled_from(FLOATS)) for _ in range(2))
    zero_point_dtype = data.draw(st.sampled_from([dtype, np.int32, np.int64]))
    axis, scale, zero_point, low, high = data.draw(parameters(shape, dtype, scale_dtype, zero_point_dtype))
    expected = dequantize(q, scale, zero_point, axis=axis, dtype=result_dtype)
    is_constant, dynamic = data.draw(st.booleans()), data.draw(st.booleans())

    def body(q, *operands):
        operands = operands or (constant(scale), constant(signless(zero_point)))
        attributes = {"quant_min": low, "quant_max": high, "dtype": storage_type(dtype)}
        attributes["result_element_type"] = elements.element_type(np.dtype(result_dtype))
        return build_dequantize(axis, **attributes)(q, *operands)

    inputs = [signless(q)] if is_constant else [signless(q), scale, signless(zero_point)]
    assert_same(run(inputs, body, dynamic), expected)


@pytest.mark.parametrize("bounds", [(-128, 127), (-5, 9), (-1000, 1000)])
def test_range_known_at_run_time(bounds):
    x = np.array([-np.inf, -600, -3.3, 0.5, 1.5, 700, np.inf], np.float32)
    low, high = (np.array(bound, np.int64) for bound in bounds)

    def body(x, low, high):
        parameters = constant(np.float32(2)), constant(np.int64(1))
        return quantized_decomposed.quantize_per_tensor(
            x, *parameters, range=[low, high], quant_min=None, quant_max=None, dtype=storage_type(np.int8)
        )

    clamped = max(bounds[0], -128), min(bounds[1], 127)
    assert_same(run([x, low, high], body), quantize(x, 2.0, 1, *clamped, np.int8))


def test_scalar_parameters():
    x = np.linspace(-20, 20, 50, dtype=np.float32)

    def body(x):
        attributes = {"quant_min": -128, "quant_max": 127, "dtype": storage_type(np.int8)}
        scale = arith.constant(ir.F64Type.get(), 0.1)
        zero_point = arith.constant(ir.IntegerType.get_signless(64), -3)
        q = quantized_decomposed.quantize_per_tensor(x, scale, zero_point, **attributes)
        return quantized_decomposed.dequantize_per_tensor(q, scale, zero_point, **attributes)

    expected = dequantize(quantize(x, 0.1, -3, -128, 127, np.int8), 0.1, -3)
    assert_same(run([x], body), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_pytorch(dtype):
    """Every tie and its neighbours, and what is beyond the range."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch.ao.quantization.fx._decomposed
    operators, limits = torch.ops.quantized_decomposed, np.iinfo(dtype)
    scale, zero_point, bounds = 0.1, 7, (int(limits.min), int(limits.max))
    ties = (np.arange(-600, 600) + 0.5).astype(np.float32) * np.float32(scale)
    near = [np.nextafter(ties, np.float32(way)) for way in (-np.inf, np.inf)]
    x = np.concatenate([ties, *near, np.array([*INFINITE, 1e30, -1e30], np.float32)])
    attributes = {"quant_min": bounds[0], "quant_max": bounds[1]}

    def body(x):
        operands = constant(np.float64(scale)), constant(np.int64(zero_point))
        attributes["dtype"] = storage_type(dtype)
        q = quantized_decomposed.quantize_per_tensor(x, *operands, **attributes)
        return q, quantized_decomposed.dequantize_per_tensor(q, *operands, **attributes)

    q, y = jit.compile(module_of([x], body))([x])
    torch_dtype = getattr(torch, np.dtype(dtype).name)
    expected = operators.quantize_per_tensor(torch.from_numpy(x), scale, zero_point, *bounds, torch_dtype)
    assert_same(q, signless(expected.numpy()))
    expected = operators.dequantize_per_tensor(expected, scale, zero_point, *bounds, torch_dtype)
    assert_same(y, expected.numpy())


@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_onnxruntime(dtype, axis):
    generator, limits = np.random.default_rng(0), np.iinfo(dtype)
    size = () if axis is None else 5
    scale = generator.uniform(0.01, 1, size).astype(np.float32)
    zero_point = generator.integers(limits.min, limits.max, size).astype(dtype)
    ties = generator.integers(-300, 300, (200, 5)) + 0.5
    x = ties.astype(np.float32) * scale
    x[:4] = np.array([[np.inf], [-np.inf], [np.nan], [-0.0]])
    attributes = {"quant_min": int(limits.min), "quant_max": int(limits.max)}

    def body(x):
        operands = constant(scale), constant(signless(zero_point))
        attributes["dtype"] = storage_type(dtype)
        q = build_quantize(axis, divide=True, **attributes)(x, *operands)
        return q, build_dequantize(axis, **attributes)(q, *operands)

    q, y = jit.compile(module_of([x], body))([x])
    expected = _onnxruntime(x, scale, zero_point, 1 if axis is None else axis)
    assert_same(q, signless(expected[0]))
    assert_same(y, expected[1])


def _onnxruntime(x, scale, zero_point, axis):
    nodes = [
        onnx.helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["q"], axis=axis),
        onnx.helper.make_node("DequantizeLinear", ["q", "scale", "zero_point"], ["y"], axis=axis),
    ]
    types = {"x": x.dtype, "q": zero_point.dtype, "y": x.dtype}
    values = {
        name: onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(dtype), x.shape)
        for name, dtype in types.items()
    }
    initializers = [
        onnx.numpy_helper.from_array(scale, "scale"),
        onnx.numpy_helper.from_array(zero_point, "zero_point"),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [values["x"]], [values["q"], values["y"]], initializers)
    opset = [onnx.helper.make_opsetid("", 21)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})
