# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers as models of their own, and which of them are the same."""

import numpy as np
import pytest
from float_models import cnn, make_model, residual, two_inputs
from onnx import helper

from torq_mlir import quantization
from torq_mlir.errors import TorqError
from torq_mlir.gen_config import deduplication, extraction
from torq_mlir.quantization import sessions


def layers_of(model, **arguments):
    prepared = quantization.prepare(model, optimize=False)
    return prepared.model, extraction.extract_layers(prepared.model, prepared.sources, **arguments)


def test_each_layer_computes_what_it_does_in_the_model():
    model, layers = layers_of(cnn())
    assert [(layer.name, layer.op_type, layer.node_index) for layer in layers] == [
        ("conv1", "Conv", 0),
        ("relu1", "Relu", 1),
        ("conv2", "Conv", 2),
        ("relu2", "Relu", 3),
        ("pool", "GlobalAveragePool", 4),
        ("flatten", "Flatten", 5),
        ("gemm", "Gemm", 6),
    ]
    feed = {"x": np.random.default_rng(0).standard_normal((1, 3, 8, 8), np.float32)}
    names = [info.name for layer in layers for info in (*layer.inputs, *layer.outputs)]
    tensors = sessions.run_all(model, feed, names)
    for layer in layers:
        inputs = {info.name: tensors[info.name] for info in layer.inputs}
        (actual,) = sessions.session(layer.model).run(None, inputs)
        assert np.array_equal(actual, tensors[layer.outputs[0].name])
        assert layer.outputs[0].shape == actual.shape
        assert layer.outputs[0].dtype == "float32"


def test_names_are_those_of_the_source():
    _, layers = layers_of(two_inputs())
    assert [(layer.name, layer.source_name) for layer in layers] == [("add", "add"), ("Relu_1", "")]


def test_quantized_model_is_cut_at_quantized_tensors():
    feeds = [{"x": np.random.default_rng(0).standard_normal((1, 3, 8, 8), np.float32)}]
    quantized = quantization.quantize_static(cnn(), None, feeds)
    _, layers = layers_of(quantized)
    assert [layer.name for layer in layers] == ["conv1", "conv2", "pool", "flatten", "gemm"]
    conv = layers[1]
    assert [info.dtype for info in (*conv.inputs, *conv.outputs)] == ["int8", "int8"]
    assert [node.op_type for node in conv.model.graph.node].count("DequantizeLinear") == 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"subgraph_from": ["conv2"]}, ["conv2", "relu2", "pool", "flatten", "gemm"]),
        ({"subgraph_to": ["relu1"]}, ["conv1", "relu1"]),
        ({"subgraph_from": ["b"], "subgraph_to": ["pool"]}, ["relu1", "conv2", "relu2", "pool"]),
        ({"subgraph_from": ["x"], "subgraph_to": ["conv1"]}, ["conv1"]),
    ],
)
def test_part_of_a_model(arguments, expected):
    _, layers = layers_of(cnn(), **arguments)
    assert [layer.name for layer in layers] == expected


def test_part_that_is_not_there():
    with pytest.raises(TorqError, match="no node or tensor 'conv9'"):
        layers_of(cnn(), subgraph_from=["conv9"])
    with pytest.raises(TorqError, match="no operators between these layers"):
        layers_of(cnn(), subgraph_from=["gemm"], subgraph_to=["conv1"])


def structures(model):
    _, layers = layers_of(model)
    return [deduplication.structure(layer.model) for layer in layers]


def test_layers_that_differ_in_weights_alone_are_the_same():
    found = structures(residual())
    assert found[0::2] == [found[0]] * 3
    assert found[1::2] == [found[1]] * 3
    assert found[0] != found[1]


def single(op_type, weights=(), shape=(1, 4, 6, 6), **attributes):
    node = helper.make_node(op_type, ["x", *weights], ["y"], "node", **attributes)
    return structures(make_model([node], dict(weights), {"x": shape}, {"y": shape}))[0]


def test_what_makes_layers_differ():
    small, large = ({"low": np.float32(0), "high": np.float32(high)} for high in (1, 6))
    assert single("Clip", small) == single("Clip", dict(small))
    assert single("Clip", small) != single("Clip", large)
    assert single("Relu") != single("Sigmoid")
    assert single("LeakyRelu", alpha=0.1) != single("LeakyRelu", alpha=0.2)
    assert single("Relu") != single("Relu", shape=(1, 4, 6, 7))


def test_quantized_layers_differ_in_structure_and_not_in_scales():
    rng = np.random.default_rng(0)
    feeds = [{"x": rng.standard_normal((1, 4, 6, 6), np.float32) + 1}]
    per_tensor, per_channel = (
        structures(quantization.quantize_static(residual(), None, feeds, per_channel=value)) for value in (False, True)
    )
    assert per_tensor[0] == per_tensor[2] == per_tensor[4]
    assert per_channel[0] == per_channel[2] == per_channel[4]
    assert per_tensor[0] != per_channel[0]
