# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines that run on the module of a model, and what their failures say of it."""

from collections.abc import Sequence

from torch_mlir import ir

from torq_mlir import passes, pipelines
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import CompileError
from torq_mlir.source_nodes import SourceNode

# How the verifier speaks of operations that have the operands and attributes that the model gives.
_OF_THE_MODEL = "'quantized_decomposed."


def lower(
    module: ir.Module,
    pipeline: str,
    nodes: Sequence[SourceNode],
    instrumentations: Sequence[pipelines.Instrumentation] = (),
) -> None:
    """Run a pipeline on a model, and verify once what it leaves: after each pass takes longer than the passes.

    Raises:
      CompileError: a pass failed, or left invalid IR; the message names the node of the model.
    """
    try:
        pipelines.run(module, pipeline, verify=False, instrumentations=instrumentations)
        module.operation.verify()
    except pipelines.PipelineFailure as failure:
        raise CompileError(_explain_failure(failure, nodes)) from failure
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        names = ", ".join(source_names(first.location)) or "the module"
        message = " ".join(first.message.split())
        if not message.startswith(_OF_THE_MODEL):
            message = f"{pipeline} left invalid IR: {message}"
        raise CompileError(f"{names}: {message}") from error


def _explain_failure(failure: pipelines.PipelineFailure, nodes: Sequence[SourceNode]) -> str:
    """The first error that a pass reported, with the name of the source node it is about."""
    if not failure.diagnostics:
        return str(failure)
    first = failure.diagnostics[0]
    names = source_names(first.location)
    if first.message.startswith("failed to legalize operation"):  # torch-mlir prints the operation, constants and all
        described = [f"{node.name} ({node.op_type})" for node in nodes if node.name in names]
        subject = ", ".join(described or names) or "an operation without a name"
        return f"{subject}: there is no lowering of this form of the operator"
    if not names:
        return str(failure)
    return f"{', '.join(names)}: {' '.join(first.message.split())}"


def explaining(pipeline: str) -> str:
    """The passes of `pipeline` up to the last one that can explain what it leaves, with explanations."""
    parsed, registry = pipelines.parse(pipeline), passes.registry()
    explains = [
        element.name in registry and any(option.name == "explain" for option in registry[element.name].options)
        for element in parsed.elements
    ]
    last = max(index for index, value in enumerate(explains) if value)
    pairs = zip(parsed.elements[: last + 1], explains, strict=False)
    elements = (str(element.with_options("explain=true") if explain else element) for element, explain in pairs)
    return f"{parsed.anchor}({','.join(elements)})"
