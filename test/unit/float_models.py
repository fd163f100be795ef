# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small float models in ONNX, with seeded weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def make_model(nodes, weights, inputs, outputs, opset=17) -> onnx.ModelProto:
    """A model; `inputs` and `outputs` are shapes by name, of f32."""
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each.items()]
        for each in (inputs, outputs)
    ]
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "model", *values, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    deviation = np.sqrt(2 / max(1, np.prod(shape[1:])))
    return (np.random.default_rng(seed).standard_normal(shape) * deviation).astype(np.float32)


def cnn(size: int = 8, batch: int | str = 1) -> onnx.ModelProto:
    """Conv, Relu, Conv, Relu, GlobalAveragePool, Flatten, Gemm."""
    weights = {
        "w1": normal(8, 3, 3, 3, seed=1),
        "b1": normal(8, seed=2) * np.float32(0.1),
        "w2": normal(16, 8, 3, 3, seed=3),
        "b2": normal(16, seed=4) * np.float32(0.1),
        "w3": normal(10, 16, seed=5),
        "b3": normal(10, seed=6) * np.float32(0.1),
    }
    make = helper.make_node
    nodes = [
        make("Conv", ["x", "w1", "b1"], ["a"], "conv1", pads=[1] * 4),
        make("Relu", ["a"], ["b"], "relu1"),
        make("Conv", ["b", "w2", "b2"], ["c"], "conv2", pads=[1] * 4, strides=[2, 2]),
        make("Relu", ["c"], ["d"], "relu2"),
        make("GlobalAveragePool", ["d"], ["e"], "pool"),
        make("Flatten", ["e"], ["f"], "flatten"),
        make("Gemm", ["f", "w3", "b3"], ["y"], "gemm", transB=1),
    ]
    return make_model(nodes, weights, {"x": [batch, 3, size, size]}, {"y": [batch, 10]})


def two_inputs() -> onnx.ModelProto:
    """Add of two inputs, then a Relu that has no name."""
    nodes = [helper.make_node("Add", ["p", "q"], ["s"], "add"), helper.make_node("Relu", ["s"], ["y"])]
    return make_model(nodes, {}, {"p": [1, 4], "q": [1, 4]}, {"y": [1, 4]})


def softmax_at_the_end() -> onnx.ModelProto:
    """A Gemm, and a Softmax, which the NPU does not have."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["h"], "gemm"),
        helper.make_node("Softmax", ["h"], ["y"], "softmax"),
    ]
    return make_model(nodes, {"w": normal(8, 4)}, {"x": [1, 8]}, {"y": [1, 4]})


def residual(blocks: int = 3, channels: int = 4) -> onnx.ModelProto:
    """Convolutions of one shape with sums around them: layers that are the same but for their weights."""
    nodes, weights, last = [], {}, "x"
    for block in range(blocks):
        weights[f"w{block}"] = normal(channels, channels, 3, 3, seed=block)
        nodes += [
            helper.make_node("Conv", [last, f"w{block}"], [f"c{block}"], f"conv{block}", pads=[1] * 4),
            helper.make_node("Add", [last, f"c{block}"], [f"s{block}"], f"add{block}"),
        ]
        last = f"s{block}"
    return make_model(nodes, weights, {"x": [1, channels, 6, 6]}, {last: [1, channels, 6, 6]})


def attention() -> onnx.ModelProto:
    """Embedding of integers with an open batch size, a layer normalization, products of run-time values, an ArgMax."""
    make = helper.make_node
    nodes = [
        make("Gather", ["table", "ids"], ["e"], "embed"),
        make("MatMul", ["e", "w"], ["f"], "product"),
        make("LayerNormalization", ["f", "gain", "bias"], ["n"], "normalization"),
        make("Transpose", ["n"], ["t"], "transpose", perm=[0, 2, 1]),
        make("MatMul", ["n", "t"], ["s"], "scores"),
        make("Softmax", ["s"], ["p"], "softmax"),
        make("MatMul", ["p", "n"], ["c"], "context"),
        make("ArgMax", ["c"], ["y"], "argmax", axis=-1),
    ]
    weights = {"table": normal(10, 8), "w": normal(8, 8, seed=1), "gain": np.ones(8, np.float32)}
    model = make_model(nodes, weights | {"bias": np.zeros(8, np.float32)}, {}, {})
    model.graph.input.append(helper.make_tensor_value_info("ids", TensorProto.INT64, ["N", 5]))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.INT64, None))
    return model
