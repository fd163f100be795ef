# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized tensors of an exported program and the layers that compute them."""

import dataclasses

import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from torch.export import ExportedProgram

_ops = torch.ops.quantized_decomposed
QUANTIZE = _ops.quantize_per_tensor.default
DEQUANTIZE = (_ops.dequantize_per_tensor.default, _ops.dequantize_per_channel.default)
_aten = torch.ops.aten
# What gives the elements of its input at other places; dropout does not drop any in evaluation mode.
MOVEMENTS = frozenset(
    {
        _aten.clone.default,
        _aten.contiguous.default,
        _aten.dropout.default,
        _aten.flatten.using_ints,
        _aten.permute.default,
        _aten.reshape.default,
        _aten.slice.Tensor,
        _aten.transpose.int,
        _aten.unflatten.int,
        _aten.view.default,
    }
)


CONCATENATE = _aten.cat.default
# Products with weights, whose third argument is a bias.
WEIGHTED = frozenset({_aten.conv1d.default, _aten.conv2d.default, _aten.linear.default})


@dataclasses.dataclass(frozen=True, eq=False)
class Layer:
    """A quantized tensor, by the node that quantizes it with constant parameters.

    Attributes:
      float_nodes: those on floats between the dequantizations and `node`, in order.
      sources: the dequantizations.
    """

    node: torch.fx.Node
    float_nodes: tuple[torch.fx.Node, ...]
    sources: tuple[torch.fx.Node, ...]

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def op_types(self) -> tuple[str, ...]:
        """The operators that the layer computes, such as `aten.linear`."""
        return tuple(op_type(node) for node in self.float_nodes if node.op == "call_function")

    @property
    def scale(self) -> float:
        return self.node.args[1]

    @property
    def zero_point(self) -> int:
        return self.node.args[2]

    @property
    def bounds(self) -> tuple[int, int]:
        return self.node.args[3], self.node.args[4]

    @property
    def moved(self) -> torch.fx.Node:
        """What computes the values; nodes between it and the quantization only move them."""
        node = self.node.args[0]
        while node.target in MOVEMENTS:
            node = node.args[0]
        return node

    @property
    def key(self) -> tuple:
        """What the values are computed from: equal for layers that differ in data movement alone."""
        return (self.moved, *self.node.args[1:])

    @property
    def movement(self) -> bool:
        """Whether the values are those of another quantized tensor of the same parameters, moved."""
        return self.moved.target is DEQUANTIZE[0] and self.moved.args[1:3] == self.node.args[1:3]

    @property
    def is_selection(self) -> bool:
        """Whether the values are those of another quantized tensor of the same parameters, moved or the greatest."""
        node = self.moved
        while node.target in MOVEMENTS or node.target is _aten.max_pool2d.default:
            node = node.args[0]
        return node.target is DEQUANTIZE[0] and node.args[1:3] == self.node.args[1:3]

    def __str__(self) -> str:
        return f"{self.name} ({'+'.join(self.op_types) or 'quantize'})"


def op_type(node: torch.fx.Node) -> str:
    """Namespace and name of the operator that a node calls."""
    return str(node.target).rpartition(".")[0]


def layers(program: ExportedProgram) -> list[Layer]:
    """The layers of a program, in order."""
    order = {node: index for index, node in enumerate(program.graph.nodes)}
    found = []
    for quantize in program.graph.nodes:
        if quantize.target is not QUANTIZE:
            continue
        nodes, sources, pending = set(), set(), [quantize.args[0]]
        while pending:
            node = pending.pop()
            if node in nodes:
                continue
            if node.target in DEQUANTIZE:
                sources.add(node)
                continue
            nodes.add(node)
            pending.extend(node.all_input_nodes)
        found.append(Layer(quantize, tuple(sorted(nodes, key=order.get)), tuple(sorted(sources, key=order.get))))
    return found
