# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize with division and dequantize against ONNX Runtime, bit for bit."""

import functools

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper

from torq_mlir.numerics.quantize import dequantize, quantize

STORAGE = [np.int8, np.uint8, np.int16, np.uint16]
few = settings(max_examples=40)
special = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38, -3e38])


@functools.cache
def session(operator, input_type, scale_type, output_type, axis):
    """One QuantizeLinear or DequantizeLinear of any shape."""
    storage = output_type if operator == "QuantizeLinear" else input_type
    types = {"x": input_type, "scale": scale_type, "zero_point": storage, "y": output_type}
    values = {
        name: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)
        for name, dtype in types.items()
    }
    attributes = {} if axis is None else {"axis": axis}
    node = helper.make_node(operator, ["x", "scale", "zero_point"], ["y"], **attributes)
    graph = helper.make_graph([node], "graph", list(values.values())[:3], [values["y"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(operator, x, scale, zero_point, output_type, axis):
    feeds = {"x": x, "scale": np.asarray(scale), "zero_point": np.asarray(zero_point)}
    built = session(operator, x.dtype.type, feeds["scale"].dtype.type, output_type, axis)
    return built.run(None, feeds)[0]


def draw_parameters(data, shape, dtype, scale_dtype, per_channel):
    scales = st.floats(2.0**-10, 16, width=16)
    if not per_channel:
        return scale_dtype(data.draw(scales)), dtype(data.draw(hnp.from_dtype(np.dtype(dtype)))), None
    axis = data.draw(st.integers(0, len(shape) - 1))
    scale = data.draw(hnp.arrays(scale_dtype, shape[axis], elements=scales))
    return scale, data.draw(hnp.arrays(dtype, shape[axis])), axis


@pytest.mark.parametrize("dtype", STORAGE)
@pytest.mark.parametrize("per_channel", [False, True])
@few
@given(data=st.data())
def test_quantize(dtype, per_channel, data):
    elements = st.one_of(st.floats(-2000, 2000, width=32), special.map(np.float32))
    x = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_side=20), elements=elements))
    scale, zero_point, axis = draw_parameters(data, x.shape, dtype, np.float32, per_channel)
    limits = np.iinfo(dtype)
    ours = quantize(x, scale, zero_point, limits.min, limits.max, dtype, axis=axis, divide=True)
    assert ours.tolist() == run("QuantizeLinear", x, scale, zero_point, dtype, axis).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_channel", [False, True])
@few
@given(data=st.data())
def test_quantize_float16(dtype, per_channel, data):
    x = data.draw(hnp.arrays(np.float16, hnp.array_shapes(min_dims=1), elements=st.floats(-2000, 2000, width=16)))
    scale, zero_point, axis = draw_parameters(data, x.shape, dtype, np.float16, per_channel)
    limits = np.iinfo(dtype)
    ours = quantize(x, scale, zero_point, limits.min, limits.max, dtype, axis=axis, divide=True)
    assert ours.tolist() == run("QuantizeLinear", x, scale, zero_point, dtype, axis).tolist()


@pytest.mark.parametrize("scale", [0.0, 1e-40, 1e-38, 3e38])
def test_extreme_scales(scale):
    x = np.array([0.0, 1.0, -1.0, np.nan, 1e-40, 1e-39, np.inf] * 9, dtype=np.float32)
    ours = quantize(x, np.float32(scale), 3, -128, 127, np.int8, divide=True)
    assert ours.tolist() == run("QuantizeLinear", x, np.float32(scale), np.int8(3), np.int8, None).tolist()


@pytest.mark.parametrize("dtype", STORAGE)
@pytest.mark.parametrize("per_channel", [False, True])
@few
@given(data=st.data())
def test_dequantize(dtype, per_channel, data):
    q = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_side=20)))
    scale, zero_point, axis = draw_parameters(data, q.shape, dtype, np.float32, per_channel)
    ours = dequantize(q, scale, zero_point, axis=axis)
    assert ours.tolist() == run("DequantizeLinear", q, scale, zero_point, np.float32, axis).tolist()


@pytest.mark.parametrize("per_channel", [False, True])
@few
@given(data=st.data())
def test_dequantize_bias(per_channel, data):
    q = data.draw(hnp.arrays(np.int32, st.integers(1, 20)))
    scale, _, axis = draw_parameters(data, q.shape, np.int32, np.float32, per_channel)
    ours = dequantize(q, scale, None, axis=axis)
    zero_point = np.zeros(np.shape(scale), np.int32)
    assert ours.tolist() == run("DequantizeLinear", q, scale, zero_point, np.float32, axis).tolist()


@few
@given(hnp.arrays(np.int8, 20), st.floats(2.0**-10, 16, width=16), st.integers(-128, 127))
def test_dequantize_float16(q, scale, zero_point):
    ours = dequantize(q, np.float16(scale), zero_point, dtype=np.float16)
    theirs = run("DequantizeLinear", q, np.float16(scale), np.int8(zero_point), np.float16, None)
    assert ours.tolist() == theirs.tolist()
