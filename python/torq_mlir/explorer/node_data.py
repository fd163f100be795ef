# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executors and errors as node data of Model Explorer: a value and a colour for each node of the graphs of a model."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from torch_mlir import ir

from torq_mlir.compiler import LEVELS, CompiledModel
from torq_mlir.deviation import Deviation
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import CompileError
from torq_mlir.explorer import collection, graph, text
from torq_mlir.report import HOST, NONE, NPU, executor_of

_COLORS = {NPU: "#a8dab5", "css": "#aecbfa", HOST: "#fdd663"}
_GRADIENT = [{"stop": 0, "bgColor": "#ffffff"}, {"stop": 1, "bgColor": "#ea4335"}]


def executor_data(compiled: CompiledModel) -> dict:
    """Who executes each operation, "nss", "css" or "host"; at earlier levels who executes its source node."""
    rows = {row.name: row.executor for row in compiled.report().rows}

    def value(level: str, operation: ir.Operation) -> dict | None:
        names = source_names(operation.location)
        executor = executor_of(operation) if level == LEVELS[-1] else rows.get(names[0], NONE) if names else NONE
        color = _COLORS.get(executor)
        return None if executor == NONE else {"value": executor} | ({"bgColor": color} if color else {})

    return _node_data(compiled, value, {"name": "executor"})


def error_data(compiled: CompiledModel, deviations: Iterable[Deviation]) -> dict:
    """How far each operation is from the source model: noise as a fraction of the signal, 0 for no difference.

    Args:
      deviations: as `CompiledModel.deviations` gives them. Among several parts of a source node the worst one counts.
    """
    errors: dict[str, float] = {}
    for deviation in deviations:
        error = 0.0 if deviation.sqnr is None else 10 ** (-deviation.sqnr / 20)
        for name in deviation.names:
            errors[name] = max(error, errors.get(name, 0.0))

    def value(level: str, operation: ir.Operation) -> dict | None:
        found = [errors[name] for name in source_names(operation.location) if name in errors]
        return {"value": max(found)} if found else None

    return _node_data(compiled, value, {"name": "error", "gradient": _GRADIENT})


def measured_error_data(compiled: CompiledModel, inputs: Mapping[str, np.ndarray] | None = None) -> dict:
    """`error_data` of each layer.

    Args:
      inputs: arrays by name that errors are measured on; random ones for None.

    Raises:
      CompileError: the model was loaded from torq_hl, so that there is nothing to compare it with.
      InputError: as for a call.
    """
    if "linalg" not in compiled.levels:
        raise CompileError("a model loaded from torq_hl has no source model that its layers could be compared with")
    return error_data(compiled, compiled.deviations(None if inputs is None else [inputs], every_layer=True))


def _node_data(compiled: CompiledModel, value: Callable[[str, ir.Operation], dict | None], properties: dict) -> dict:
    """Node data of all graphs of a model, by the id of the graph; of those that have any."""
    data = {}
    for level, module in compiled.levels.items():
        for graph_id, function in collection.level_graphs(module, level):
            computing = (
                (node_id, operation)
                for node_id, operation in graph.node_ids(function)
                if len(operation.results) and not text.is_constant(operation)
            )
            results = {node_id: found for node_id, operation in computing if (found := value(level, operation))}
            if results:
                data[graph_id] = {**properties, "results": results}
    return data
