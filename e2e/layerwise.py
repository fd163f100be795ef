# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model against the reference, layer by layer on the same inputs."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from torch_mlir import ir

from e2e.compiled import Compiled
from e2e.exact import Mismatches, compare
from e2e.graph import Layer, QuantizedGraph
from e2e.structure import (
    as_slices,
    as_volumes,
    function_of,
    in_own_layout,
    in_source_layout,
    is_unsigned,
    layer_operations,
)

# Float outputs that are no dequantized integers (a softmax) differ by the order of summation.
_FLOAT_TOLERANCE = 1e-5


@dataclasses.dataclass
class LayerResults:
    """What the comparison of all layers found.

    Attributes:
      mismatches: by layer name.
      failures: one line each.
    """

    mismatches: dict[str, Mismatches] = dataclasses.field(default_factory=dict)
    failures: list[str] = dataclasses.field(default_factory=list)

    def record(self, name: str, found: Mismatches) -> None:
        self.mismatches[name] = found
        if found.unexplained:
            self.failures.append(f"{found.unexplained} of {found.elements} unexplained: {found.example}")

    @property
    def elements(self) -> int:
        return sum(found.elements for found in self.mismatches.values())

    @property
    def count(self) -> int:
        return sum(found.count for found in self.mismatches.values())

    @property
    def max_lsb(self) -> int:
        return max((found.max_lsb for found in self.mismatches.values()), default=0)


class LayerComparison:
    """Runs the interpreter with the reference's values in place of each layer's own: differences do not add up."""

    def __init__(self, compiled: Compiled, graph: QuantizedGraph):
        self.compiled = compiled
        self.graph = graph
        self.operations = layer_operations(function_of(compiled.module), graph.by_node)

    def unreached(self) -> list[Layer]:
        """Layers that no operation stands for; those that only move values may dissolve into others."""
        reached = {layer.name for layer in self.operations.values()}
        return [layer for layer in self.graph.layers if layer.name not in reached and not layer.movement]

    def run(self, tensors: Mapping[str, np.ndarray]) -> LayerResults:
        """Compares every layer.

        Args:
          tensors: the model's inputs, and outputs and quantized tensors as the reference computes them, by name.
        """
        results = LayerResults()

        def on_result(
            operation: ir.Operation, operands: Sequence[np.ndarray], values: Sequence[np.ndarray]
        ) -> Sequence[np.ndarray] | None:
            layer = self.operations.get(operation.operation)
            if layer is None:
                return None
            expected = tensors[layer.output]
            if is_unsigned(operation):
                return None  # what reads it is compared
            # A product of batches of matrices is one of a single batch, which its user reshapes.
            own = in_source_layout(operation.operation, values[0])
            produced = as_volumes(own, expected.shape)
            produced = produced.reshape(expected.shape) if produced.size == expected.size else produced
            actual = from_storage(produced, expected)
            if actual is None:
                results.failures.append(f"{layer}: {operation.name} gives {values[0].shape}, not {expected.shape}")
                return None
            results.record(layer.name, compare(self.graph, layer, actual, expected, tensors))
            stored = as_slices(expected, own.shape)
            return [in_own_layout(operation.operation, to_storage(stored, own))]

        outputs = self.compiled.interpret(tensors, on_result)
        for name, actual in outputs.items():
            results.failures.extend(self._output_failures(name, actual, tensors[name]))
        return results

    def _output_failures(self, name: str, actual: np.ndarray, expected: np.ndarray) -> list[str]:
        """Given the reference's last layers, a dequantized output is the reference's, bit for bit."""
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            return [f"output {name} is {actual.dtype}{actual.shape}, ORT {expected.dtype}{expected.shape}"]
        producer = self.graph.producers[name]
        exactly = actual.dtype.kind in "iu" or producer.op_type == "DequantizeLinear"
        tolerance = 0.0 if exactly else _FLOAT_TOLERANCE
        equal = np.allclose(actual, expected, rtol=tolerance, atol=tolerance)
        return [] if equal else [f"output {name} differs from ORT on the same quantized tensors"]


def from_storage(values: np.ndarray, like: np.ndarray) -> np.ndarray | None:
    """The result of an operation as the ONNX tensor. A u8 tensor is stored as i8, less by 128.

    Dimensions of size one may be elsewhere; None if the shapes do not correspond.
    """
    shape, expected_shape = ([size for size in array.shape if size != 1] for array in (values, like))
    if values.dtype != np.int8 or shape != expected_shape:
        return None
    integers = values.reshape(like.shape)
    return integers if like.dtype == np.int8 else (integers.view(np.uint8) ^ np.uint8(128))


def to_storage(tensor: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The inverse of `from_storage`."""
    signed = tensor if tensor.dtype == np.int8 else (tensor ^ np.uint8(128)).view(np.int8)
    return np.array(signed.reshape(like.shape), order="C")
