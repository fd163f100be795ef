# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What quantizing each layer alone costs."""

import math

import numpy as np
from discoveries import feeds
from float_models import make_model, normal
from onnx import helper

from torq_mlir import quantization
from torq_mlir.gen_config import extraction, loading, options, sensitivity, workers
from torq_mlir.gen_config.comparing import sqnr_db
from torq_mlir.gen_config.files import LayerSensitivity
from torq_mlir.quantization import sessions


def with_an_outlier():
    """Four products; a row of the third one's weights, which meets zeros, is so large that the others become zero."""
    names = ["first", "second", "third", "fourth"]
    weights = {f"{name}_w": normal(8, 8, seed=index) for index, name in enumerate(names)}
    weights["second_w"][:, 0] = 0
    weights["third_w"][0] *= 2000
    tensors = ["x", "a", "b", "c", "y"]
    nodes = [
        helper.make_node("MatMul", [tensors[index], f"{name}_w"], [tensors[index + 1]], name)
        for index, name in enumerate(names)
    ]
    return make_model(nodes, weights, {"x": [4, 8]}, {"y": [4, 8]})


def test_the_costliest_layer_is_first_and_excluding_it_helps():
    model = with_an_outlier()
    data = feeds(model)
    chosen = options.ModelOptions(quantize=True)
    loaded = loading.load_model(model, chosen, data)
    layers = extraction.extract_layers(loaded.base, loaded.sources)
    with workers.open_workers(0, None, None) as pool:
        found = sensitivity.measure(loaded, layers, chosen, pool)
    assert {each.layer for each in found.layers} == {"first", "second", "third", "fourth"}
    assert [each.sqnr_db for each in found.layers] == sorted(each.sqnr_db for each in found.layers)
    assert found.layers[0].layer == "third"
    assert found.suggested_float == ("third",)

    def quality(exclude):
        quantized = quantization.quantize_static(model, None, data, nodes_to_exclude=exclude)
        pairs = [
            [sessions.session(each).run(None, feed)[0].astype(np.float64).ravel() for each in (quantized, model)]
            for feed in data
        ]
        return sqnr_db(np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs]))

    assert quality(found.suggested_float) > quality(()) + 3


def test_suggestions():
    def ranked(*decibels):
        return [LayerSensitivity(f"l{index}", value) for index, value in enumerate(decibels)]

    assert sensitivity.suggest(ranked(10, 30, 30, 30)) == ("l0",)
    assert sensitivity.suggest(ranked(*[30] * 8)) == ()
    assert sensitivity.suggest(ranked(*[math.inf] * 4)) == ()
    assert sensitivity.suggest([]) == ()
