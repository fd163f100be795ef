# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of discovery share."""

import contextlib

import numpy as np
from float_models import make_model, normal
from onnx import helper

from torq_mlir import gen_config

QUANTIZE = gen_config.ModelOptions(quantize=True, full_integer=True)


class Events:
    """Progress that remembers what it was told, and can interrupt."""

    def __init__(self, interrupt_after: int | None = None) -> None:
        self.total, self.started_pairs, self.finished_pairs, self.notes = 0, [], [], []
        self._interrupt_after = interrupt_after

    @contextlib.contextmanager
    def __call__(self, total):
        self.total = total
        yield self

    def started(self, layer, executor):
        self.started_pairs.append((layer, executor))

    def finished(self, layer, executor, result, seconds=0.0):
        self.finished_pairs.append((layer, executor))
        if len(self.finished_pairs) == self._interrupt_after:
            raise KeyboardInterrupt

    def note(self, text):
        self.notes.append(text)


def feeds(model, count=4, seed=0):
    shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    rng = np.random.default_rng(seed)
    return [{name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()} for _ in range(count)]


def discover(model, folder, options=QUANTIZE, show=None, **arguments):
    """In this process, on data that do not depend on the machine."""
    arguments.setdefault("jobs", 0)
    return gen_config.discover(
        model,
        folder,
        options,
        gen_config.DiscoverOptions(**arguments),
        calibration_data_reader=feeds(model),
        show=show or Events(),
    )


def run(model, folder, options=QUANTIZE, **arguments):
    return gen_config.run(
        model, folder, options, gen_config.RunOptions(**arguments), calibration_data_reader=feeds(model)
    )


def with_sine():
    """Gemm, Sin, which ONNX Runtime does not quantize, Gemm."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["h"], "first"),
        helper.make_node("Sin", ["h"], ["s"], "sine"),
        helper.make_node("Gemm", ["s", "v"], ["y"], "last"),
    ]
    return make_model(nodes, {"w": normal(8, 4), "v": normal(4, 4)}, {"x": [1, 8]}, {"y": [1, 4]})
