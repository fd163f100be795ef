# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized operators of ONNX: the test cases of its specification, and operators as ONNX Runtime computes them."""

import functools
import importlib
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

import torq_mlir
from e2e.backends import Backend, execution
from e2e.checks import Report
from e2e.models.catalog import model_inputs
from e2e.models.onnx_operators import operator_model
from e2e.reference import reference_session
from e2e.weights import expanded_weights
from torq_mlir.dialects.locations import source_names

SPECIFIED = (
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
)

# Sums of floats in another order; of the largest value of the result.
_FLOAT_TOLERANCE = 1e-5


@functools.cache
def specification_cases() -> Mapping[str, object]:
    """The cases of `onnx.backend.test.case.node` for `SPECIFIED`, by name.

    `collect_testcases` would compute those of all operators first.
    """
    package = importlib.import_module("onnx.backend.test.case.node")
    for operator in SPECIFIED:
        importlib.import_module(f"{package.__name__}.{operator.lower()}")
    return {
        case.name.removeprefix("test_"): case
        for case in package._NodeTestCases
        if {node.op_type for node in case.model.graph.node} & set(SPECIFIED)
    }


def check_specification(name: str, backend: Backend) -> Report:
    """Compares with the values of the specification; all of them, floats too, are the same."""
    case = specification_cases()[name]
    inputs, expected = ([_array(value) for value in values] for values in case.data_sets[0])
    report = Report()
    for executor in backend.names:
        _compare(
            report,
            executor,
            torq_mlir.compile(case.model, backend=execution(executor))(*inputs),
            expected,
            tolerance=0.0,
        )
    return report


def check_operator(name: str, backend: Backend) -> Report:
    """Compares a model with ONNX Runtime: integers exactly, floats but for the order of their sums."""
    model = operator_model(name)
    session = reference_session(model)
    given = {value.name for value in session.get_inputs()}
    report = Report()
    for feeds in model_inputs(model, name, 2):
        feeds = {key: array for key, array in feeds.items() if key in given}
        expected = session.run(None, feeds)
        for executor in backend.names:
            compiled = torq_mlir.compile(model, backend=execution(executor))
            _compare(report, executor, compiled(**feeds), expected, _FLOAT_TOLERANCE)
            for operation in expanded_weights(compiled.module) if _multiplies_matrices(model) else ():
                report.failures.append(f"{operation.name} of {source_names(operation.location)} expands weights")
    return report


def _multiplies_matrices(model: onnx.ModelProto) -> bool:
    return any("MatMul" in node.op_type or node.op_type == "ConvInteger" for node in model.graph.node)


def _array(value: np.ndarray | onnx.TensorProto) -> np.ndarray:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _compare(
    report: Report, executor: str, found: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float
) -> None:
    report.layers = len(expected)
    for index, (result, wanted) in enumerate(zip(found, expected, strict=True)):
        report.elements += wanted.size
        if result.dtype != wanted.dtype or result.shape != wanted.shape:
            report.failures.append(
                f"{executor}: output {index} is {result.dtype}{list(result.shape)} "
                f"instead of {wanted.dtype}{list(wanted.shape)}"
            )
            continue
        ours, theirs = result.astype(np.float64), wanted.astype(np.float64)
        allowed = tolerance * np.abs(theirs).max(initial=0.0) if wanted.dtype.kind == "f" else 0.0
        differing = np.abs(ours - theirs) > allowed
        report.mismatches += int(np.count_nonzero(differing))
        if differing.any():
            report.failures.append(
                f"{executor}: {np.count_nonzero(differing)} of {wanted.size} elements of output {index} differ, "
                f"by up to {np.abs(ours - theirs).max()}"
            )
