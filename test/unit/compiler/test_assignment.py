# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model with executors by line and column."""

import numpy as np
import pytest
from small_models import quantized_conv

import torq_mlir
from torq_mlir.errors import CompileError

X = np.random.default_rng(0).integers(-128, 128, (1, 3, 6, 6)).astype(np.int8)


def positions(compiled):
    """Line and column of each operator of the model, as its text has them."""
    found = {}
    for number, line in enumerate(compiled.mlir("onnx", elide=True).splitlines(), start=1):
        column = line.find("torch.operator")
        if column >= 0:
            found[line[column:].split('"')[1].removeprefix("onnx.")] = f"{number}:{column + 1}"
    return found


def test_executors_of_single_operators():
    model = quantized_conv(full_integer=True)
    plain = torq_mlir.compile(model, batch=1)
    at = positions(plain)
    for executor, operation in (
        ("css", "linalg.conv_2d_nchw_fchw_q"),
        ("host", "linalg.conv_2d_nchw_fchw "),
        ("nss", "torq_hl"),
    ):
        compiled = torq_mlir.compile(model, batch=1, assignments={at["Conv"]: executor})
        assert operation in compiled.mlir(elide=True)
        (row,) = [row for row in compiled.report().rows if row.op_type == "Conv"]
        assert row.executor == executor
        assert np.array_equal(compiled(X)[0], plain(X)[0])


def test_reassigned():
    compiled = torq_mlir.compile(quantized_conv(full_integer=True), batch=1, assignments={"*": "nss"})
    for executor in ("css", "host", "nss"):
        other = compiled.reassigned({"*": executor})
        assert set(other.report().executors) == {executor}
        assert other.inputs == compiled.inputs
        assert np.array_equal(other(X)[0], compiled(X)[0])


def test_a_loaded_model_cannot_be_reassigned(tmp_path):
    torq_mlir.compile(quantized_conv(full_integer=True), batch=1).save(tmp_path / "model.mlirbc")
    with pytest.raises(CompileError, match="no IR at level linalg"):
        torq_mlir.CompiledModel.load(tmp_path / "model.mlirbc").reassigned({"*": "host"})


def test_no_such_executor():
    with pytest.raises(CompileError, match="'gpu' is no executor; they are nss, css, host"):
        torq_mlir.compile(quantized_conv(), batch=1, assignments={"3:4": "gpu"})
