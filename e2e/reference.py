# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime as the reference: every quantized tensor of a model, without graph optimizations."""

import os
from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime as ort

from e2e.graph import QuantizedGraph

THREADS_VARIABLE = "TORQ_E2E_THREADS"


def reference_session(model: onnx.ModelProto) -> ort.InferenceSession:
    """A session that computes the graph as it is written; the optimizers change results (numerics.md, section 5)."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = int(os.environ.get(THREADS_VARIABLE, 0))
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Reference:
    """Runs a model and gives its outputs and all its quantized activations by name."""

    def __init__(self, graph: QuantizedGraph):
        model = onnx.ModelProto()
        model.CopyFrom(graph.model)
        outputs = {value.name for value in model.graph.output}
        model.graph.output.extend(
            onnx.ValueInfoProto(name=layer.output) for layer in graph.layers if layer.output not in outputs
        )
        self._session = reference_session(model)
        self._names = [value.name for value in self._session.get_outputs()]

    def run(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All tensors by name, `feeds` included."""
        return dict(feeds) | dict(zip(self._names, self._session.run(self._names, dict(feeds)), strict=True))
