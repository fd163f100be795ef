# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of one random graph."""

from e2e.backends import Backend
from e2e.checks import Report, executor_differences, operation_counts
from e2e.compiled import Compiled
from e2e.graph import QuantizedGraph
from e2e.layerwise import LayerComparison
from e2e.random_graphs.builder import RandomGraph
from e2e.reference import Reference


def check_graph(graph: RandomGraph, backend: Backend) -> Report:
    """Compiles a graph and compares it with ONNX Runtime, layer by layer, and with other executors.

    Layers that compute the same need not have an operation each. One without is compared where its values are used.
    """
    quantized = QuantizedGraph(graph.model)
    compiled = Compiled(graph.model)
    tensors = Reference(quantized).run(graph.feeds)
    report = Report(operations=operation_counts(compiled))
    report.add_layers(LayerComparison(compiled, quantized).run(tensors))
    others = [name for name in backend.names if name != "interpreter"]
    interpreted = compiled.interpret(tensors) if others else {}
    for name in others:
        report.failures.extend(executor_differences(interpreted, compiled.execute(tensors, name), name))
    return report
