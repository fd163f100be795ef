# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float models in bf16: both executors agree, what stays on the host is as expected, and the error is that of bf16."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import torq_mlir
from torq_mlir.backends import jit


def model(shapes, nodes, **constants) -> onnx.ModelProto:
    """Inputs x0, x1, ...; the last node gives y."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape) for i, shape in enumerate(shapes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def node(op_type, inputs, output="y", **attributes):
    return helper.make_node(op_type, inputs.split(), [output], f"{op_type.lower()}_{output}", **attributes)


def normal(*shape, seed=0, scale=1.0):
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


IMAGE = (1, 4, 9, 10)
MODELS = {
    "conv": (
        model([IMAGE], [node("Conv", "x0 w b", pads=[1, 0, 1, 2], strides=[2, 1])], w=normal(6, 4, 3, 3), b=normal(6)),
        {"conv2d"},
    ),
    "conv_groups": (model([IMAGE], [node("Conv", "x0 w b", group=2)], w=normal(6, 2, 3, 3), b=normal(6)), {"conv2d"}),
    "conv_depthwise": (model([IMAGE], [node("Conv", "x0 w", group=4)], w=normal(4, 1, 3, 3)), {"depthwise_conv2d"}),
    "conv_1d": (model([(1, 4, 12)], [node("Conv", "x0 w b", pads=[1, 1])], w=normal(6, 4, 3), b=normal(6)), {"conv1d"}),
    "gemm": (model([(3, 8)], [node("Gemm", "x0 w b", transB=1)], w=normal(5, 8), b=normal(5)), {"fully_connected"}),
    "matmul_3d": (model([(2, 3, 8)], [node("MatMul", "x0 w")], w=normal(8, 5)), {"fully_connected"}),
    "matmul": (model([(2, 3, 8), (2, 8, 5)], [node("MatMul", "x0 x1")]), {"matmul"}),
    "matmul_transposed": (
        model([(2, 3, 8), (2, 5, 8)], [node("Transpose", "x1", "t", perm=[0, 2, 1]), node("MatMul", "x0 t")]),
        {"matmul", "transpose"},
    ),
    "add_broadcast": (model([(2, 3, 8), (3, 1)], [node("Add", "x0 x1")]), {"add"}),
    "sub": (model([(2, 8), (2, 8)], [node("Sub", "x0 x1")]), {"add"}),
    "mul_channels": (model([IMAGE], [node("Mul", "x0 w")], w=normal(4, 1, 1)), {"mul"}),
    "linear": (
        model([(2, 8)], [node("Mul", "x0 a", "m"), node("Sub", "b m")], a=np.float32(0.3), b=np.float32(1.7)),
        {"mul"},
    ),
    "relu6": (model([(4, 64)], [node("Clip", "x0 low high")], low=np.float32(0), high=np.float32(1.5)), set()),
    "tanh": (model([(4, 64)], [node("Tanh", "x0")]), set()),
    "sigmoid": (model([(4, 64)], [node("Sigmoid", "x0")]), {"mul"}),
    "hard_swish": (model([(4, 64)], [node("HardSwish", "x0")]), {"mul"}),
    "extrema": (
        model([(2, 8), (2, 8)], [node("Max", "x0 x1", "m"), node("Min", "m c")], c=normal(8)),
        {"elementwisebinary"},
    ),
    "abs_neg": (model([(2, 8)], [node("Abs", "x0", "a"), node("Neg", "a")]), set()),
    "max_pool": (
        model([IMAGE], [node("MaxPool", "x0", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 0])]),
        {"maxpool2d"},
    ),
    "average_pool": (model([IMAGE], [node("AveragePool", "x0", kernel_shape=[2, 2])]), {"depthwise_conv2d"}),
    "average_pool_uncounted": (
        model([IMAGE], [node("AveragePool", "x0", kernel_shape=[3, 3], pads=[1, 1, 1, 1])]),
        {"depthwise_conv2d", "mul"},
    ),
    "global_average_pool": (model([IMAGE], [node("GlobalAveragePool", "x0")]), {"transpose", "avg_pool2d"}),
    "reduce_mean": (
        model([(2, 3, 8)], [node("ReduceMean", "x0 axes", keepdims=0)], axes=np.int64([1])),
        {"transpose", "reduce_mean"},
    ),
}


def operations(compiled):
    """Names of torq_hl operations without conversions and unary functions, and of those of the host."""
    names = [name for row in compiled.report().rows for name in row.operations]
    npu = {name.removeprefix("torq_hl.") for name in names if name.startswith("torq_hl.")} - {"act"}
    return npu, {name for name in names if name.startswith(("linalg.", "arith.", "math."))}


def sqnr(expected, actual):
    noise = np.square(expected.astype(np.float64) - actual).sum()
    return 10 * np.log10(np.square(expected.astype(np.float64)).sum() / noise) if noise else np.inf


# What `make test` runs of them.
FAST = frozenset(
    {"conv_groups", "gemm", "matmul_transposed", "mul_channels", "hard_swish", "max_pool", "average_pool_uncounted"}
)


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_operator(name):
    source, expected = MODELS[name]
    exact = torq_mlir.compile(source, backend="interpreter")
    compiled = torq_mlir.compile(source, backend="interpreter", float="bf16")
    assert operations(compiled) == (expected, set())
    inputs = [normal(*info.shape, seed=i + 1, scale=1.5) for i, info in enumerate(compiled.inputs)]
    (y,) = compiled(*inputs)
    (executed,) = jit.compile(compiled.module)(inputs)
    assert executed.tobytes() == y.tobytes()
    assert sqnr(exact(*inputs)[0], y) > 45


def test_quantized_borders():
    """Between quantized tensors the values never are f32: from i8 to bf16, through the island, and back."""
    qparams = {"s": np.float32(0.05), "z": np.int8(3)}
    nodes = [
        node("DequantizeLinear", "q s z", "d"),
        node("MatMul", "d w", "m"),
        node("Softmax", "m", "p"),
        node("MatMul", "p v", "n"),
        node("QuantizeLinear", "n s z", "y"),
    ]
    source = model([], nodes, w=normal(8, 8, scale=0.3), v=normal(8, 6, seed=1), **qparams)
    source.graph.input.append(helper.make_tensor_value_info("q", TensorProto.INT8, (4, 8)))
    source.graph.output[0].type.tensor_type.elem_type = TensorProto.INT8
    compiled = torq_mlir.compile(source, backend="interpreter", float="bf16")
    npu, host = operations(compiled)
    assert npu == {"mul", "fma", "fully_connected"}
    assert host == {"linalg.fill", "linalg.generic"}  # the softmax
    x = np.random.default_rng(0).integers(-128, 128, (4, 8)).astype(np.int8)
    (y,), (exact,) = compiled(x), torq_mlir.compile(source, backend="interpreter")(x)
    assert np.abs(y.astype(int) - exact).max() <= 1
    first, last = compiled.deviations()
    assert first.names[:2] == ("dequantizelinear_d", "matmul_m")
    assert first.max_steps is None
    assert last.names == ("matmul_n", "quantizelinear_y")
    assert last.max_steps <= 1
    assert first.sqnr > 40
    assert last.sqnr > 30  # of a step in values of few steps
