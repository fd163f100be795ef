# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of one softmax or normalization of i8, and rows of integers that are hard for them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS = 48


def rows(columns: int, kind: str) -> np.ndarray:
    """i8 of shape (ROWS, columns)."""
    rng = np.random.default_rng(columns)
    match kind:
        case "uniform":
            x = rng.integers(-128, 128, (ROWS, columns))
        case "normal":
            x = rng.normal(rng.uniform(-30, 30, (ROWS, 1)), rng.uniform(1, 60, (ROWS, 1)), (ROWS, columns))
        case "narrow":  # most values equal, so that every unit counts
            x = rng.normal(0, rng.uniform(0.3, 4, (ROWS, 1)), (ROWS, columns))
        case "peak":  # one value far from a tail that adds up
            x = rng.normal(-60, 10, (ROWS, columns))
            x[np.arange(ROWS), rng.integers(0, columns, ROWS)] = rng.integers(-60, 127, ROWS)
    return np.clip(np.rint(x), -128, 127).astype(np.int8)


KINDS = ("uniform", "normal", "narrow", "peak")


def model(nodes, constants, shape, input_scale, input_zp, output_scale, output_zp, opset=21) -> onnx.ModelProto:
    """DequantizeLinear from x to X, the nodes from X to Y, QuantizeLinear to y."""
    qparams = {
        "sx": np.float32(input_scale),
        "zx": np.int8(input_zp),
        "sy": np.float32(output_scale),
        "zy": np.int8(output_zp),
    }
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["x", "sx", "zx"], ["X"], "dequantize"),
            *nodes,
            helper.make_node("QuantizeLinear", ["Y", "sy", "zy"], ["y"], "quantize"),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.INT8, shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT8, None)],
        [numpy_helper.from_array(value, name) for name, value in {**qparams, **constants}.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def softmax(shape, input_scale, *, axis=-1, output_scale=1 / 256, output_zp=-128, input_zp=5) -> onnx.ModelProto:
    node = helper.make_node("Softmax", ["X"], ["Y"], "softmax", axis=axis)
    return model([node], {}, shape, input_scale, input_zp, output_scale, output_zp)


def layer_norm(shape, input_scale, output_scale, *, axis=-1, weight=None, bias=None, epsilon=1e-5, input_zp=5):
    """The operator of ONNX; weight of ones and no bias by default."""
    size = shape[axis:]
    constants = {"w": np.ones(size, np.float32) if weight is None else weight}
    if bias is not None:
        constants["b"] = bias
    node = helper.make_node("LayerNormalization", ["X", *constants], ["Y"], "norm", axis=axis, epsilon=epsilon)
    return model([node], constants, shape, input_scale, input_zp, output_scale, 3)


def decomposed(shape, input_scale, output_scale, *, rms=False, weight=None, bias=None, input_zp=5) -> onnx.ModelProto:
    """A normalization of single operators, as exporters to older opsets write it."""
    constants = {"two": np.float32(2), "eps": np.float32(1e-5)}
    make, nodes = helper.make_node, []
    deviation = "X"
    if not rms:
        nodes += [make("ReduceMean", ["X"], ["M"], "mean", axes=[-1]), make("Sub", ["X", "M"], ["D"], "sub")]
        deviation = "D"
    nodes += [
        make("Pow", [deviation, "two"], ["S"], "pow"),
        make("ReduceMean", ["S"], ["V"], "var", axes=[-1]),
        make("Add", ["V", "eps"], ["E"], "eps_add"),
        make("Sqrt", ["E"], ["R"], "sqrt"),
        make("Div", [deviation, "R"], ["N"], "div"),
    ]
    last = "N"
    for name, op_type, value in (("w", "Mul", weight), ("b", "Add", bias)):
        if value is not None:
            constants[name] = value
            nodes.append(make(op_type, [last, name], [f"{last}{name}"], f"apply_{name}"))
            last = f"{last}{name}"
    nodes[-1].output[0] = "Y"
    return model(nodes, constants, shape, input_scale, input_zp, output_scale, 3, opset=17)


def quantized(values: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    """i8 of exact values."""
    return np.clip(np.rint(values / float(np.float32(scale))) + zero_point, -128, 127).astype(np.int8)


def exact_softmax(x: np.ndarray, input_scale: float, axis: int = -1) -> np.ndarray:
    """In f64, of the integers."""
    logits = float(np.float32(input_scale)) * x.astype(np.float64)
    exponentials = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def exact_normalization(x, input_scale, *, axes=(-1,), rms=False, epsilon=1e-5, input_zp=5) -> np.ndarray:
    """In f64, of the integers, without weight and bias."""
    values = float(np.float32(input_scale)) * (x.astype(np.float64) - input_zp)
    deviation = values if rms else values - values.mean(axis=axes, keepdims=True)
    return deviation / np.sqrt(np.square(deviation).mean(axis=axes, keepdims=True) + epsilon)
