# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the layers of a model are in its quantized form."""

from collections.abc import Iterator

import onnx

from torq_mlir.gen_config.files import CompilerFile, Report
from torq_mlir.gen_config.loading import LoadedModel
from torq_mlir.quantization.preparation import QUANTIZING

# What ONNX Runtime appends to the name of a node that it replaces by one on integers.
_QUANTIZED_SUFFIX = "_quant"


class Locations:
    """Positions of layers in the MLIR of the final model, and layers that others have taken in."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._positions = loaded.positions
        self._base = {name: node for node in loaded.base.graph.node for name in node.output}
        self._nodes = {node.name: node for node in loaded.base.graph.node}
        self._final = {node.name: node for node in loaded.final.graph.node}

    def position(self, layer: str) -> str | None:
        """ "line:col" of a layer; None if the final model has no such node."""
        node = self._final_node(layer)
        return self._positions.get(node.name) if node is not None else None

    def fused_into(self, layer: str) -> str | None:
        """The layer that computes this one too: the nearest one before it that the final model still has."""
        if self._final_node(layer) is not None:
            return None
        node: onnx.NodeProto | None = self._nodes[layer]
        while node is not None:
            node = self._base.get(node.input[0]) if node.input else None
            if node is not None and node.op_type not in QUANTIZING and self._final_node(node.name) is not None:
                return node.name
        return None

    def quantizing(self, layer: str) -> list[str]:
        """Positions of the nodes that quantize the results of a layer: whoever computes these does that too."""
        node = self._final_node(layer)
        outputs = set(node.output) if node is not None else set()
        readers = (each for each in self._final.values() if outputs & set(each.input))
        return [self._positions[each.name] for each in readers if each.op_type == "QuantizeLinear"]

    def dequantizing(self) -> Iterator[tuple[str, list[str]]]:
        """Position of each node that dequantizes something, and the positions of those that read it."""
        readers: dict[str, list[str]] = {}
        for node in self._final.values():
            for name in dict.fromkeys(node.input):
                readers.setdefault(name, []).append(self._positions[node.name])
        for node in self._final.values():
            if node.op_type == "DequantizeLinear":
                yield self._positions[node.name], readers.get(node.output[0], [])

    def _final_node(self, layer: str) -> onnx.NodeProto | None:
        return self._final.get(layer) or self._final.get(f"{layer}{_QUANTIZED_SUFFIX}")


def compiler_file(report: Report, locations: Locations) -> CompilerFile:
    """The compiler file of a report: the recommended executor of each layer that the final model has."""
    assignments: dict[str, str] = {}
    names: dict[str, str] = {}
    for layer in report.layers:
        if layer.mlir_location is None or layer.recommended_executor is None:
            continue
        for position in (layer.mlir_location, *locations.quantizing(layer.name)):
            assignments[position] = layer.recommended_executor
            names[position] = layer.name
    for position, readers in locations.dequantizing():
        chosen = {assignments.get(reader) for reader in readers}
        # What several executors read is taken in by each of them, and belongs to none.
        if len(chosen) == 1 and None not in chosen:
            assignments[position], names[position] = assignments[readers[0]], names[readers[0]]
    ordered = sorted(assignments, key=_order)
    return CompilerFile(
        model=report.model,
        flags=report.flags,
        op_assignments={position: assignments[position] for position in ordered},
        hashes=report.hashes,
        op_names={position: names[position] for position in ordered},
    )


def _order(position: str) -> tuple[int, ...]:
    return tuple(int(number) for number in position.split(":"))
