# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the math dialect, in every float type."""

import math

import ml_dtypes
import numpy as np
import pytest
from modules_under_test import assert_same, module_of
from torch_mlir.dialects import arith
from torch_mlir.dialects import math as math_ops

from torq_mlir.backends import jit
from torq_mlir.rewriting.structured import build_elementwise, empty_like

FUNCTIONS = {
    "absf": np.abs,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
TOLERANCE = {np.float64: 1e-14, np.float32: 1e-6, np.float16: 1e-3, ml_dtypes.bfloat16: 1e-2}


def elementwise(function):
    return lambda *operands: build_elementwise(
        operands, empty_like(operands[0], operands[0].type.element_type), function
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_functions(dtype):
    x = np.linspace(-3, 3, 37).astype(dtype)
    module = module_of([x], lambda x: [elementwise(getattr(math_ops, name))(x) for name in FUNCTIONS])
    for (name, function), actual in zip(FUNCTIONS.items(), jit.compile(module)([x]), strict=True):
        expected = function(x.astype(np.float64))
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(actual.astype(np.float64), expected, tolerance, tolerance, err_msg=name)


@pytest.mark.parametrize("name", ["erf", "exp", "tanh"])
def test_polynomials_give_the_nearest_value(name):
    rng = np.random.default_rng(0)
    small = 10.0 ** rng.uniform(-44, 2, 2000) * rng.choice([-1, 1], 2000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 88.72283, 88.7229, -103.97, -104, 3.92, 10.1, 1e-45]
    x = np.concatenate([rng.normal(0, 3, 2000), rng.uniform(-110, 100, 2000), small, special]).astype(np.float32)
    (actual,) = jit.compile(module_of([x], elementwise(getattr(math_ops, name))))([x])
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](x.astype(np.float64)).astype(np.float32)
    assert_same(np.signbit(actual[:-8]), np.signbit(expected[:-8]))
    different = (actual != expected) & ~np.isnan(expected)
    assert different.sum() <= 2
    np.testing.assert_array_max_ulp(actual, expected, 1)


def test_the_order_of_a_maximum_does_not_matter():
    x, y = np.float32([0.0, -0.0, np.nan, 1, np.inf]), np.float32([-0.0, 0.0, 1, np.nan, 2])
    for operation, zero in ((arith.maximumf, 0.0), (arith.minimumf, -0.0)):
        (actual,) = jit.compile(module_of([x, y], elementwise(operation)))([x, y])
        last = np.inf if operation is arith.maximumf else 2
        assert_same(actual, np.float32([zero, zero, np.nan, np.nan, last]))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_roundeven(dtype):
    x = np.array([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 2.75, 1e4, -np.inf, np.nan]).astype(dtype)
    (actual,) = jit.compile(module_of([x], elementwise(math_ops.roundeven)))([x])
    assert_same(actual, np.rint(x.astype(np.float64)).astype(dtype))


def test_round_goes_away_from_zero_at_a_half_only():
    x = np.float32([0.49999997, -0.49999997, 0.5, -0.5, 2.5, -0.3, 8388609])
    (actual,) = jit.compile(module_of([x], elementwise(math_ops.round)))([x])
    assert_same(actual, np.float32([0, -0.0, 1, -1, 3, -0.0, 8388609]))


def test_operations_in_bfloat16_are_rounded_one_by_one():
    x, y = (np.linspace(*ends, 999).astype(ml_dtypes.bfloat16) for ends in ((-3, 3), (7, 0.1)))
    (actual,) = jit.compile(module_of([x, y], elementwise(lambda x, y: arith.mulf(arith.subf(x, y), y))))([x, y])
    assert_same(actual, (x - y) * y)


def test_powers():
    x, y = np.linspace(0.5, 3, 20, dtype=np.float32), np.linspace(-2, 2, 20, dtype=np.float32)
    (actual,) = jit.compile(module_of([x, y], elementwise(math_ops.powf)))([x, y])
    np.testing.assert_allclose(actual, x**y, rtol=1e-6)
