# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts and recommendations."""

import dataclasses
import math

import pytest
from sample_reports import CLOSE, EQUAL, FAR, cnn_report, error, result

from torq_mlir.gen_config.files import Status, Tolerance, critical_failures, judge, recommend

FLOAT = dataclasses.replace(CLOSE, max_lsb=None, max_abs=0.01, max_reference=10.0)


@pytest.mark.parametrize(
    ("metrics", "tolerance", "status"),
    [
        (EQUAL, Tolerance(0, 0, 0, 0), Status.SUCCESS),
        (CLOSE, Tolerance(), Status.SUCCESS),
        (CLOSE, Tolerance(max_lsb=0.5), Status.DIFFERENCE),
        (CLOSE, Tolerance(mismatch_rate=3 / 4096), Status.SUCCESS),
        (CLOSE, Tolerance(mismatch_rate=2 / 4096), Status.DIFFERENCE),
        (FAR, Tolerance(), Status.DIFFERENCE),
        (FAR, Tolerance(max_lsb=5), Status.SUCCESS),
        (dataclasses.replace(CLOSE, max_lsb=math.nan), Tolerance(max_lsb=math.inf), Status.DIFFERENCE),
        (FLOAT, Tolerance(rtol=1e-3, atol=1e-5), Status.SUCCESS),
        (FLOAT, Tolerance(rtol=1e-4, atol=1e-5), Status.DIFFERENCE),
        (FLOAT, Tolerance(rtol=0, atol=0.01), Status.SUCCESS),
        (dataclasses.replace(FLOAT, max_abs=math.nan), Tolerance(), Status.DIFFERENCE),
    ],
)
def test_judge(metrics, tolerance, status):
    assert judge(metrics, tolerance) is status


SUCCESS, DIFFERENCE = result(CLOSE), result(FAR)


@pytest.mark.parametrize(
    ("results", "by_timing", "executor"),
    [
        ({}, False, None),
        ({"nss": error("no"), "css": error("no")}, False, None),
        ({"host": SUCCESS, "css": SUCCESS}, False, "css"),
        ({"nss": DIFFERENCE, "host": SUCCESS}, False, "host"),
        ({"nss": error("no"), "css": DIFFERENCE, "host": DIFFERENCE}, False, "css"),
        ({"nss": result(CLOSE, seconds=2.0), "css": result(CLOSE, seconds=1.0)}, True, "css"),
        ({"nss": result(CLOSE, seconds=2.0), "css": result(FAR, seconds=1.0)}, True, "nss"),
        ({"nss": SUCCESS, "css": SUCCESS, "host": result(CLOSE, seconds=1.0)}, True, "host"),
        ({"nss": SUCCESS, "css": SUCCESS}, True, "nss"),
    ],
)
def test_recommend(results, by_timing, executor):
    assert recommend(results, by_timing=by_timing) == executor


def test_a_layer_that_was_not_tried_is_no_failure():
    report = dataclasses.replace(cnn_report(), layers=(dataclasses.replace(cnn_report().layers[4], executors={}),))
    assert critical_failures(report) == []
