# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The QOperator format of ONNX and ONNX Runtime as data: which float operator a node computes, on which inputs.

QuantizeLinear and DequantizeLinear, which compute nothing else, are not in the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class QuantizedInput:
    """Positions of a quantized tensor and of its parameters among the inputs of a node.

    Several scales run along `axis` of the tensor; with None, there may be one only.
    """

    tensor: int
    scale: int
    zero_point: int
    axis: int | None = None


@dataclass(frozen=True)
class QOperator:
    """A node that computes `quantize(float_op(dequantize(inputs)...))`.

    Attributes:
      float_op: operator of the ONNX domain.
      inputs: what the inputs of the float operator come from, in order; an int is the position of an input that is
        passed on as it is.
      scale, zero_point: positions of the parameters of the result.
        None for a node that gives real values.
      bias: position of an i32 addend, quantized with the product of the input scales and zero point 0; it is the last
        input of the float operator.
      addend: position of a float bias, which is added to what the float operator computes.
      dynamic: position of a float input that is quantized as DynamicQuantizeLinear does.
      variadic: further quantized inputs follow `inputs`, three positions each.
      dropped: attributes that the float operator does not have.
    """

    float_op: str
    inputs: tuple[QuantizedInput | int, ...]
    scale: int | None
    zero_point: int | None
    bias: int | None = None
    addend: int | None = None
    dynamic: int | None = None
    variadic: bool = False
    dropped: tuple[str, ...] = ()

    def quantized_inputs(self, count: int) -> Iterator[QuantizedInput]:
        """The quantized inputs of a node that has `count` inputs."""
        return (source for source in self.float_inputs(count) if isinstance(source, QuantizedInput))

    def float_inputs(self, count: int) -> Iterator[QuantizedInput | int]:
        """`inputs`, and what a variadic node with `count` inputs has beyond."""
        yield from self.inputs
        if self.variadic:
            for first in range(self.inputs[-1].zero_point + 1, count, 3):
                yield QuantizedInput(first, first + 1, first + 2)


def _unary(float_op: str, *dropped: str) -> QOperator:
    return QOperator(float_op, (QuantizedInput(0, 1, 2),), 3, 4, dropped=dropped)


def _binary(float_op: str) -> QOperator:
    return QOperator(float_op, (QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5)), 6, 7)


QOPERATORS: dict[str, QOperator] = {
    "DynamicQuantizeMatMul": QOperator(
        "MatMul", (0, QuantizedInput(1, 2, 3, axis=-1)), None, None, addend=4, dynamic=0
    ),
    "MatMulIntegerToFloat": QOperator(
        "MatMul", (QuantizedInput(0, 2, 4, axis=-2), QuantizedInput(1, 3, 5, axis=-1)), None, None, addend=6
    ),
    # The columns of B are those of the product; transB makes them rows.
    "QGemm": QOperator("Gemm", (QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, axis=-1)), 7, 8, bias=6),
    "QLinearAdd": _binary("Add"),
    "QLinearAveragePool": _unary("AveragePool", "channels_last"),
    "QLinearConcat": QOperator("Concat", (QuantizedInput(2, 3, 4),), 0, 1, variadic=True),
    "QLinearConv": QOperator(
        "Conv", (QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, axis=0)), 6, 7, bias=8, dropped=("channels_last",)
    ),
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool", "channels_last"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearMatMul": QOperator("MatMul", (QuantizedInput(0, 1, 2, axis=-2), QuantizedInput(3, 4, 5, axis=-1)), 6, 7),
    "QLinearMul": _binary("Mul"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearSoftmax": _unary("Softmax", "opset"),
    "QLinearWhere": QOperator("Where", (0, QuantizedInput(1, 2, 3), QuantizedInput(4, 5, 6)), 7, 8),
}

# Operators that select or move elements of one tensor: they compute the same on quantized values as on real ones, and
# the parameters of their result are those of their first input.
MOVEMENTS = frozenset(
    {
        "DepthToSpace",
        "Expand",
        "Flatten",
        "Gather",
        "Identity",
        "MaxPool",
        "Reshape",
        "Slice",
        "SpaceToDepth",
        "Squeeze",
    }
    | {"Tile", "Transpose", "Unsqueeze"}
)
