# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks that a case goes through."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from e2e.backends import Backend
from e2e.compiled import Compiled
from e2e.graph import Layer, QuantizedGraph
from e2e.layerwise import LayerComparison, LayerResults, from_storage
from e2e.metrics import Agreement, agreement
from e2e.reference import Reference
from e2e.structure import body, function_of, host_nodes, place, undeclared_float_operations, undeclared_host_nodes
from torq_mlir.dialects.locations import source_names
from torq_mlir.report import Row

Feeds = Mapping[str, np.ndarray]


@dataclasses.dataclass
class Report:
    """What a check found; it passed when there are no failures.

    Attributes:
      layers: quantized layers compared, summed over the samples as `elements` and `mismatches` are.
      max_lsb: greatest difference of a layer on the same inputs.
      agreement: of the whole model.
      operations: number of operations in the compiled function by name.
      nodes: number of nodes of the source model by who computes them (`structure.place`), without quantizations.
      host_operators: operators of the nodes that the host computes, without quantizations.
    """

    failures: list[str] = dataclasses.field(default_factory=list)
    layers: int = 0
    elements: int = 0
    mismatches: int = 0
    max_lsb: int = 0
    agreement: Agreement | None = None
    operations: dict[str, int] = dataclasses.field(default_factory=dict)
    nodes: dict[str, int] = dataclasses.field(default_factory=dict)
    host_operators: list[str] = dataclasses.field(default_factory=list)

    def add_layers(self, results: LayerResults) -> None:
        self.layers = len(results.mismatches)
        self.elements += results.elements
        self.mismatches += results.count
        self.max_lsb = max(self.max_lsb, results.max_lsb)
        self.failures.extend(results.failures)

    def add_placement(self, nodes: Sequence[Row], graph: QuantizedGraph, float_ops: frozenset[str]) -> None:
        self.nodes = dict(Counter(place(row) for row in nodes if not row.quantizes))
        self.host_operators = sorted({row.op_type for row in host_nodes(nodes)})
        for row in undeclared_host_nodes(nodes, graph, float_ops):
            self.failures.append(f"{row.op_type} {row.name} is on the host: {row.remark}")


def check_against_reference(
    model: onnx.ModelProto,
    samples: Sequence[Feeds],
    float_ops: frozenset[str],
    backend: Backend,
    *,
    placement: bool = False,
) -> Report:
    """Compiles a model and compares it with ONNX Runtime, layer by layer and as a whole.

    Args:
      float_ops: ONNX operators that may stay in float between the first quantize and the last dequantize.
      placement: report where the nodes are computed, and that all but `float_ops` are on the NPU.
    """
    graph = QuantizedGraph(model)
    compiled = Compiled(model)
    report = Report(operations=operation_counts(compiled))
    for operation in undeclared_float_operations(function_of(compiled.module), graph, float_ops):
        report.failures.append(f"{operation.name} of {source_names(operation.location) or 'no node'} stayed in float")
    if placement:
        report.add_placement(compiled.nodes, graph, float_ops)
    layers = LayerComparison(compiled, graph)
    report.failures.extend(f"{layer} is not computed by any operation" for layer in layers.unreached())
    reference = Reference(graph)
    whole = _WholeModel(compiled, graph, layers)
    for sample in samples:
        tensors = reference.run(sample)
        if Backend.INTERPRETER in backend:
            report.add_layers(layers.run(tensors))
        report.failures.extend(whole.run(tensors, backend))
    report.agreement = agreement(whole.integers, whole.outputs)
    return report


def operation_counts(compiled: Compiled) -> dict[str, int]:
    """Number of operations by name."""
    counts = Counter(operation.name for operation in body(function_of(compiled.module)))
    return dict(sorted(counts.items()))


class _WholeModel:
    """Runs of the model on its own, and the pairs to compare them by."""

    def __init__(self, compiled: Compiled, graph: QuantizedGraph, layers: LayerComparison):
        self.compiled = compiled
        self.graph = graph
        self.operations = layers.operations
        self.last = {layer.name for layer in last_layers(graph)}
        self.integers: list[tuple[np.ndarray, np.ndarray]] = []
        self.outputs: list[tuple[np.ndarray, np.ndarray]] = []

    def run(self, tensors: Mapping[str, np.ndarray], backend: Backend) -> list[str]:
        """Runs one sample; returns failures."""
        failures: list[str] = []
        first, *others = backend.names
        outputs = self._interpret(tensors) if first == "interpreter" else self.compiled.execute(tensors, first)
        for name in others:
            failures.extend(executor_differences(outputs, self.compiled.execute(tensors, name), name))
        for name, actual in outputs.items():
            expected = tensors[name]
            if actual.shape != expected.shape:
                failures.append(f"output {name} is {actual.shape}, ORT {expected.shape}")
            elif name in self.graph.quantizations:  # integers
                scale, zero_point = self.graph.quantizations[name].along(actual.ndim)
                self.outputs.append(((actual - zero_point) * scale, (expected - zero_point) * scale))
            else:
                self.outputs.append((actual, expected))
        return failures

    def _interpret(self, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        def keep_last(operation, operands, values) -> None:
            layer = self.operations.get(operation.operation)
            if layer is not None and layer.name in self.last:
                actual = from_storage(values[0], tensors[layer.output])
                if actual is not None:
                    self.integers.append((actual, tensors[layer.output]))

        return self.compiled.interpret(tensors, keep_last)


def executor_differences(
    first: Mapping[str, np.ndarray], executed: Mapping[str, np.ndarray], executor: str
) -> list[str]:
    """Outputs in which an executor does not agree with the first one bit for bit."""
    failures = []
    for name, values in executed.items():
        if values.dtype != first[name].dtype or values.tobytes() != first[name].tobytes():
            count = np.count_nonzero(values != first[name])
            failures.append(f"output {name}: {executor} differs in {count} of {values.size} elements")
    return failures


def last_layers(graph: QuantizedGraph) -> list[Layer]:
    """The layers whose quantized tensors no other layer comes after, but some that only move the values."""
    by_output = {layer.output: layer for layer in graph.layers}
    found: dict[str, Layer] = {}
    pending = [value.name for value in graph.model.graph.output]
    while pending:
        name = pending.pop()
        if name in by_output and not by_output[name].movement:
            found[name] = by_output[name]
        elif name in graph.producers:
            pending.extend(graph.producers[name].input)
    return list(found.values())


def check_same_operations(models: Mapping[str, onnx.ModelProto]) -> Report:
    """Two quantized forms of a model give the same multiset of torq_hl operations: names, result types and windows."""
    counts = {form: Counter(_signatures(Compiled(model))) for form, model in models.items()}
    (first, left), (second, right) = counts.items()
    report = Report()
    for form, surplus in ((first, left - right), (second, right - left)):
        report.failures.extend(f"{count} more in {form}: {signature}" for signature, count in surplus.items())
    report.operations = dict(Counter(signature.split()[0] for signature in left.elements()))
    return report


def _signatures(compiled: Compiled) -> list[str]:
    windows = ("pad", "stride", "dilation", "kernel", "groups", "perm")
    signatures = []
    for operation in body(function_of(compiled.module)):
        if operation.name.startswith("torq_hl."):
            attributes = [f"{name}={operation.attributes[name]}" for name in windows if name in operation.attributes]
            signatures.append(" ".join([operation.name, str(operation.results[0].type), *attributes]))
    return signatures
