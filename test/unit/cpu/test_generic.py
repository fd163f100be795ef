# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of linalg on every processor give the bits of MLIR's own lowering."""

import numpy as np
import pytest
from generic_modules import ALL
from kernel_modules import Cases

from torq_mlir.backends import cpu, jit
from torq_mlir.backends.cpu import machine

PROCESSORS = [each.name for each in machine.available()]
EVERY = [
    pytest.param(name, marks=[] if name in (PROCESSORS[0], "generic") else [pytest.mark.slow], id=name)
    for name in PROCESSORS
]


@pytest.fixture(scope="module", params=ALL)
def expected(request):
    """Cases, their module, and their results."""
    cases = Cases()
    ALL[request.param](cases)
    module = cases.module()
    with np.errstate(all="ignore"):
        return cases, module, jit.compile(module, opt_level=1)(cases.inputs)


@pytest.mark.parametrize("name", EVERY)
def test_bits(expected, name):
    cases, module, results = expected
    compiled = cpu.compile(module, cpu=name, num_threads=1, opt_level=1)
    for number, (actual, reference) in enumerate(zip(compiled(cases.inputs), results, strict=True)):
        assert actual.dtype == reference.dtype
        np.testing.assert_array_equal(actual, reference, f"operation {number}")
        if reference.dtype.kind == "f" and not np.isnan(reference).any():
            np.testing.assert_array_equal(np.signbit(actual), np.signbit(reference), f"operation {number}")
        assert reference.size < 9 or np.unique(reference).size > 1, f"operation {number} proves nothing"
    assert "linalg" not in [step.kernel for step in compiled.program.steps]
