# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator of a model as a small model of its own."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx import helper
from onnx.utils import Extractor

from torq_mlir.errors import TorqError
from torq_mlir.gen_config.files import TensorInfo
from torq_mlir.quantization.preparation import QUANTIZING, SourceNode

# Nodes that compute nothing.
_NOT_COMPUTING = frozenset({*QUANTIZING, "Constant", "Identity"})


@dataclass(frozen=True)
class ExtractedLayer:
    """An operator, with the quantization around it where the model has some.

    Attributes:
      name: of the node, unique in the model.
      node_index: of the node in the model as it was given; in the prepared one if the optimizer has made it.
      source_name: of the node in the model as it was given.
      model: the layer alone; its inputs and outputs have the names of the tensors of the model.
      inputs, outputs: of the layer.
    """

    name: str
    op_type: str
    node_index: int
    source_name: str
    model: onnx.ModelProto
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


def extract_layers(
    model: onnx.ModelProto,
    sources: Mapping[str, SourceNode],
    *,
    subgraph_from: Collection[str] = (),
    subgraph_to: Collection[str] = (),
) -> list[ExtractedLayer]:
    """The layers of a model that `quantization.prepare` returned, in the order of the graph.

    In a model that is quantized already, a layer takes the quantized tensors that its node dequantizes, and gives the
    one that its result is quantized to.

    Args:
      sources: where the nodes come from, by name.
      subgraph_from, subgraph_to: names of nodes or tensors; only what depends on one of the former, and what one of the
        latter depends on, these included. All if there are none.

    Raises:
      TorqError: there is no node or tensor of such a name, or no operator in between.
    """
    graph = _Graph(model)
    chosen = graph.between(subgraph_from, subgraph_to)
    if not chosen:
        raise TorqError(
            "the model has no operators" + (" between these layers" if subgraph_from or subgraph_to else "")
        )
    extractor = Extractor(model)
    return [_extract(extractor, graph, sources, node) for node in chosen]


class _Graph:
    def __init__(self, model: onnx.ModelProto) -> None:
        self.nodes = list(model.graph.node)
        self.constants = {tensor.name for tensor in model.graph.initializer}
        self.outputs = {value.name for value in model.graph.output}
        self.producers = {name: node for node in self.nodes for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.input):
                self.readers.setdefault(name, []).append(node)

    def between(self, first: Collection[str], last: Collection[str]) -> list[onnx.NodeProto]:
        """The operators that depend on `first` and that `last` depends on, in order."""
        after = self._reached(self._named(first), self._users) if first else None
        before = self._reached(self._named(last), self._sources) if last else None
        return [
            node
            for node in self.nodes
            if self._computes(node) and all(each is None or node.name in each for each in (after, before))
        ]

    def _computes(self, node: onnx.NodeProto) -> bool:
        return node.op_type not in _NOT_COMPUTING and any(self.activation(name) for name in node.input)

    def activation(self, name: str) -> bool:
        """Whether a tensor depends on the inputs of the model, rather than on constants alone."""
        if not name or name in self.constants:
            return False
        producer = self.producers.get(name)
        if producer is None or producer.op_type not in QUANTIZING:
            return True
        return self.activation(producer.input[0])

    def _named(self, names: Iterable[str]) -> list[onnx.NodeProto]:
        by_name = {node.name: node for node in self.nodes}
        found = []
        for name in names:
            node = by_name.get(name) or self.producers.get(name)
            nodes = [node] if node else self.readers.get(name, [])
            if not nodes:
                raise TorqError(f"the model has no node or tensor '{name}'")
            found.extend(nodes)
        return found

    def _users(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        for name in node.output:
            yield from self.readers.get(name, [])

    def _sources(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        yield from (self.producers[name] for name in node.input if name in self.producers)

    def _reached(self, start: Iterable[onnx.NodeProto], step) -> set[str]:
        reached: set[str] = set()
        pending = list(start)
        while pending:
            node = pending.pop()
            if node.name not in reached:
                reached.add(node.name)
                pending.extend(step(node))
        return reached

    def quantized_source(self, name: str) -> str:
        """The tensor that is dequantized to `name`, or `name`."""
        producer = self.producers.get(name)
        return producer.input[0] if producer is not None and producer.op_type == "DequantizeLinear" else name

    def quantized_result(self, name: str) -> str:
        """The tensor that `name` is quantized to, if that is all that is done with it, or `name`."""
        readers = self.readers.get(name, [])
        alone = len(readers) == 1 and name not in self.outputs
        return readers[0].output[0] if alone and readers[0].op_type == "QuantizeLinear" else name


def _extract(
    extractor: Extractor, graph: _Graph, sources: Mapping[str, SourceNode], node: onnx.NodeProto
) -> ExtractedLayer:
    inputs = [graph.quantized_source(name) for name in node.input if graph.activation(name)]
    outputs = [graph.quantized_result(name) for name in node.output if name in graph.readers or name in graph.outputs]
    model = extractor.extract_model(list(dict.fromkeys(inputs)), outputs)
    _drop_value_info(model.graph)
    index = graph.nodes.index(node)
    source = sources.get(node.name, SourceNode(index, node.name))
    return ExtractedLayer(
        node.name,
        node.op_type,
        source.index,
        source.name,
        model,
        tuple(_describe(value) for value in model.graph.input),
        tuple(_describe(value) for value in model.graph.output),
    )


def _drop_value_info(graph: onnx.GraphProto) -> None:
    """The extractor repeats inputs, outputs and initializers among the values in between."""
    known = {value.name for value in (*graph.input, *graph.output)} | {tensor.name for tensor in graph.initializer}
    kept = [value for value in graph.value_info if value.name not in known]
    del graph.value_info[:]
    graph.value_info.extend(kept)


def _describe(value: onnx.ValueInfoProto) -> TensorInfo:
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    return TensorInfo(value.name, tuple(dim.dim_value for dim in tensor.shape.dim), dtype)


def layer_inputs(layers: Sequence[ExtractedLayer]) -> list[str]:
    """The tensors that any of the layers takes."""
    return list(dict.fromkeys(info.name for layer in layers for info in layer.inputs))
