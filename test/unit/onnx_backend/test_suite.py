# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend tests of the onnx package: those of quantized operators, and what is recorded of all."""

import unittest

import pytest

from e2e.onnx_suite import record, suite
from e2e.onnx_suite.suite import Outcome, Status


@pytest.mark.parametrize("module", suite.QUANTIZATION)
def test_quantized_operators(module):
    chosen = suite.quantization_tests()
    names = [name for name in chosen if name.startswith(f"node/test_{module}")]
    assert names
    outcomes = [suite.run(name, chosen) for name in names]
    assert [each for each in outcomes if each.status is not Status.PASS] == []


def test_page_shows_the_record():
    page = record.PAGE.read_text(encoding="utf-8")
    assert record.page_with(record.Record.read(), page) == page


def test_no_quantized_operator_is_recorded_as_refused():
    refused = record.Record.read().refused
    assert [
        name for name in refused if name.startswith(tuple(f"node/test_{each}" for each in suite.QUANTIZATION))
    ] == []


def test_what_a_run_reports():
    expected = record.Record("1", {"node": 5}, {"node/a": "ModelError: why"})
    outcomes = [
        Outcome("node/a", Status.PASS),
        Outcome("node/b", Status.REFUSED, "ModelError: no"),
        Outcome("node/c", Status.DIFFERS, "1 is not 2"),
        Outcome("node/d", Status.CRASH, "the process ended with SIGSEGV"),
        Outcome("node/e", Status.PASS),
    ]
    assert expected.unexpected(outcomes) == [
        "node/a: passes, and is expected to be refused",
        "node/b: refused: ModelError: no",
        "node/c: differs: 1 is not 2",
        "node/d: crash: the process ended with SIGSEGV",
    ]
    assert record.Record.of("1", outcomes).refused == {"node/b": "ModelError: no"}


@pytest.mark.slow
def test_suite_takes_the_module():
    from onnx.backend.test import BackendTest

    from torq_mlir import onnx_backend

    cases = BackendTest(onnx_backend, __name__).include("test_(add|qlinearmatmul)_").test_cases
    result = unittest.TestResult()
    for case in cases.values():
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.wasSuccessful()
    assert result.testsRun - len(result.skipped) > 10
    left_out = {"Backend doesn't support device CUDA", "no matched include pattern"}
    assert {reason for _, reason in result.skipped} == left_out
