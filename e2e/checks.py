# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks that a case goes through."""

import dataclasses
import enum
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from e2e.compiled import Compiled
from e2e.graph import Layer, QuantizedGraph
from e2e.layerwise import LayerComparison, LayerResults, from_storage
from e2e.metrics import Agreement, agreement
from e2e.reference import Reference
from e2e.structure import body, function_of, undeclared_float_operations
from torq_mlir.dialects.locations import source_names

Feeds = Mapping[str, np.ndarray]


class Backend(enum.Enum):
    """Executors to run. The layers are compared in the interpreter; both must agree bit for bit."""

    INTERPRETER = "interpreter"
    JIT = "jit"
    ALL = "all"


@dataclasses.dataclass
class Report:
    """What a check found; it passed when there are no failures.

    Attributes:
      layers: quantized layers compared, summed over the samples as `elements` and `mismatches` are.
      max_lsb: greatest difference of a layer on the same inputs.
      agreement: of the whole model.
    """

    failures: list[str] = dataclasses.field(default_factory=list)
    layers: int = 0
    elements: int = 0
    mismatches: int = 0
    max_lsb: int = 0
    agreement: Agreement | None = None
    operations: dict[str, int] = dataclasses.field(default_factory=dict)

    def add_layers(self, results: LayerResults) -> None:
        self.layers = len(results.mismatches)
        self.elements += results.elements
        self.mismatches += results.count
        self.max_lsb = max(self.max_lsb, results.max_lsb)
        self.failures.extend(results.failures)


def check_against_reference(
    model: onnx.ModelProto, samples: Sequence[Feeds], float_ops: frozenset[str], backend: Backend
) -> Report:
    """Compiles a model and compares it with ONNX Runtime, layer by layer and as a whole.

    Args:
      float_ops: ONNX operators that may stay in float between the first quantize and the last dequantize.
    """
    graph = QuantizedGraph(model)
    compiled = Compiled(model)
    report = Report(operations=operation_counts(compiled))
    for operation in undeclared_float_operations(function_of(compiled.module), graph, float_ops):
        report.failures.append(f"{operation.name} of {source_names(operation.location) or 'no node'} stayed in float")
    layers = LayerComparison(compiled, graph)
    report.failures.extend(f"{layer} is not computed by any operation" for layer in layers.unreached())
    reference = Reference(graph)
    whole = _WholeModel(compiled, graph, layers)
    for sample in samples:
        tensors = reference.run(sample)
        if backend is not Backend.JIT:
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
        outputs = self.compiled.execute(tensors) if backend is Backend.JIT else self._interpret(tensors)
        if backend is Backend.ALL:
            failures.extend(executor_differences(outputs, self.compiled.execute(tensors)))
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


def executor_differences(interpreted: Mapping[str, np.ndarray], executed: Mapping[str, np.ndarray]) -> list[str]:
    """Outputs in which the interpreter and the JIT do not agree bit for bit."""
    failures = []
    for name, values in executed.items():
        if values.dtype != interpreted[name].dtype or values.tobytes() != interpreted[name].tobytes():
            count = np.count_nonzero(values != interpreted[name])
            failures.append(f"output {name}: interpreter and JIT differ in {count} of {values.size} elements")
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
