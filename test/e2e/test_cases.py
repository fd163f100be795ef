# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of end-to-end cases, a test for each."""

import zlib

import pytest

from e2e.backends import Backend
from e2e.cases import Case, registry
from e2e.expected_failures import EXPECTED_FAILURES


def _parameter(case: Case):
    marks = [pytest.mark.slow] if case.slow else []
    if case.name in EXPECTED_FAILURES:
        marks.append(pytest.mark.xfail(reason=EXPECTED_FAILURES[case.name], strict=True))
    return pytest.param(case, marks=marks, id=case.name)


@pytest.mark.parametrize("case", [_parameter(case) for case in registry().values()])
def test_case(case: Case):
    report = case.check(_executors(case))
    assert not report.failures, "\n".join(report.failures[:20])


def _executors(case: Case) -> Backend:
    """Machine code takes as long to make as all the rest of a check: a third of the cases run on the CPU backend."""
    number = zlib.crc32(case.name.encode())
    if case.slow or number % 9 == 0:
        return Backend.ALL
    return Backend.INTERPRETER | Backend.CPU if number % 3 == 0 else Backend.INTERPRETER


def test_expected_failures_are_cases():
    assert set(EXPECTED_FAILURES) <= set(registry())
