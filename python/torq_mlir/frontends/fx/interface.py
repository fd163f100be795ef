# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of a program, with the quantization of those that are integers."""

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram

from torq_mlir.frontends.tensor_info import TensorInfo

from .dtypes import numpy_dtype
from .signature import user_inputs

_QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
_DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"

_Parameters = tuple[float, int]


def describe_inputs(program: ExportedProgram, names: Sequence[str]) -> tuple[TensorInfo, ...]:
    """The tensors that the imported function takes, in order, under these names.

    An integer input is quantized with the parameters of the nodes that read it, if they agree.
    """
    nodes = {node.name: node for node in program.graph.nodes}
    tensors = [(node, value) for node, value in user_inputs(program) if isinstance(value, torch.Tensor)]
    return tuple(
        _describe(name, value, _read_parameters(nodes[node]))
        for name, (node, value) in zip(names, tensors, strict=True)
    )


def dynamic_inputs(program: ExportedProgram) -> tuple[tuple[TensorInfo, ...], dict[str, tuple[int, ...]]] | None:
    """What a call takes, with -1 for dynamic dimensions, and the shapes of these inputs in the call that was exported.

    None where no dimension is dynamic.
    """
    tensors = {name: value for name, value in user_inputs(program) if isinstance(value, torch.Tensor)}
    infos = describe_inputs(program, list(tensors))
    shapes = {info.name: tuple(map(_example_size, tensors[info.name].shape)) for info in infos if -1 in info.shape}
    return (infos, shapes) if shapes else None


def _example_size(size: int | torch.SymInt) -> int:
    return size if isinstance(size, int) else size.node.hint


def describe_outputs(program: ExportedProgram, names: Sequence[str]) -> tuple[TensorInfo, ...]:
    """The tensors that the imported function returns, in order, under these names."""
    nodes = {node.name: node for node in program.graph.nodes}
    producers = [nodes[spec.arg.name] for spec in program.graph_signature.output_specs]
    return tuple(
        _describe(name, node.meta["val"], _written_parameters(node))
        for name, node in zip(names, producers, strict=True)
    )


def _describe(name: str, value: torch.Tensor, parameters: _Parameters | None) -> TensorInfo:
    shape = tuple(size if isinstance(size, int) else -1 for size in value.shape)
    if parameters is None or value.dtype.is_floating_point:
        return TensorInfo(name, shape, numpy_dtype(value.dtype))
    return TensorInfo(name, shape, numpy_dtype(value.dtype), *parameters)


def _read_parameters(node: torch.fx.Node) -> _Parameters | None:
    found = {_parameters(user) if str(user.target) == _DEQUANTIZE else None for user in node.users}
    return found.pop() if len(found) == 1 else None


def _written_parameters(node: torch.fx.Node) -> _Parameters | None:
    return _parameters(node) if str(node.target) == _QUANTIZE else None


def _parameters(node: torch.fx.Node) -> _Parameters | None:
    """Scale and zero point of a call that has numbers for them."""
    scale, zero_point = node.args[1:3]
    return (scale, zero_point) if isinstance(scale, float) and isinstance(zero_point, int) else None
