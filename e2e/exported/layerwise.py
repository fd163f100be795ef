# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled program against eager mode, layer by layer on the same inputs (numerics.md, section 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch_mlir import ir

from e2e.compiled import Compiled
from e2e.exact import TIE, TIE_16_BIT_WEIGHTS, Mismatches
from e2e.exported.graph import CONCATENATE, Layer
from e2e.exported.reference import exact_values
from e2e.layerwise import LayerResults, from_storage, to_storage
from e2e.structure import body, function_of, in_own_layout, in_source_layout, layer_operations
from torq_mlir.dialects.locations import source_names

_WEIGHTED = frozenset({"aten.conv1d", "aten.conv2d", "aten.linear", "aten.matmul", "aten.bmm"})
_SIXTEEN_BIT_WEIGHTS = frozenset({"aten.add", "aten.add_", "aten.mul", "aten.sub"})


class LayerComparison:
    """Runs the interpreter with the reference's values in place of each layer's own: differences do not add up."""

    def __init__(self, compiled: Compiled, layers: Sequence[Layer]):
        self.compiled = compiled
        self.layers = layers
        function = function_of(compiled.module)
        self.operations = layer_operations(function, {layer.name: layer for layer in layers})
        self._replace_parts(function)

    def _replace_parts(self, function: ir.Operation) -> None:
        """The parts of a concatenation are quantized one by one: the concatenation of them is the layer."""
        layers = {layer.moved.name: layer for layer in self.layers if layer.moved.target is CONCATENATE}
        for operation in body(function):
            names = set(source_names(operation.location)) & layers.keys()
            if operation.name == "tensor.concat" and len(names) == 1:
                layer = layers[names.pop()]
                self.operations = {key: each for key, each in self.operations.items() if each is not layer}
                self.operations[operation] = layer

    def unreached(self) -> list[Layer]:
        """Layers that no operation stands for.

        Those that only move or select values may dissolve into others, and one of two that are the same.
        """
        reached = {layer.name for layer in self.operations.values()}
        known = {layer.key for layer in self.operations.values()}
        return [
            layer
            for layer in self.layers
            if layer.name not in reached and layer.key not in known and not layer.is_selection
        ]

    def run(self, values: Mapping[str, Any], feeds: Mapping[str, np.ndarray]) -> LayerResults:
        """Compares every layer.

        Args:
          values: of all nodes, as the reference computes them.
          feeds: the inputs of the compiled program.
        """
        results = LayerResults()

        def on_result(
            operation: ir.Operation, operands: Sequence[np.ndarray], produced: Sequence[np.ndarray]
        ) -> Sequence[np.ndarray] | None:
            layer = self.operations.get(operation.operation)
            if layer is None:
                return None
            own = in_source_layout(operation.operation, produced[0])
            match = _match(layer, own, values)
            if match is None:
                shape = tuple(values[layer.name].shape)
                results.failures.append(f"{layer}: {operation.name} gives {produced[0].shape}, not {shape}")
                return None
            actual, expected, moved = match
            results.record(layer.name, _compare(layer, actual, expected, values, moved))
            return [in_own_layout(operation.operation, to_storage(expected, own))]

        self.compiled.interpret(feeds, on_result)
        return results


def _match(layer: Layer, produced: np.ndarray, values: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, bool] | None:
    """What an operation gives as the layer's integers, the integers of eager mode, and whether both are moved.

    The movement that comes last can change places with the quantization, and a product of matrices have fewer
    dimensions than that of batches of them.
    """
    for moved in (True, False):
        expected = _expected(layer, values, moved)
        if _is_merged(produced.shape, expected.shape):
            actual = from_storage(produced.reshape(expected.shape), expected)
            return None if actual is None else (actual, expected, moved)
    return None


def _is_merged(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether neighbouring dimensions of one shape make those of the other; ones are anywhere."""
    few, many = sorted(([size for size in each if size != 1] for each in (shape, other)), key=len)
    rest = iter(many)
    for size in few:
        product = 1
        while product < size:
            product *= next(rest, size + 1)
        if product != size:
            return False
    return next(rest, None) is None


def _expected(layer: Layer, values: Mapping[str, Any], moved: bool) -> np.ndarray:
    """The integers of a layer, also before the data movement that comes last."""
    if moved:
        return values[layer.name].numpy()
    source = values[layer.moved.name]
    return layer.node.target(source, *layer.node.args[1:]).numpy()


def _compare(
    layer: Layer, actual: np.ndarray, expected: np.ndarray, values: Mapping[str, Any], moved: bool
) -> Mismatches:
    difference = np.abs(actual.astype(np.int64) - expected.astype(np.int64))
    count = int(np.count_nonzero(difference))
    if count == 0:
        return Mismatches(expected.size)
    ours, exact = (
        torch.clamp(exact_values(layer, values, moved=moved, rounded_bias=rounded), *layer.bounds).numpy()
        for rounded in (True, False)
    )
    ops = set(layer.op_types)
    sixteen = ops & _SIXTEEN_BIT_WEIGHTS and not ops & _WEIGHTED
    allowed = 0.5 + (TIE_16_BIT_WEIGHTS if sixteen else TIE)
    off = np.maximum(np.abs(actual - ours), np.abs(expected - exact))
    unexplained = (difference > 0) & ((off > allowed) | (difference > 1))
    example = ""
    if unexplained.any():
        worst = np.unravel_index(np.argmax(np.where(unexplained, off, -1.0)), off.shape)
        place = [int(index) for index in worst]
        example = f"{layer} at {place}: {actual[worst]}, eager {expected[worst]}, exactly {exact[worst]:.4f}"
    return Mismatches(expected.size, count, int(difference.max()), int(np.count_nonzero(unexplained)), example)
