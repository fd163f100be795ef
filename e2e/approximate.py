# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of what the NPU computes other than the source model by option: bf16 for float, integers for softmax and norms.

Both executors agree bit for bit. In bf16, everything but softmax and the like is on the NPU, and the outputs are within
`_BF16_DB` of those of ONNX Runtime. Softmax and normalization in integers leave no float operation between quantized
tensors, and are within one step of float on the same inputs, each on its own.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import onnx

import torq_mlir
from e2e.backends import Backend, execution
from e2e.checks import Report, executor_differences
from e2e.metrics import agreement
from e2e.models.built import BUILT, built_inputs, built_model
from e2e.models.catalog import model_inputs, quantized_model
from e2e.models.features import FEATURES
from e2e.models.network import seed_of
from e2e.models.qdq_features import QDQ_FEATURES
from e2e.models.quantization import float_inputs
from e2e.reference import reference_session
from torq_mlir.report import HOST

# Float models, and the fast ones of them.
_FLOAT = (
    "conv_3x3 conv_depthwise conv_groups4 conv_1d gemm_relu matmul_bias add_relu residual_block cnn_small cnn_softmax"
)
_FLOAT_QDQ = "silu squeeze_and_excitation hard_swish"
_FLOAT_BUILT = ("mobilenet_v2", "vit_tiny")
_INTEGERS = {"bert_tiny": ("full-integer", "full-integer-u8"), "vit_tiny": ("full-integer", "qdq-symmetric")}
_FAST = frozenset({"bf16.cnn_small", "bf16.cnn_softmax", "bf16.silu", "approximate.bert_tiny.full-integer"})

_APPROXIMATE = ("softmax", "normalization")
_BF16_DB = 35.0
# Of 53 layers one after the other.
_DEEP_DB = {"mobilenet_v2": 25.0}
# What torq_hl has no operation for in bf16, and what moves values between such.
_NOT_IN_BF16 = frozenset({"Softmax", "LayerNormalization", "Gelu", "Concat", "Gather", "Transpose"})

Feeds = Mapping[str, np.ndarray]


def cases() -> Iterator[tuple[str, Callable[[Backend], Report], bool]]:
    """Name and check of each case, and whether it is slow."""
    for name in (*_FLOAT.split(), *_FLOAT_QDQ.split(), *_FLOAT_BUILT):
        yield f"bf16.{name}", functools.partial(_bf16, name), f"bf16.{name}" not in _FAST
    for name, variants in _INTEGERS.items():
        for variant in variants:
            case = f"approximate.{name}.{variant}"
            yield case, functools.partial(_approximate, name, variant), case not in _FAST


def _bf16(name: str, backend: Backend) -> Report:
    model, samples = _float_model(name)
    compiled = torq_mlir.compile(model, float="bf16")
    report = Report()
    for row in compiled.report().listed:
        if HOST in row.executor.split("+") and row.op_type not in _NOT_IN_BF16:
            report.failures.append(f"{row.name} ({row.op_type}) is on the host: {row.remark}")
    session = reference_session(model)
    names = [info.name for info in compiled.outputs]
    pairs = []
    for sample in samples:
        outputs = _run(compiled, sample, backend, report)
        expected = session.run(names, dict(sample))
        pairs += [(outputs[name], value) for name, value in zip(names, expected, strict=True)]
    report.agreement = agreement([], pairs)
    least = _DEEP_DB.get(name, _BF16_DB)
    if report.agreement.sqnr_db < least:
        report.failures.append(f"SQNR {report.agreement.sqnr_db:.1f} dB, expected {least}")
    return report


def _float_model(name: str) -> tuple[onnx.ModelProto, Sequence[Feeds]]:
    if name in BUILT:
        model = built_model(name)
        return model, built_inputs(name, model, "inputs", 1)
    model = (FEATURES | QDQ_FEATURES)[name]()
    return model, float_inputs(model, seed_of(f"{name}.inputs"), 2)


def _approximate(name: str, variant: str, backend: Backend) -> Report:
    model = quantized_model(name, variant)
    samples = model_inputs(model, name, 2)
    exact, compiled = torq_mlir.compile(model), torq_mlir.compile(model, approximate=_APPROXIMATE)
    report = Report()
    approximated = {"Softmax": "softmax", "LayerNormalization": "normalization"}
    for row in compiled.report().listed:
        if row.op_type in approximated and row.executor != "nss":
            report.failures.append(f"{row.name} ({row.op_type}) is not on the NPU: {row.remark}")
    deviations = compiled.deviations(samples)
    expected = sum(row.op_type in approximated for row in compiled.report().listed)
    if len(deviations) != expected:
        report.failures.append(f"{len(deviations)} of {expected} approximations were compared")
    report.failures += [f"{each}" for each in deviations if (each.max_steps or 0) > 1]
    report.max_lsb = max((each.max_steps or 0 for each in deviations), default=0)
    pairs = []
    for sample in samples:
        outputs = _run(compiled, sample, backend, report)
        names = [info.name for info in exact.outputs]
        pairs += [(outputs[name], value) for name, value in zip(names, exact.run(None, sample), strict=True)]
    report.agreement = agreement([], pairs)
    return report


def _run(compiled: torq_mlir.CompiledModel, sample: Feeds, backend: Backend, report: Report) -> dict[str, np.ndarray]:
    """The outputs of the first executor, with a failure for each difference of another one."""
    names = [info.name for info in compiled.outputs]
    results = {}
    for executor in backend.names:
        model = torq_mlir.CompiledModel(compiled.module, backend=execution(executor))
        results[executor] = dict(zip(names, model.run(None, sample), strict=True))
    first = results[backend.names[0]]
    for executor in backend.names[1:]:
        report.failures += executor_differences(first, results[executor], executor)
    return first
