# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of a module, or of a model at each level of the IR, as a collection of graphs."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from torch_mlir import ir

import torq_mlir
from torq_mlir import persistence
from torq_mlir.compiler import LEVELS, CompiledModel
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import CompileError, ModelError
from torq_mlir.explorer import graph, qparams, text
from torq_mlir.report import NONE, executor_of

MLIR_SUFFIXES = (".mlir", ".mlirbc")

Annotate = Callable[[ir.Operation], graph.Attributes]


def from_compiled(compiled: CompiledModel, label: str = "") -> dict:
    """A graph for each level of the IR that a compiled model knows, named as the level.

    Each node has the executor of its source node and, for what stays on the host, the reason; each operation of the NPU
    also the scale of its result.

    Args:
      label: of the collection.
    """
    graphs = []
    for level, module in reversed(compiled.levels.items()):  # the first one is shown first
        graphs += _graphs(module, level, _annotation(compiled, level))
    return _collection(label, graphs)


def from_module(module: ir.Module | ir.Operation, label: str = "") -> dict:
    """A graph for each function of a module at any level, named as the function."""
    module = module.operation
    return _collection(label, _graphs(module, None, _executors if _is_converted(module) else None))


def from_file(path: str | os.PathLike, label: str = "") -> dict:
    """The graphs of a file, see `read`: of a model at each level, or of each function.

    Raises:
      as `read`.
    """
    model = read(path)
    return from_compiled(model, label) if isinstance(model, CompiledModel) else from_module(model, label)


def read(path: str | os.PathLike) -> CompiledModel | ir.Module:
    """A model that `torq_mlir.compile` takes, or MLIR at any level, in text or bytecode, which is a model in torq_hl.

    Of a program with dynamic shapes it is the model for the shapes that it was exported with.

    Raises:
      ModelError, CompileError: the model is malformed or not supported, or the file is no MLIR or has no function.
      OSError: the file cannot be read.
    """
    if Path(path).suffix not in MLIR_SUFFIXES:
        compiled = torq_mlir.compile(path)
        return getattr(compiled, "example", compiled)
    module = persistence.parse(Path(path).read_bytes(), path, what="MLIR", allow_unregistered=True)
    if next(_functions(module.operation), None) is None:
        raise ModelError(f"{path}: the module has no function with a body, of which there would be a graph")
    with contextlib.suppress(CompileError):  # several functions, none of which is called main
        if _is_converted(module.operation):
            return CompiledModel(module)
    return module


def level_graphs(module: ir.Operation, level: str | None) -> Iterator[tuple[str, ir.Operation]]:
    """The functions of a module with the ids of their graphs."""
    functions = list(_functions(module))
    for function in functions:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        yield name if level is None else level if len(functions) == 1 else f"{level}/{name}", function


def _graphs(module: ir.Operation, level: str | None, annotate: Annotate | None) -> list[dict]:
    functions = list(level_graphs(module, level))
    callees = {ir.StringAttr(function.attributes["sym_name"]).value: graph_id for graph_id, function in functions}
    return [
        graph.function_graph(function, graph_id, annotate=annotate, callees=callees) for graph_id, function in functions
    ]


def _functions(module: ir.Operation) -> Iterator[ir.Operation]:
    for each in module.regions[0].blocks[0].operations:
        operation = each.operation
        if operation.name == "builtin.module":
            yield from _functions(operation)
        elif operation.name == "func.func" and len(operation.regions[0].blocks):
            yield operation


def _collection(label: str, graphs: list[dict]) -> dict:
    return {"label": label, "graphs": graphs}


def _is_converted(module: ir.Operation) -> bool:
    """Whether the operations of a module have executors: it has operations of the NPU, or they are assigned."""
    operations = (operation for function in _functions(module) for _, operation in graph.node_ids(function))
    return any(each.name.startswith("torq_hl.") or "torq-executor" in each.attributes for each in operations)


def _executors(operation: ir.Operation) -> graph.Attributes:
    if text.is_constant(operation) or not len(operation.results):
        return {}
    executor = executor_of(operation)
    return {} if executor == NONE else {graph.EXECUTOR: executor}


def _annotation(compiled: CompiledModel, level: str) -> Annotate:
    rows = {row.name: row for row in compiled.report().rows}
    errors = {name: str(each) for each in compiled.report().deviations for name in each.names}
    results = _result_parameters(compiled) if level == LEVELS[-1] else {}

    def annotate(operation: ir.Operation) -> graph.Attributes:
        names = source_names(operation.location) or [""]
        if text.is_constant(operation) or not len(operation.results):
            return {}
        row = rows.get(names[0])
        attributes = {"remark": row.remark} if row and row.remark else {}
        if level == LEVELS[-1]:
            attributes |= _executors(operation) | _result(operation, names[-1], results)
        elif row and row.executor != NONE:
            attributes |= {graph.EXECUTOR: row.executor}
        return attributes | ({"error": errors[names[0]]} if names[0] in errors else {})

    return annotate


def _result_parameters(compiled: CompiledModel) -> Mapping[str, qparams.QuantizationParameters]:
    """The parameters of the quantizations of a model, by the names of the nodes."""
    if "linalg" not in compiled.levels:
        return {}
    operations = (op for function in _functions(compiled.levels["linalg"]) for _, op in graph.node_ids(function))
    found = ((source_names(each.location), qparams.parameters(each)) for each in operations)
    return {name: each for names, each in found if each is not None and each.quantizes for name in names[-1:]}


def _result(
    operation: ir.Operation, name: str, parameters: Mapping[str, qparams.QuantizationParameters]
) -> graph.Attributes:
    """The quantization of the result of an operation of the NPU, which is named after the quantizing node at last."""
    if not operation.name.startswith("torq_hl.") or name not in parameters:
        return {}
    own = operation.attributes
    zero_point = str(own["output_zp"].value) if "output_zp" in own else parameters[name].zero_point
    return {"scale": parameters[name].scale, "zero point": zero_point, "granularity": parameters[name].granularity}
