# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Levels 0 to 2 of models, run on the host and compared with ONNX Runtime."""

import re

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx_models import BOOL, CONTRIB, FLOAT, INT8, INT32, UINT8, model, node, value
from torch_mlir import ir

from torq_mlir import pipelines
from torq_mlir.backends import jit
from torq_mlir.frontends.onnx import import_model, load, model_inputs


def lowered(source: onnx.ModelProto, pipeline: str = "torq-onnx-to-linalg") -> ir.Module:
    module = import_model(load(source), ir.Context())
    pipelines.run(module, pipeline)
    return module


def random_inputs(source: onnx.ModelProto) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    inputs = {}
    for info in model_inputs(load(source)):
        if info.dtype.kind == "f":
            inputs[info.name] = generator.normal(size=info.shape).astype(info.dtype)
        else:
            low, high = (0, 1) if info.dtype.kind == "b" else (np.iinfo(info.dtype).min, np.iinfo(info.dtype).max)
            inputs[info.name] = generator.integers(low, high, info.shape, endpoint=True).astype(info.dtype)
    return inputs


def differences(source: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Absolute differences from ONNX Runtime without graph optimizations, by output."""
    inputs = random_inputs(source)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    expected = onnxruntime.InferenceSession(source.SerializeToString(), options).run(None, inputs)
    found = jit.compile(lowered(source))(
        [array.view(np.int8) if array.dtype == np.uint8 else array for array in inputs.values()]
    )
    result = {}
    for info, theirs, ours in zip(source.graph.output, expected, found, strict=True):
        ours = ours.view(np.uint8) if theirs.dtype == np.uint8 else ours
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        result[info.name] = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return result


def constants(dtype: type[np.integer]) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(1)
    middle = 128 if dtype == np.uint8 else 0
    bounds = np.iinfo(dtype)
    return {
        "s1": np.float32(0.05),
        "s2": np.float32(0.04),
        "s3": np.float32(0.3),
        "probability": np.float32(1 / 256),
        "z1": dtype(middle + 3),
        "z2": dtype(middle - 5),
        "z3": dtype(middle + 2),
        "least": dtype(bounds.min),
        "tensor": generator.integers(bounds.min, bounds.max, (1, 4, 6, 6), endpoint=True).astype(dtype),
        "column": generator.integers(bounds.min, bounds.max, (4, 1, 1), endpoint=True).astype(dtype),
    }


@pytest.mark.parametrize(("dtype", "onnx_type"), [(np.int8, INT8), (np.uint8, UINT8)], ids=["int8", "uint8"])
def test_elementwise_and_pooling_qoperators(dtype, onnx_type):
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], **CONTRIB}
    nodes = [
        node("QLinearAdd", ["x", "s1", "z1", "column", "s2", "z2", "s3", "z3"], ["add"], **CONTRIB),
        node("QLinearMul", ["x", "s1", "z1", "tensor", "s2", "z2", "s3", "z3"], ["mul"], **CONTRIB),
        node("QLinearSigmoid", ["x", "s1", "z1", "probability", "least"], ["sigmoid"], **CONTRIB),
        node("QLinearLeakyRelu", ["x", "s1", "z1", "s3", "z3"], ["leaky"], alpha=0.2, **CONTRIB),
        node("QLinearSoftmax", ["x", "s1", "z1", "probability", "least"], ["softmax"], axis=-1, opset=17, **CONTRIB),
        node("QLinearConcat", ["s3", "z3", "x", "s1", "z1", "tensor", "s2", "z2"], ["concat"], axis=1, **CONTRIB),
        node("QLinearWhere", ["c", "x", "s1", "z1", "tensor", "s2", "z2", "s3", "z3"], ["where"], **CONTRIB),
        node("QLinearGlobalAveragePool", ["x", "s1", "z1", "s2", "z2"], ["mean"], channels_last=0, **CONTRIB),
        node("QLinearAveragePool", ["x", "s1", "z1", "s2", "z2"], ["average"], **pool),
        node("QLinearAveragePool", ["x", "s1", "z1", "s2", "z2"], ["counted"], count_include_pad=1, **pool),
    ]
    outputs = [value(n.output[0], onnx_type, None) for n in nodes]
    source = model(
        nodes, [value("x", onnx_type, [1, 4, 6, 6]), value("c", BOOL, [1, 4, 6, 6])], outputs, constants(dtype)
    )
    for name, difference in differences(source).items():
        # ONNX Runtime adds and averages in another order of operations: a tie may go the other way.
        assert difference.max() <= (1 if name in ("add", "average", "counted") else 0), name
        assert np.mean(difference > 0) < 0.06, name


def test_weighted_qoperators():
    generator = np.random.default_rng(2)

    def integers(*shape, dtype=np.int8):
        bounds = np.iinfo(dtype)
        return generator.integers(bounds.min, bounds.max, shape, endpoint=True).astype(dtype)

    weights = {
        "grouped": integers(6, 2, 3, 3),
        "unsigned": integers(6, 4, 1, 1, dtype=np.uint8),
        "rows": integers(8, 16),
        "columns": integers(16, 8),
        "stack": integers(2, 16, 8),
        "s6": generator.uniform(0.01, 0.03, 6).astype(np.float32),
        "s8": generator.uniform(0.01, 0.03, 8).astype(np.float32),
        "sw": np.float32(0.02),
        "su": np.array([0.02], np.float32),
        "zw": np.int8(4),
        "zu": np.array([120], np.uint8),
        "z6": np.zeros(6, np.int8),
        "z8": np.zeros(8, np.int8),
        "b6": generator.integers(-1000, 1000, 6).astype(np.int32),
        "b8": generator.integers(-1000, 1000, 8).astype(np.int32),
    }
    image, matrix, stack, y = ["x", "s1", "z1"], ["m", "s1", "z1"], ["t", "s1", "z1"], ["s3", "z3"]
    nodes = [
        node("QLinearConv", [*image, "grouped", "s6", "z6", *y, "b6"], ["grouped_conv"], pads=[1, 1, 1, 1], group=2),
        node("QLinearConv", [*image, "unsigned", "su", "zu", *y], ["unsigned_conv"]),
        node("QGemm", [*matrix, "rows", "s8", "z8", "b8", *y], ["per_row"], transB=1, **CONTRIB),
        node("QGemm", [*matrix, "columns", "s8", "z8", "b8", *y], ["per_column"], alpha=0.5, **CONTRIB),
        node("QGemm", [*matrix, "rows", "sw", "zw", "", *y], ["no_bias"], transB=1, **CONTRIB),
        node("QGemm", [*matrix, "rows", "sw", "zw", "b8"], ["real"], transB=1, **CONTRIB),
        node("QLinearMatMul", [*matrix, "columns", "s8", "z8", *y], ["matmul"]),
        node("QLinearMatMul", [*stack, "columns", "sw", "zw", *y], ["stacked"]),
        node("QLinearMatMul", [*stack, "stack", "sw", "zw", *y], ["batched"]),
    ]
    inputs = [value("x", UINT8, [1, 4, 6, 6]), value("m", UINT8, [3, 16]), value("t", UINT8, [2, 3, 16])]
    outputs = [value(n.output[0], FLOAT if n.output[0] == "real" else UINT8, None) for n in nodes]
    found = differences(model(nodes, inputs, outputs, constants(np.uint8) | weights))
    assert found.pop("real").max() < 1e-4
    for name, difference in found.items():  # sums in f32 here, in integers there: ties may go the other way
        assert difference.max() <= 1, name
        assert np.mean(difference > 0) < 0.05, name


@pytest.mark.parametrize(("dtype", "onnx_type"), [(np.int8, INT8), (np.uint8, UINT8)], ids=["int8", "uint8"])
def test_operators_on_stored_integers(dtype, onnx_type):
    """What the QOperator format computes on integers as they are: 200 is more than 100, though its bits are less."""
    own = {
        "shape": np.array([1, -1]),
        "starts": np.array([0, 1]),
        "ends": np.array([3, 5]),
        "sizes": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        "axes": np.array([2, 3]),
        "low": dtype(10),
        "high": dtype(120),
        "fill": dtype(np.iinfo(dtype).max - 1),
    }
    nodes = [
        node("MaxPool", ["x"], ["max"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Clip", ["x", "low", "high"], ["clip"]),
        node("Clip", ["x", "low"], ["clip_below"]),
        node("ArgMax", ["x"], ["argmax"], axis=1, keepdims=0),
        node("Max", ["x", "tensor"], ["maximum"]),
        node("Pad", ["x", "sizes", "fill"], ["pad"]),
        node("Reshape", ["x", "shape"], ["reshape"]),
        node("Transpose", ["x"], ["transpose"], perm=[0, 2, 3, 1]),
        node("Slice", ["x", "starts", "ends", "axes"], ["slice"]),
        node("Concat", ["x", "tensor"], ["concat"], axis=1),
        node("Cast", ["x"], ["cast"], to=FLOAT),
    ]
    types = {"argmax": onnx.TensorProto.INT64, "cast": FLOAT}
    outputs = [value(n.output[0], types.get(n.output[0], onnx_type), None) for n in nodes]
    found = differences(model(nodes, [value("x", onnx_type, [1, 4, 6, 6])], outputs, constants(dtype) | own))
    assert {name: difference.max() for name, difference in found.items()} == dict.fromkeys(found, 0)


def test_quantize_and_dequantize():
    own = {
        "scales": np.array([0.5, 0.25, 0.1], np.float32),
        "zeros": np.array([1, 200, 128], np.uint8),
        "z32": np.int32(0),
    }
    nodes = [
        node("QuantizeLinear", ["x", "s1", "z1"], ["int8"]),
        node("QuantizeLinear", ["x", "s1"], ["default"]),
        node("QuantizeLinear", ["x", "scales", "zeros"], ["per_channel"], axis=-2),
        node("DequantizeLinear", ["per_channel", "scales", "zeros"], ["back"], axis=1),
        node("DequantizeLinear", ["i", "scales"], ["bias"], axis=1),
    ]
    types = {"int8": INT8, "back": FLOAT, "bias": FLOAT}
    outputs = [value(n.output[0], types.get(n.output[0], UINT8), None) for n in nodes]
    inputs = [value("x", FLOAT, [2, 3, 4]), value("i", INT32, [2, 3, 4])]
    source = model(nodes, inputs, outputs, constants(np.int8) | own)
    found = differences(source)
    assert {name: difference.max() for name, difference in found.items()} == dict.fromkeys(found, 0)


def both_formats() -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Convolution, max pooling, sum, mean, flatten and a fully connected layer, as QDQ and as QOperator."""
    generator = np.random.default_rng(3)
    x, w = np.float32(0.05), generator.uniform(0.01, 0.03, 4).astype(np.float32)
    first, g = np.float32(0.2), np.float32(0.02)
    values = {
        "sx": x,
        "sw": w,
        "s1": first,
        "s2": np.float32(0.3),
        "s3": np.float32(0.1),
        "sg": g,
        "s4": np.float32(0.4),
        "sb": x * w,
        "sc": np.float32(0.1) * g,
        "z": np.uint8(120),
        "zw": np.zeros(4, np.int8),
        "zg": np.int8(0),
        "zb": np.zeros(4, np.int32),
        "zc": np.int32(0),
        "w": generator.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8),
        "b": generator.integers(-500, 500, 4).astype(np.int32),
        "g": generator.integers(-128, 128, (5, 4)).astype(np.int8),
        "c": generator.integers(-500, 500, 5).astype(np.int32),
    }
    conv = {"pads": [1, 1, 1, 1]}
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    qoperator = [
        node("QLinearConv", ["x", "sx", "z", "w", "sw", "zw", "s1", "z", "b"], ["q1"], **conv),
        node("MaxPool", ["q1"], ["q2"], **pool),
        node("QLinearAdd", ["q2", "s1", "z", "q2", "s1", "z", "s2", "z"], ["q3"], **CONTRIB),
        node("QLinearGlobalAveragePool", ["q3", "s2", "z", "s3", "z"], ["q4"], channels_last=0, **CONTRIB),
        node("Flatten", ["q4"], ["q5"]),
        node("QGemm", ["q5", "s3", "z", "g", "sg", "zg", "c", "s4", "z"], ["y"], transB=1, **CONTRIB),
    ]
    q, dq = "QuantizeLinear", "DequantizeLinear"
    qdq = [
        node(dq, ["x", "sx", "z"], ["dx"]),
        node(dq, ["w", "sw", "zw"], ["dw"], axis=0),
        node(dq, ["b", "sb", "zb"], ["db"], axis=0),
        node("Conv", ["dx", "dw", "db"], ["f1"], **conv),
        node(q, ["f1", "s1", "z"], ["q1"]),
        node(dq, ["q1", "s1", "z"], ["d1"]),
        node("MaxPool", ["d1"], ["f2"], **pool),
        node(q, ["f2", "s1", "z"], ["q2"]),
        node(dq, ["q2", "s1", "z"], ["d2"]),
        node("Add", ["d2", "d2"], ["f3"]),
        node(q, ["f3", "s2", "z"], ["q3"]),
        node(dq, ["q3", "s2", "z"], ["d3"]),
        node("GlobalAveragePool", ["d3"], ["f4"]),
        node(q, ["f4", "s3", "z"], ["q4"]),
        node(dq, ["q4", "s3", "z"], ["d4"]),
        node("Flatten", ["d4"], ["f5"]),
        node(q, ["f5", "s3", "z"], ["q5"]),
        node(dq, ["q5", "s3", "z"], ["d5"]),
        node(dq, ["g", "sg", "zg"], ["dg"]),
        node(dq, ["c", "sc", "zc"], ["dc"]),
        node("Gemm", ["d5", "dg", "dc"], ["f6"], transB=1),
        node(q, ["f6", "s4", "z"], ["y"]),
    ]
    inputs, outputs = [value("x", UINT8, [1, 3, 8, 8])], [value("y", UINT8, None)]
    return tuple(model(nodes, inputs, outputs, values) for nodes in (qdq, qoperator))


@pytest.mark.parametrize("pipeline", ["torq-onnx-to-linalg", "torq-onnx-to-torq-hl"])
def test_both_formats_of_a_model_are_the_same(pipeline):
    qdq, qoperator = (
        lowered(source, pipeline).operation.get_asm(large_elements_limit=None) for source in both_formats()
    )
    assert operations(qdq) == operations(qoperator)


def operations(text: str) -> list[str]:
    """The lines of a module without those of constants, whose order is that in which they were first used."""
    return [re.sub(r"%[\w#]+", "%", line) for line in text.splitlines() if "arith.constant" not in line]


@pytest.mark.parametrize(
    ("left", "zero_point"), [((3, 7), (3,)), ((3, 7), (3, 1)), ((2, 3, 7), (2, 3, 1)), ((2, 3, 7), (1,))]
)
def test_matmul_integer_with_a_zero_point_for_each_row(left, zero_point):
    """Of the specification; ONNX Runtime has one for the first operand."""
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 256, left, np.uint8), generator.integers(-128, 128, (7, 4), np.int8)
    zeros = {"za": generator.integers(0, 256, zero_point, np.uint8), "zb": generator.integers(-128, 128, 4, np.int8)}
    source = model(
        [node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])],
        [value("a", UINT8, left)],
        [value("y", INT32, None)],
        {"b": b, **zeros},
    )
    (found,) = jit.compile(lowered(source))([a.view(np.int8)])
    rows = zeros["za"].astype(np.int32)
    rows = rows[:, None] if rows.ndim == 1 else rows
    np.testing.assert_array_equal(found, (a - rows) @ (b.astype(np.int32) - zeros["zb"]))


def test_bfloat16_scales():
    """Which ONNX Runtime does not have; computed in f32."""
    bfloat16 = onnx.TensorProto.BFLOAT16
    x = np.random.default_rng(0).normal(0, 3, (5, 9)).astype(ml_dtypes.bfloat16)
    scale = np.array(0.03, ml_dtypes.bfloat16)
    source = model(
        [
            node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            node("DequantizeLinear", ["q", "s", "z"], ["y"]),
            node("Identity", ["q"], ["integers"]),
        ],
        [value("x", bfloat16, x.shape)],
        [value("integers", UINT8, None), value("y", bfloat16, None)],
        {"z": np.uint8(100)},
        opset=21,
    )
    source.graph.initializer.append(helper.make_tensor("s", bfloat16, (), [float(scale)]))
    integers, real = jit.compile(lowered(source))([x])
    quotients = x.astype(np.float32) / np.float32(scale)
    np.testing.assert_array_equal(integers.view(np.uint8), np.clip(np.rint(quotients) + 100, 0, 255))
    products = (integers.view(np.uint8).astype(np.float32) - 100) * np.float32(scale)
    np.testing.assert_array_equal(real, products.astype(x.dtype))
