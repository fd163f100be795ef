# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks that a case of an exported program goes through."""

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch.export import ExportedProgram
from torch_mlir import ir

import torq_mlir
from e2e.backends import Backend, execution
from e2e.checks import Report, operation_counts
from e2e.compiled import Compiled
from e2e.exported.graph import Layer, layers, op_type
from e2e.exported.layerwise import LayerComparison
from e2e.exported.reference import Reference, outputs
from e2e.metrics import agreement
from e2e.structure import function_of, interior_float_operations
from e2e.weights import expanded_weights
from torq_mlir.dialects.locations import source_names

Inputs = Sequence[torch.Tensor]
# Of outputs against eager mode, in dB. A product that is summed in another order can round one activation to another
# integer, which is worth 40 dB or so in a small model; a wrong parameter leaves less than 20.
_LEAST_SQNR = 30.0


def check_static(
    program: ExportedProgram, samples: Sequence[Inputs], float_ops: Collection[str], backend: Backend
) -> Report:
    """A program whose parameters are all constant: layer by layer, and as a whole.

    Args:
      float_ops: operators that may stay in float between the first quantize and the last dequantize, as `aten.softmax`.
    """
    compiled = Compiled(program)
    found = layers(program)
    report = Report(operations=operation_counts(compiled))
    for operation in _undeclared_float_operations(function_of(compiled.module), found, float_ops):
        report.failures.append(f"{operation.name} of {source_names(operation.location) or 'no node'} stayed in float")
    comparison = LayerComparison(compiled, found)
    report.failures.extend(f"{layer} is not computed by any operation" for layer in comparison.unreached())
    reference = Reference(program)
    for inputs in samples if Backend.INTERPRETER in backend else ():
        report.add_layers(comparison.run(reference.run(inputs), _feeds(compiled, inputs)))
    _check_outputs(report, program, samples, backend, _LEAST_SQNR)
    return report


def check_outputs(
    program: ExportedProgram, samples: Sequence[Inputs], backend: Backend, *, exactly: bool = False
) -> Report:
    """A program as a whole: its executors agree bit for bit, and with eager mode within what rounding explains.

    Its weights stay as they are stored.

    Args:
      exactly: the outputs are those of eager mode, bit for bit.
    """
    report = Report()
    compiled = _check_outputs(report, program, samples, backend, np.inf if exactly else _LEAST_SQNR)
    for operation in () if exactly else expanded_weights(compiled.module):
        report.failures.append(f"{operation.name} of {source_names(operation.location)} expands weights")
    return report


def check_dynamic(program: ExportedProgram, calls: Sequence[Inputs], backend: Backend) -> Report:
    """A program of dynamic shapes, in calls of several ones, as a whole."""
    report, pairs, eager = Report(), [], program.module()
    models = [torq_mlir.compile(program, backend=execution(name)) for name in backend.names]
    if not all(isinstance(model, torq_mlir.DynamicModel) for model in models):
        report.failures.append("the program has static shapes")
    for inputs in calls:
        expected = outputs(eager, inputs)
        for results in (model(*(value.numpy() for value in inputs)) for model in models):
            for index, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
                _check_output(report, index, actual, wanted.numpy(), exactly=False)
                pairs.append((actual, wanted.numpy()))
    report.agreement = agreement([], pairs)
    if report.agreement.sqnr_db < _LEAST_SQNR:
        report.failures.append(f"SQNR of the outputs is {report.agreement.sqnr_db:.1f} dB, less than {_LEAST_SQNR}")
    return report


def _feeds(compiled: Compiled, inputs: Inputs) -> dict[str, np.ndarray]:
    return {info.name: value.numpy() for info, value in zip(compiled.inputs, inputs, strict=True)}


def _check_outputs(
    report: Report, program: ExportedProgram, samples: Sequence[Inputs], backend: Backend, least_sqnr: float
) -> torq_mlir.CompiledModel:
    """Calls after one another, so that a program that updates buffers is in the state that the ones before left.

    Returns:
      What was called.
    """
    executors = _executors(program, backend)
    eager = program.module()
    pairs = []
    for inputs in samples:
        expected = outputs(eager, inputs)
        results = [executor(*(value.numpy().copy() for value in inputs)) for executor in executors]
        for name, other in zip(backend.names[1:], results[1:], strict=True):
            for index, (left, right) in enumerate(zip(results[0], other, strict=True)):
                if left.tobytes() != right.tobytes():
                    report.failures.append(f"output {index}: {name} differs")
        for index, (actual, wanted) in enumerate(zip(results[0], expected, strict=True)):
            _check_output(report, index, actual, wanted.numpy(), exactly=np.isinf(least_sqnr))
            pairs.append((actual, wanted.numpy()))
    report.agreement = agreement([], pairs)
    if report.agreement.sqnr_db < least_sqnr:
        report.failures.append(f"SQNR of the outputs is {report.agreement.sqnr_db:.1f} dB, less than {least_sqnr}")
    return executors[0]


def _executors(program: ExportedProgram, backend: Backend) -> list[torq_mlir.CompiledModel]:
    first, *others = backend.names
    compiled = torq_mlir.compile(program, backend=execution(first))
    return [compiled, *(torq_mlir.CompiledModel(compiled.module, backend=execution(name)) for name in others)]


def _check_output(report: Report, index: int, actual: np.ndarray, wanted: np.ndarray, exactly: bool) -> None:
    if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
        report.failures.append(f"output {index} is {actual.dtype}{actual.shape}, eager {wanted.dtype}{wanted.shape}")
    elif exactly and not np.array_equal(actual, wanted, equal_nan=actual.dtype.kind == "f"):
        differ = actual != wanted
        report.failures.append(f"output {index} differs from eager mode in {np.count_nonzero(differ)} elements")


def _undeclared_float_operations(
    function: ir.Operation, found: Sequence[Layer], declared: Collection[str]
) -> list[ir.Operation]:
    """Interior float operations that stand for nodes of other layers than those with an operator in `declared`."""
    allowed: set[str] = set()
    for layer in found:
        if any(op_type(node) in declared for node in layer.float_nodes if node.op == "call_function"):
            allowed.update(node.name for node in (*layer.float_nodes, *layer.sources, layer.node))
    return [
        operation
        for operation in interior_float_operations(function)
        if not (names := source_names(operation.location)) or not set(names) <= allowed
    ]
