# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an exported program to one that is ready to import: static, without side effects, of operators to lower."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.export import ExportedProgram

from torq_mlir.errors import ModelError
from torq_mlir.frontends.tensor_info import TensorInfo

from .decompositions import decomposition_table, remove_assertions, sink_views
from .dtypes import check_dtype, to_numpy
from .interface import describe_inputs, describe_outputs
from .shapes import fix_input_shapes
from .signature import check_signature, make_updates_explicit


@dataclass(frozen=True)
class LoadedProgram:
    """A program that is ready to import.

    Attributes:
      program: what is imported. Its signature has no updates: see `updates`.
      source: the program before operators were taken apart, whose nodes are what errors and locations name.
      inputs: those of a call, then the buffers that a call updates.
      outputs: what a call returns, then the new values of what it updates.
      state: values, by name of the input, of the buffers that a call updates.
      updates: for each output the name of the input that it is the new value of; None for what a call returns.
      source_name: gives the name of the node of `source` that a node of `program` comes from.
    """

    program: ExportedProgram
    source: ExportedProgram
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    state: Mapping[str, np.ndarray]
    updates: tuple[str | None, ...]
    source_name: Callable[[torch.fx.Node], str]


def load(
    program: ExportedProgram,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    batch: int | None = None,
) -> LoadedProgram:
    """Prepare an exported program, which is not modified, for `import_program`.

    Args:
      input_shapes: shapes of inputs that have dynamic dimensions, by name.
      batch: size of the first dimension of each input, where that is dynamic.

    Raises:
      ModelError: an input has a dimension that stays dynamic, or an input, an output, a dtype or an operator is not
        supported. The message is one line and names the node, if it is about one.
    """
    source = fix_input_shapes(program, dict(input_shapes or {}), batch)
    check_signature(source)
    source_name = _namer(source)
    _check_nodes(source.graph, source_name)
    decomposed = _decompose(source)
    remove_assertions(decomposed.graph)
    sink_views(decomposed.graph)
    _check_nodes(decomposed.graph, source_name)
    _check_deterministic(decomposed.graph, source_name)
    explicit = make_updates_explicit(decomposed)
    return LoadedProgram(
        program=decomposed,
        source=source,
        inputs=describe_inputs(decomposed, explicit.inputs),
        outputs=describe_outputs(decomposed, explicit.outputs),
        state={name: to_numpy(value).copy() for name, value in explicit.state.items()},
        updates=tuple(explicit.updates),
        source_name=source_name,
    )


def _decompose(program: ExportedProgram) -> ExportedProgram:
    """Takes operators apart. What the functions of PyTorch that do so refuse is a form that is not supported."""
    try:
        return program.run_decompositions(dict(decomposition_table()))
    except (AssertionError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ModelError(f"an operator cannot be taken apart: {first_line or type(error).__name__}") from error


def _check_nodes(graph: torch.fx.Graph, name_of: Callable[[torch.fx.Node], str]) -> None:
    """Every node calls a function of its inputs alone, on dtypes that there is arithmetic for."""
    for node in graph.nodes:
        subject = f"input '{node.name}'" if node.op == "placeholder" else f"{name_of(node)} ({operator_name(node)})"
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            raise ModelError(f"{subject}: control flow and other operators with subgraphs are not supported")
        values = node.meta.get("val")
        for value in values if isinstance(values, list | tuple) else [values]:
            if isinstance(value, torch.Tensor):
                check_dtype(value.dtype, subject)
        for argument in (*node.args, *node.kwargs.values()):
            if isinstance(argument, torch.dtype):
                check_dtype(argument, subject)


def _check_deterministic(graph: torch.fx.Graph, name_of: Callable[[torch.fx.Node], str]) -> None:
    for node in graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise ModelError(f"{name_of(node)} ({operator_name(node)}): random numbers are not supported")


def _namer(program: ExportedProgram) -> Callable[[torch.fx.Node], str]:
    """What gives the name of the node of `program` that a node of its decomposition comes from."""
    names = frozenset(node.name for node in program.graph.nodes)

    def name_of(node: torch.fx.Node) -> str:
        origins = (origin.name for origin in reversed(node.meta.get("from_node") or ()) if origin.name in names)
        return next(origins, node.name)

    return name_of


def operator_name(node: torch.fx.Node) -> str:
    """The operator that a node calls: namespace, name and overload unless that is the default one."""
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target).removesuffix(".default")
    return getattr(node.target, "__name__", str(node.target))
