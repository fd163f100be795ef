# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eager execution of an exported program: the values of all nodes, and layers in float64."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from e2e.exported.graph import DEQUANTIZE, MOVEMENTS, WEIGHTED, Layer

Values = Mapping[str, Any]


def outputs(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What a call returns, flattened."""
    with torch.no_grad():
        return [value for value in pytree.tree_leaves(module(*inputs)) if value is not None]


class Reference:
    """Runs a program node by node."""

    def __init__(self, program: ExportedProgram):
        placeholders = [spec.arg.name for spec in program.graph_signature.input_specs]
        held = {**program.state_dict, **program.constants}
        self._held = {
            name: held[spec.target]
            for name, spec in zip(placeholders, program.graph_signature.input_specs, strict=True)
            if spec.target is not None
        }
        self._program = program

    def run(self, inputs: Sequence[torch.Tensor]) -> dict[str, Any]:
        """The value of each node of the program's graph, by name."""
        given = iter(inputs)
        values: dict[str, Any] = {}
        with torch.no_grad():
            for node in self._program.graph.nodes:
                if node.op == "placeholder":
                    values[node.name] = self._held[node.name] if node.name in self._held else next(given)
                elif node.op == "call_function":
                    arguments, keywords = _resolve(node, values)
                    values[node.name] = node.target(*arguments, **keywords)
        return values


def _resolve(node: torch.fx.Node, values: Values) -> tuple[tuple, dict]:
    """Arguments of a node; tensors are copied, for in-place operators to change nobody else's."""

    def value(each: torch.fx.Node) -> Any:
        known = values[each.name]
        return known.clone() if isinstance(known, torch.Tensor) else known

    return torch.fx.map_arg((node.args, node.kwargs), value)


def exact_values(layer: Layer, values: Values, *, moved: bool, rounded_bias: bool) -> torch.Tensor:
    """`y / scale + zero_point` of a layer in float64, neither rounded nor clamped.

    Args:
      values: of the nodes that the layer reads.
      moved: with the data movement that comes last.
      rounded_bias: with the bias in units of the product of the scales of a product, which is what an integer
        accumulator can hold (numerics.md, section 3).
    """
    known: dict[str, Any] = {source.name: _dequantize(source, values) for source in layer.sources}
    with torch.no_grad():
        for node in layer.float_nodes:
            if node.op == "placeholder":
                known[node.name] = _double(values[node.name])
                continue
            arguments, keywords = _resolve(node, known)
            if rounded_bias and node.target in WEIGHTED and len(arguments) > 2 and arguments[2] is not None:
                arguments = (*arguments[:2], _rounded_bias(node, arguments[2], values), *arguments[3:])
            known[node.name] = _double(node.target(*arguments, **keywords))
    last = layer.node.args[0] if moved else layer.moved
    return known[last.name] / layer.scale + layer.zero_point


def _rounded_bias(node: torch.fx.Node, bias: torch.Tensor, values: Values) -> torch.Tensor:
    sources = []
    for operand in node.args[:2]:
        while operand.target in MOVEMENTS:
            operand = operand.args[0]
        if operand.target not in DEQUANTIZE:
            return bias
        sources.append(operand)
    unit = 1.0
    for source in sources:
        scale = source.args[1]
        unit = unit * (values[scale.name].double() if isinstance(scale, torch.fx.Node) else scale)
    return torch.round(bias / unit) * unit


def _dequantize(node: torch.fx.Node, values: Values) -> torch.Tensor:
    arguments = [values[each.name] if isinstance(each, torch.fx.Node) else each for each in node.args]
    integers, scale, zero_point = arguments[0].double(), arguments[1], arguments[2]
    if node.target is DEQUANTIZE[1]:
        shape = [1] * integers.dim()
        shape[arguments[3]] = -1
        scale, zero_point = scale.double().view(shape), zero_point.double().view(shape)
    return (integers - zero_point) * scale


def _double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
