# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks that a case of a target goes through."""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import torch
from torch.export import ExportedProgram

from e2e.checks import Report
from e2e.exported.reference import outputs
from e2e.metrics import agreement
from e2e.oracle import DIRECTORY
from e2e.targets.lowered import Form, Lowered

Inputs = Sequence[torch.Tensor]

# Of outputs against eager mode, in dB. In integer form an activation may round to another integer, which is worth 40 dB
# or so in a small model; a wrong parameter leaves less than 20.
_LEAST_SQNR = 30.0


def check_program(program: ExportedProgram, samples: Sequence[Inputs], target: str, stays_in_float: bool) -> Report:
    """Both forms of a program against eager mode, call by call.

    Args:
      stays_in_float: contractions of quantized operands may stay in float in integer form, as those with weights in
        groups do.
    """
    report = Report()
    for form in Form:
        lowered = Lowered(program, target, form)
        if not stays_in_float:
            report.failures.extend(f"{form.value}: {reason}" for reason in lowered.refusals)
        eager, pairs = program.module(), []
        for inputs in samples:
            expected = [value.numpy() for value in outputs(eager, inputs)]
            pairs += _pairs(report, form, lowered(*(value.numpy().copy() for value in inputs)), expected)
        report.agreement = agreement([], pairs)
        if report.agreement.sqnr_db < _LEAST_SQNR:
            report.failures.append(f"{form.value}: SQNR of the outputs is {report.agreement.sqnr_db:.1f} dB")
    return report


def check_operator(program: ExportedProgram, samples: Sequence[Inputs], target: str) -> Report:
    """A program of operators of quantized_decomposed gives the bits of eager mode.

    So does the reference interpreter, if the target is StableHLO.
    """
    report, lowered = Report(), Lowered(program, target, Form.FLOAT)
    executors: list[Callable] = [lambda *inputs: lowered(*inputs)]
    if target == "stablehlo" and lowered.is_all_stablehlo:
        executors.insert(0, lambda *inputs: lowered.reference(inputs))
    for execute in executors:
        for inputs in samples:
            expected = [value.numpy() for value in outputs(program.module(), inputs)]
            actual = execute(*(value.numpy().copy() for value in inputs))
            for index, (ours, theirs) in enumerate(_pairs(report, Form.FLOAT, actual, expected)):
                if not np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
                    differ = np.count_nonzero(ours != theirs)
                    report.failures.append(f"output {index} differs from eager mode in {differ} elements")
    return report


def check_oracle(name: str, target: str) -> Report:
    """The integer form of a model of one layer gives the bits of the NPU simulator."""
    model = onnx.load(DIRECTORY / f"{name}.onnx")
    with np.load(DIRECTORY / "oracle.npz") as recorded:
        inputs = [recorded[f"{name}/{value.name}"] for value in model.graph.input]
        expected = recorded[f"{name}/npu"]
    lowered = Lowered(model, target, Form.INTEGER)
    report = Report(failures=list(lowered.refusals))
    (actual,) = lowered(*inputs)
    if not np.array_equal(actual, expected):
        count, step = np.count_nonzero(actual != expected), np.abs(actual.astype(int) - expected).max()
        report.failures.append(f"{count} of {expected.size} elements differ from the NPU, by up to {step}")
    return report


def _pairs(
    report: Report, form: Form, actual: Sequence[np.ndarray], expected: Sequence[np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Outputs next to those of eager mode, if they have the same type."""
    pairs = []
    for index, (ours, theirs) in enumerate(zip(actual, expected, strict=True)):
        if ours.shape == theirs.shape and ours.dtype == theirs.dtype:
            pairs.append((ours, theirs))
            continue
        types = f"{ours.dtype}{list(ours.shape)}, eager {theirs.dtype}{list(theirs.shape)}"
        report.failures.append(f"{form.value}: output {index} is {types}")
    return pairs
