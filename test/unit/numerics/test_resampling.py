# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear interpolation in integers."""

import numpy as np
import pytest

from torq_mlir.numerics.resampling import interpolate, interpolation_matrix, phases


def half_pixel(size, scale):
    return np.clip((np.arange(size * scale) + 0.5) / scale - 0.5, 0, size - 1)


def asymmetric(size, scale):
    return np.clip(np.arange(size * scale) / scale, 0, size - 1)


def by_phases(x, found):
    """The elements of a vector, as the definition of phases has them."""
    result = []
    for q in range(len(x)):
        for weights in found.weights:
            taps = np.clip(np.arange(q + found.first, q + found.last + 1), 0, len(x) - 1)
            result.append(weights @ x[taps] / found.denominator)
    return np.array(result)


@pytest.mark.parametrize("positions_of", [half_pixel, asymmetric])
@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_phases_interpolate_exactly(positions_of, scale, size):
    positions = positions_of(size, scale).astype(np.float32)
    found = phases(positions, size)
    assert found.scale == scale
    assert np.all(found.weights.sum(axis=1) == found.denominator)
    x = np.random.default_rng(0).integers(-128, 128, size)
    expected = np.interp(positions_of(size, scale), np.arange(size), x)
    np.testing.assert_allclose(by_phases(x, found), expected, rtol=0, atol=1e-9)


def test_weights_to_twice_the_size():
    found = phases(half_pixel(4, 2), 4)
    assert (found.weights.tolist(), found.denominator, found.first) == ([[1, 3, 0], [0, 3, 1]], 4, -1)
    found = phases(asymmetric(4, 2), 4)
    assert (found.weights.tolist(), found.denominator, found.first) == ([[2, 0], [1, 1]], 2, 0)


def test_one_element_has_phases():
    found = phases(np.zeros(3), 1)
    assert by_phases(np.array([7]), found).tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    "positions", [np.linspace(0, 3, 8), np.array([0.0, 1.5, 3.0]), half_pixel(4, 2) + 0.01, np.arange(5) * 0.6]
)
def test_other_positions_have_no_phases(positions):
    assert phases(positions, 4) is None


@pytest.mark.parametrize("count", [1, 3, 4, 9, 12, 300])
def test_matrix_of_fractions_is_exact(count):
    size = 5
    for positions in (np.linspace(0, 4, count), np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0, 4)):
        matrix, denominator = interpolation_matrix(positions.astype(np.float32).astype(np.float64), size)
        assert matrix.dtype == (np.int8 if denominator <= 127 else np.int16)
        assert np.all(matrix.sum(axis=0, dtype=np.int64) == denominator)
        x = np.random.default_rng(0).integers(-128, 128, size)
        expected = np.interp(positions, np.arange(size), x)
        np.testing.assert_allclose(x @ matrix.astype(np.int64) / denominator, expected, rtol=0, atol=1e-9)


def test_matrix_of_other_positions_is_near():
    positions = np.array([0.0, 1 / np.pi, np.sqrt(2), 3.9])
    matrix, denominator = interpolation_matrix(positions, 5)
    assert (matrix.dtype, denominator) == (np.int16, 1 << 14)
    x = np.random.default_rng(0).integers(-128, 128, 5)
    expected = np.interp(positions, np.arange(5), x)
    np.testing.assert_allclose(x @ matrix.astype(np.int64) / denominator, expected, rtol=0, atol=256 * 2.0**-15)


def test_bilinear_interpolation():
    x = np.arange(12, dtype=np.float64).reshape(1, 1, 3, 4)
    y = interpolate(x, np.array([0.0, 0.5, 2.0]), np.array([1.25, 3.0]))
    assert y.tolist() == [[[[1.25, 3.0], [3.25, 5.0], [9.25, 11.0]]]]
