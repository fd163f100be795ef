# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The division that is made of other operations in TOSA rounds as IEEE 754 does."""

import numpy as np
import pytest
from lowering import execute
from modules_under_test import assert_same, module_of

from torq_mlir.rewriting.tensor_arithmetic import TosaArithmetic

SPECIAL = [0.0, 1.0, -1.0, 3.0, 255.0, 127.5, np.inf, -np.inf, np.nan, 2.0**-90, 2.0**90]


def divide(x, y, divisor=None):
    a = TosaArithmetic()
    body = (lambda x: a.divide(x, divisor)) if divisor is not None else (lambda x, y: a.divide(x, y))
    inputs = [x] if divisor is not None else [x, y]
    return execute(module_of(inputs, body), "tosa", inputs)[0]


def random_floats(rng, count, dtype, exponent):
    return (
        rng.choice([-1, 1], count) * np.ldexp(rng.uniform(1, 2, count), rng.integers(-exponent, exponent, count))
    ).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_operands(dtype):
    rng = np.random.default_rng(0)
    x, y = (random_floats(rng, 200_000, dtype, 40) for _ in range(2))
    assert_same(divide(x, y), x / y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_next_to_the_middle_of_two_floats(dtype):
    """The dividend is the product of the divisor and such a middle, rounded: the hardest cases there are."""
    rng = np.random.default_rng(1)
    y, q = (random_floats(rng, 200_000, dtype, 10) for _ in range(2))
    wide = np.longdouble if dtype == np.float64 else np.float64
    middle = (q.astype(wide) + np.nextafter(q, dtype(np.inf)).astype(wide)) / 2
    x = (middle * y).astype(dtype)
    assert_same(divide(x, y), x / y)


def test_all_mantissas_by_some_numbers():
    x = np.ldexp(np.arange(2**23, 2**24, 97, dtype=np.float64), -23).astype(np.float32)
    for divisor in (255.0, 127.0, 65535.0, 0.1):
        divisor = float(np.float32(divisor))
        assert_same(divide(x, None, divisor), x / np.float32(divisor))


def test_powers_of_two_are_factors():
    a = TosaArithmetic()
    x = np.float32([1.5, -3.25])
    module = module_of([x], lambda x: a.divide(x, 0.25))
    assert "tosa.reciprocal" not in str(module)
    np.testing.assert_array_equal(execute(module, "tosa", [x])[0], x * 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_infinity_and_nan(dtype):
    x, y = (each.ravel() for each in np.meshgrid(*[np.array(SPECIAL, dtype)] * 2))
    with np.errstate(all="ignore"):
        expected = x / y
    # The sign of a quotient of zero is lost.
    assert_same(divide(x, y) + dtype(0), expected + dtype(0))
