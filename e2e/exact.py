# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized layers in exact arithmetic, straight from the ONNX graph.

The value of a layer before it is rounded, `y / scale + zero_point`, is computed in float64 from the integers that go
in. Two correct executors round it to the same integer unless it is close to a tie; that is how a mismatch between
them is explained (numerics.md, section 5).
"""

import dataclasses
from collections.abc import Mapping

import numpy as np
import onnx

from e2e.float64_ops import OPERATORS
from e2e.graph import QLINEAR, Layer, QuantizedGraph, attributes_of

TIE = 1 / 64
TIE_16_BIT_WEIGHTS = 1 / 16
_WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
_SIXTEEN_BIT_WEIGHTS = frozenset({"Add", "Mul", "Sub", "Sum"})


def tolerance(layer: Layer) -> float:
    """How close to a tie, in LSB, a value must be for two executors to round it differently."""
    ops = set(layer.op_types)
    return TIE_16_BIT_WEIGHTS if ops & _SIXTEEN_BIT_WEIGHTS and not ops & _WEIGHTED else TIE


def exact_values(graph: QuantizedGraph, layer: Layer, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """`y / scale + zero_point` of a layer in float64, neither rounded nor clamped.

    Args:
      tensors: the integers of the quantized tensors the layer reads, and the model's float inputs, by name.

    Raises:
      NotImplementedError: the layer has an operator that `OPERATORS` does not know.
    """
    node = layer.node
    if node.op_type == "QuantizeLinear":
        real = _Evaluation(graph, tensors).value(node.input[0])
    elif node.op_type in QLINEAR:
        real = _qlinear(graph, node, tensors)
    else:  # an operator on integers keeps the quantization of its input
        rest = [graph.constants[name] if name else None for name in node.input[1:]]
        return _operator(node)(attributes_of(node), tensors[node.input[0]], *rest).astype(np.float64)
    scale, zero_point = layer.quantization.along(real.ndim)
    return real / scale + zero_point


def _operator(node: onnx.NodeProto):
    if node.op_type not in OPERATORS:
        raise NotImplementedError(f"{node.name}: no exact evaluation of {node.op_type}")
    return OPERATORS[node.op_type]


class _Evaluation:
    """Values of float tensors, each computed once."""

    def __init__(self, graph: QuantizedGraph, tensors: Mapping[str, np.ndarray]):
        self.graph = graph
        self.tensors = tensors
        self.known: dict[str, np.ndarray] = {}

    def value(self, name: str) -> np.ndarray:
        if name not in self.known:
            self.known[name] = self._compute(name)
        return self.known[name]

    def _compute(self, name: str) -> np.ndarray:
        if name in self.graph.constants:
            constant = self.graph.constants[name]
            return constant.astype(np.float64) if constant.dtype.kind == "f" else constant
        node = self.graph.producers.get(name)
        if node is None:
            return self.tensors[name].astype(np.float64)
        if node.op_type == "DequantizeLinear":
            return self._dequantize(node)
        operands = [self.value(operand) if operand else None for operand in node.input]
        return _operator(node)(attributes_of(node), *operands)

    def _dequantize(self, node: onnx.NodeProto) -> np.ndarray:
        integers = self.graph.constants.get(node.input[0])
        if integers is None:
            integers = self.tensors[node.input[0]]
        scale, zero_point = self.graph.quantization(node, 1, 2).along(integers.ndim)
        return (integers.astype(np.float64) - zero_point) * scale


def _qlinear(graph: QuantizedGraph, node: onnx.NodeProto, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    form = QLINEAR[node.op_type]
    triples = list(form.operands)
    while form.repeated and triples[-1][-1] + 3 < len(node.input):
        triples.append(tuple(position + 3 for position in triples[-1]))
    operands, product_scale = [], 1.0
    for x, scale_at, zero_point_at in triples:
        integers = graph.constants.get(node.input[x])
        if integers is None:
            integers = tensors[node.input[x]]
        quantization = graph.quantization(node, scale_at, zero_point_at)
        if x > 0 and quantization.scale.size > 1:  # the weights, for each output channel
            axis = 0 if form.op_type == "Conv" or attributes_of(node).get("transB", 0) else integers.ndim - 1
            quantization = dataclasses.replace(quantization, axis=axis)
        scale, zero_point = quantization.along(integers.ndim)
        operands.append((integers.astype(np.float64) - zero_point) * scale)
        product_scale = product_scale * quantization.scale.astype(np.float64).reshape(-1)
    if form.bias is not None and form.bias < len(node.input) and node.input[form.bias]:
        operands.append(graph.constants[node.input[form.bias]].astype(np.float64) * product_scale)
    attributes = {key: value for key, value in attributes_of(node).items() if key != "beta"}
    return OPERATORS[form.op_type](attributes, *operands)


@dataclasses.dataclass(frozen=True)
class Mismatches:
    """Where two executors differ on the same inputs.

    Attributes:
      count: elements that differ, of `elements`.
      max_lsb: greatest difference.
      unexplained: differences whose exact value is not near a tie between the two.
      example: the worst of those, in words.
    """

    elements: int
    count: int = 0
    max_lsb: int = 0
    unexplained: int = 0
    example: str = ""


def compare(
    graph: QuantizedGraph, layer: Layer, actual: np.ndarray, expected: np.ndarray, tensors: Mapping[str, np.ndarray]
) -> Mismatches:
    """Compares the output of a layer with that of ONNX Runtime and explains the differences.

    Args:
      actual, expected: integers, in the storage type of the ONNX tensor.
      tensors: the inputs both were computed from, see `exact_values`.
    """
    difference = np.abs(actual.astype(np.int64) - expected.astype(np.int64))
    count = int(np.count_nonzero(difference))
    if count == 0:
        return Mismatches(expected.size)
    limits = np.iinfo(expected.dtype)
    exact = np.clip(exact_values(graph, layer, tensors), limits.min, limits.max)
    allowed = 0.5 + tolerance(layer)
    off = np.maximum(np.abs(actual - exact), np.abs(expected - exact))
    unexplained = (difference > 0) & ((off > allowed) | (difference > 1))
    example = ""
    if unexplained.any():
        worst = np.unravel_index(np.argmax(np.where(unexplained, off, -1.0)), off.shape)
        place = [int(index) for index in worst]
        example = f"{layer} at {place}: {actual[worst]}, ORT {expected[worst]}, exactly {exact[worst]:.4f}"
    return Mismatches(expected.size, count, int(difference.max()), int(np.count_nonzero(unexplained)), example)
