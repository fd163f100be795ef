# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of arrays against a reference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torq_mlir.gen_config.comparing import Step, compare, values, worst


def test_integers_in_steps():
    found = compare(np.array([1, 5, -3], np.int8), np.array([1, 4, -1], np.int8), Step(0.5, 1))
    assert (found.elements, found.mismatches, found.max_lsb, found.max_abs) == (3, 2, 2.0, 2.0)
    assert found.max_reference == 3.0
    assert found.sqnr_db == pytest.approx(10 * math.log10((0 + 9 + 4) / (1 + 4)))


def test_unsigned_integers_do_not_wrap():
    assert compare(np.array([255], np.uint8), np.array([0], np.uint8)).max_lsb == 255


def test_dequantized_floats_in_steps():
    found = compare(np.array([0.5, 1.0], np.float32), np.array([0.5, 0.5], np.float32), Step(0.25))
    assert (found.max_lsb, found.mismatches) == (2.0, 1)
    assert compare(np.zeros(1), np.ones(1)).max_lsb is None


def test_what_is_not_finite():
    same = np.array([np.nan, np.inf, 1.0])
    found = compare(same, same.copy())
    assert (found.mismatches, found.max_abs, found.sqnr_db) == (0, 0.0, math.inf)
    found = compare(np.array([np.nan]), np.array([1.0]))
    assert found.mismatches == 1
    assert math.isnan(found.max_abs)


def test_nothing_to_compare():
    found = compare(np.zeros((0, 3), np.int8), np.zeros((0, 3), np.int8))
    assert (found.elements, found.max_lsb, found.sqnr_db, found.cosine) == (0, 0.0, math.inf, 1.0)


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=30), st.integers(-3, 3))
def test_a_constant_difference(numbers, offset):
    expected = np.array(numbers, np.int16)
    found = compare(expected + np.int16(offset), expected)
    assert found.max_lsb == abs(offset)
    assert found.mismatches == (len(numbers) if offset else 0)
    assert -1.0 <= found.cosine <= 1.0


def test_the_worst_output():
    close, far = compare(np.array([1]), np.array([2])), compare(np.array([1]), np.array([5]))
    equal = compare(np.array([1]), np.array([1]))
    assert worst([close, far, equal]) == 1
    assert worst([equal, equal]) == 0


def test_values_over_common_bins():
    found = values("y", np.array([0.0, 1.0, np.inf]), np.array([0.5, 2.0, np.nan]))
    assert (found.low, found.high) == (0.0, 2.0)
    assert sum(found.ours.counts) == sum(found.reference.counts) == 2
    assert (found.ours.maximum, found.reference.minimum) == (1.0, 0.5)
    assert sum(values("y", np.zeros(3), np.zeros(3)).ours.counts) == 3
