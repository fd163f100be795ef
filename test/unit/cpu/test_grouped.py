# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in groups: kernels give the bits of the interpreter, on every processor and at sizes that fill nothing."""

import functools
from typing import NamedTuple

import numpy as np
import pytest
from grouped_modules import fused, product
from kernel_modules import Cases
from test_kernels import EVERY
from torch_mlir import ir

from torq_mlir.backends import cpu, interpreter

KINDS = (
    {},
    {"zero_points": "integers"},
    {"unsigned": True},
    {"unsigned": True, "zero_points": 8},
    {"unsigned": True, "zero_points": 3},
    {"unsigned": True, "zero_points": "integers"},
    {"bits": 8},
    {"bits": 8, "unsigned": True, "zero_points": 128},
)
FLOAT_KINDS = (
    *KINDS,
    {"zero_points": "floats"},
    {"bits": 8, "zero_points": 5},
    {"bits": 8, "zero_points": "integers"},
    {"bits": 8, "unsigned": True, "zero_points": "integers"},
)


# Rows and columns of the results.
SIZES = ((1, 1), (2, 3), (3, 7), (7, 15), (15, 17), (17, 33), (1, 70), (4, 130), (5, 64), (6, 16), (1, 65), (33, 5))


class _Expected(NamedTuple):
    module: ir.Module
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def expected_of(cases: Cases) -> _Expected:
    module = fused(cases)
    return _Expected(module, cases.inputs, interpreter.run(module, cases.inputs))


@functools.cache
def in_float() -> _Expected:
    cases = Cases()
    for kind, (rows, columns) in zip(FLOAT_KINDS, SIZES, strict=True):
        product(cases, rows, 32, columns, 16, **kind)
    for size in (7, 12, 20, 60):  # that fill no word; one group
        product(cases, 2, 21 if size == 7 else 60, 5, size, zero_points="integers")
    product(cases, (2, 3), 32, 18, 16)
    product(cases, 3, 32, 18, 16, adds=True)
    return expected_of(cases)


@functools.cache
def of_8_bits() -> _Expected:
    cases = Cases()
    for kind, (rows, columns) in zip(KINDS, SIZES, strict=False):
        product(cases, rows, 32, columns, 16, tokens="asymmetric", **kind)
    for size, tokens in ((2, "tensor"), (7, "symmetric"), (12, "asymmetric")):  # that fill no word
        product(cases, 3, 21 if size == 7 else 24, 70, size, zero_points="integers", bits=4, tokens=tokens)
        product(cases, 1, 21 if size == 7 else 24, 5, size, bits=8, tokens=tokens)
    product(cases, (2, 3), 32, 18, 16, tokens="asymmetric")
    product(cases, 1, 32, 18, 16, tokens="tensor", run_time=True)
    product(cases, 3, 32, 18, 16, tokens="asymmetric", run_time=True)
    return expected_of(cases)


@pytest.mark.parametrize(("kernel", "cases"), [("grouped_float", in_float), ("grouped_integers", of_8_bits)])
@pytest.mark.parametrize("name", EVERY)
def test_values(name, kernel, cases):
    module, inputs, expected = cases()
    compiled = cpu.compile(module, cpu=name, num_threads=2, opt_level=0)
    for number, (actual, reference) in enumerate(zip(compiled(inputs), expected, strict=True)):
        np.testing.assert_array_equal(actual, reference, f"product {number}")
        assert np.isfinite(reference).all()
        assert reference.any()
    kernels = [step.kernel for step in compiled.program.steps]
    assert kernels.count(kernel) == len(expected)
    assert "linalg" not in kernels


def test_weights_that_do_not_fit_a_byte_have_no_kernel():
    cases = Cases()
    product(cases, 2, 32, 5, 16, bits=8, zero_points=5, tokens="symmetric")
    module, inputs, (expected,) = expected_of(cases)
    compiled = cpu.compile(module, num_threads=1, opt_level=0)
    np.testing.assert_array_equal(compiled(inputs)[0], expected)
    assert "grouped_integers" not in [step.kernel for step in compiled.program.steps]
