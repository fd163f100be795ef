# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized tensors of an ONNX graph and the layers that compute them."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from e2e.float64_ops import MOVEMENT

_ON_INTEGERS = frozenset({*MOVEMENT, "Concat", "MaxPool"})


@dataclasses.dataclass(frozen=True)
class Quantization:
    """Scale and zero point of a tensor, scalars or one value for each index of `axis`."""

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int = 1

    def along(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Both as float64, shaped to broadcast against a tensor of `rank` dimensions."""
        scale, zero_point = self.scale.astype(np.float64), self.zero_point.astype(np.float64)
        if scale.size == 1:
            return scale.reshape(()), zero_point.reshape(-1)[0]
        shape = [1] * rank
        shape[self.axis] = -1
        return scale.reshape(shape), zero_point.reshape(shape) if zero_point.size > 1 else zero_point.reshape(())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Quantization)
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
            and self.zero_point.dtype == other.zero_point.dtype
        )

    __hash__ = None


@dataclasses.dataclass(frozen=True)
class QLinear:
    """Where a QOperator node has its operands: positions of `(x, scale, zero_point)`, of the output's `(scale,
    zero_point)`, and of an i32 bias in the scale of the product; `repeated` triples go on to the last input."""

    op_type: str
    operands: tuple[tuple[int, int, int], ...]
    output: tuple[int, int]
    bias: int | None = None
    repeated: bool = False


_UNARY = ((0, 1, 2),)
_BINARY = ((0, 1, 2), (3, 4, 5))
QLINEAR = {
    "QGemm": QLinear("Gemm", _BINARY, (7, 8), bias=6),
    "QLinearAdd": QLinear("Add", _BINARY, (6, 7)),
    "QLinearAveragePool": QLinear("AveragePool", _UNARY, (3, 4)),
    "QLinearConcat": QLinear("Concat", ((2, 3, 4),), (0, 1), repeated=True),
    "QLinearConv": QLinear("Conv", _BINARY, (6, 7), bias=8),
    "QLinearGlobalAveragePool": QLinear("GlobalAveragePool", _UNARY, (3, 4)),
    "QLinearLeakyRelu": QLinear("LeakyRelu", _UNARY, (3, 4)),
    "QLinearMatMul": QLinear("MatMul", _BINARY, (6, 7)),
    "QLinearMul": QLinear("Mul", _BINARY, (6, 7)),
    "QLinearReduceMean": QLinear("ReduceMean", _UNARY, (3, 4)),
    "QLinearSigmoid": QLinear("Sigmoid", _UNARY, (3, 4)),
    "QLinearSoftmax": QLinear("Softmax", _UNARY, (3, 4)),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Layer:
    """A quantized tensor `output`, and the node that gives it: the quantizing one, or an operator on integers."""

    node: onnx.NodeProto
    output: str
    quantization: Quantization
    float_nodes: tuple[onnx.NodeProto, ...] = ()
    """In QDQ form, the nodes on floats between the DequantizeLinear nodes and `node`."""
    movement: bool = False
    """The values are those of another quantized tensor of the same quantization, moved."""

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def op_types(self) -> tuple[str, ...]:
        """What the layer computes, as float operators."""
        if self.node.op_type in QLINEAR:
            return (QLINEAR[self.node.op_type].op_type,)
        return tuple(node.op_type for node in self.float_nodes) or (self.node.op_type,)

    def __str__(self) -> str:
        return f"{self.name} ({'+'.join(self.op_types)})"


class QuantizedGraph:
    """Index of a model's graph.

    Attributes:
      constants: initializers and Constant nodes by name.
      producers: the node that gives a tensor.
      layers: the quantized activations, in the order of the graph.
      by_node: layers by the name of the node whose result they are.
    """

    def __init__(self, model: onnx.ModelProto):
        self.model = model
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.producers: dict[str, onnx.NodeProto] = {}
        self.consumers: dict[str, list[onnx.NodeProto]] = {}
        for node in model.graph.node:
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            self.producers.update(dict.fromkeys(node.output, node))
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)
        self.quantizations = {
            value.name: self._input_quantization(value.name)
            for value in model.graph.input
            if value.type.tensor_type.elem_type in (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)
        }
        self.layers = list(self._layers())
        self.by_node = {layer.name: layer for layer in self.layers}
        # Moving and selecting values is the same on floats and on integers: such a node can be what gives the integers.
        self.by_node |= {
            layer.float_nodes[-1].name: layer
            for layer in self.layers
            if layer.float_nodes and layer.float_nodes[-1].op_type in _ON_INTEGERS and self._keeps_quantization(layer)
        }

    def _keeps_quantization(self, layer: Layer) -> bool:
        """Whether all that the layer reads is quantized as its output is."""
        sources = self._sources(layer.float_nodes)
        return all(self.quantization(source, 1, 2) == layer.quantization for source in sources)

    def quantization(self, node: onnx.NodeProto, scale: int, zero_point: int) -> Quantization:
        """The parameters at two inputs of a node; an absent zero point is 0."""
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
        zero = node.input[zero_point] if zero_point < len(node.input) else ""
        default = np.asarray(0, dtype=np.uint8)
        return Quantization(self.constants[node.input[scale]], self.constants[zero] if zero else default, axis)

    def _input_quantization(self, name: str) -> Quantization:
        """Of an integer input of the model: that of the node that dequantizes it, if one does."""
        for node in self.consumers.get(name, []):
            if node.op_type == "DequantizeLinear":
                return self.quantization(node, 1, 2)
        return Quantization(np.float32(1), np.asarray(0))

    def _layers(self) -> Iterator[Layer]:
        for node in self.model.graph.node:
            output = node.output[0]
            if node.op_type == "QuantizeLinear":
                quantization = self.quantization(node, 1, 2)
                nodes = tuple(self._float_nodes(node.input[0]))
                if node.input[0] in self.constants:
                    continue
                layer = Layer(node, output, quantization, nodes, self._moves(node, nodes, quantization))
            elif node.op_type in QLINEAR:
                layer = Layer(node, output, self.quantization(node, *QLINEAR[node.op_type].output))
            elif node.op_type != "DequantizeLinear" and node.input and node.input[0] in self.quantizations:
                movement = node.op_type in MOVEMENT
                layer = Layer(node, output, self.quantizations[node.input[0]], movement=movement)
            else:
                continue
            self.quantizations[output] = layer.quantization
            yield layer

    def _moves(self, quantize: onnx.NodeProto, nodes: tuple[onnx.NodeProto, ...], quantization: Quantization) -> bool:
        """Whether `nodes` only move the values of one tensor of the same quantization."""
        sources = self._sources((*nodes, quantize))
        same = [self.quantization(source, 1, 2) for source in sources] == [quantization]
        return same and all(node.op_type in MOVEMENT for node in nodes)

    def _sources(self, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """The nodes that dequantize what some nodes read."""
        inputs = [name for node in nodes for name in node.input if name in self.producers]
        return [self.producers[name] for name in inputs if self.producers[name].op_type == "DequantizeLinear"]

    def _float_nodes(self, name: str) -> list[onnx.NodeProto]:
        """Nodes between a float tensor and the DequantizeLinear nodes that it comes from, in the order of the graph."""
        found: dict[str, onnx.NodeProto] = {}
        pending = [name]
        while pending:
            node = self.producers.get(pending.pop())
            if node is None or node.op_type in ("DequantizeLinear", "Constant") or node.name in found:
                continue
            found[node.name] = node
            pending.extend(node.input)
        order = {node.name: index for index, node in enumerate(self.model.graph.node)}
        return sorted(found.values(), key=lambda node: order[node.name])


def attributes_of(node: onnx.NodeProto) -> dict:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
