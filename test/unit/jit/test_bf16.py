# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bf16 forms of torq_hl: compiled code and the interpreter give the same bits, which are close to those of f64."""

import ml_dtypes
import numpy as np
import pytest
from modules_under_test import assert_same, constant, module_of

from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects import torq_hl

BFLOAT16 = ml_dtypes.bfloat16
NONE = {"output_zp": 0, "output_min": 0, "output_max": 0}
WINDOWS = [
    ((2, 3, 7, 9), (5, 3, 3, 3), 1, [1, 1, 1, 1], [1, 1], [1, 1]),
    ((1, 4, 6, 6), (20, 4, 1, 1), 1, [0, 0, 0, 0], [2, 2], [1, 1]),
    ((1, 4, 9, 8), (6, 2, 3, 2), 2, [0, 1, 2, 0], [2, 1], [1, 2]),
    ((1, 4, 6, 20), (8, 1, 3, 3), 4, [1, 1, 1, 1], [1, 1], [1, 1]),
]


def values(*shape, seed=0, dtype=BFLOAT16):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(dtype)


def agree(inputs, body, exact=None, *, at_most=2.0**-8):
    """Both executors; where `exact` is given, within a rounding of it and what the sums in f32 add to that."""
    module = module_of(inputs, body)
    (expected,) = interpreter.run(module, inputs)
    (actual,) = jit.compile(module)(inputs)
    assert_same(actual, expected)
    assert expected.dtype == BFLOAT16
    if exact is not None:
        np.testing.assert_allclose(expected.astype(np.float64), exact, rtol=at_most, atol=1e-5)


def convolve(x, weights, groups, pad, stride, dilation):
    """In f64, by the definition."""
    x, weights = x.astype(np.float64), weights.astype(np.float64)
    left, right, top, bottom = pad
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    outputs, depth, *kernel = weights.shape
    sizes = [
        (size - d * (k - 1) - 1) // s + 1 for size, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)
    ]
    y = np.zeros((len(x), outputs, *sizes))
    for o in range(outputs):
        first = o // (outputs // groups) * depth
        for i, j in np.ndindex(*kernel):
            rows = slice(i * dilation[0], i * dilation[0] + sizes[0] * stride[0], stride[0])
            columns = slice(j * dilation[1], j * dilation[1] + sizes[1] * stride[1], stride[1])
            part = x[:, first : first + depth, rows, columns]
            y[:, o] += np.einsum("nchw,c->nhw", part[:, :, : sizes[0], : sizes[1]], weights[o, :, i, j])
    return y


@pytest.mark.parametrize(("shape", "window", "groups", "pad", "stride", "dilation"), WINDOWS)
def test_convolution(shape, window, groups, pad, stride, dilation):
    x, weights, bias = values(*shape), values(*window, seed=1), values(window[0], seed=2, dtype=np.float32)
    build = torq_hl.depthwise_conv2d if window[1] == 1 and groups > 1 else torq_hl.conv2d
    attributes = {"pad": pad, "stride": stride, "dilation": dilation, "groups": groups}
    exact = convolve(x, weights, **attributes) + bias[:, None, None]
    agree(
        [x],
        lambda x: build(constant(weights), constant(bias), x, input_zp=0, shift_factor=0, **attributes, **NONE),
        exact,
    )


def test_convolution_of_one_dimension():
    x, weights, bias = values(2, 3, 11), values(4, 3, 5, seed=1), values(1, seed=2, dtype=np.float32)
    exact = convolve(x[:, :, None], weights[:, :, None], 1, [1, 2, 0, 0], [1, 2], [1, 1])[:, :, 0] + bias
    attributes = {"pad": [1, 2], "stride": [2], "dilation": [1], "input_zp": 0, "shift_factor": 0, **NONE}
    agree([x], lambda x: torq_hl.conv1d(constant(weights), constant(bias), x, **attributes), exact)


def test_fully_connected():
    x, weights, bias = values(2, 3, 40), values(40, 19, seed=1), values(19, seed=2, dtype=np.float32)
    exact = x.astype(np.float64) @ weights.astype(np.float64) + bias
    agree(
        [x],
        lambda x: torq_hl.fully_connected(constant(weights), constant(bias), x, input_zp=0, shift_factor=0, **NONE),
        exact,
    )


def test_matmul():
    x1, x2, bias = values(2, 3, 5, 33), values(2, 3, 33, 17, seed=1), np.float32([0.5])
    exact = x1.astype(np.float64) @ x2.astype(np.float64) + 0.5
    agree([x1, x2], lambda x1, x2: torq_hl.matmul(constant(bias), x1, x2, shift=0, **NONE), exact)


@pytest.mark.parametrize(("name", "sign"), [("add", 1), ("sub", -1)])
def test_add(name, sign):
    x1, x2, bias = values(2, 3, 5), values(3, 1, seed=1), np.float32([0.25])
    weights = np.array([1, sign], BFLOAT16)
    exact = x1.astype(np.float64) + sign * x2.astype(np.float64) + 0.25
    agree(
        [x1, x2],
        lambda x1, x2: torq_hl.add(constant(weights), constant(bias), x1, x2, name=name, shift_factor=0, **NONE),
        exact,
    )


def test_maximum_over_windows():
    x = values(1, 3, 7, 8)
    x[:, :, ::2] = -abs(x[:, :, ::2])
    x[0, 0, :2, :2] = np.array([[-0.0, 0.0], [0.0, -0.0]], BFLOAT16)
    window = {"stride": [2, 1], "pad": [1, 0, 1, 1], "kernel": [3, 2]}
    attributes = {"input_zp": 0, "output_min": 0, "output_max": 0}
    one, zero = np.ones(1, BFLOAT16), np.zeros(1, np.float32)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 0)), constant_values=-np.inf)
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), axis=(2, 3))[:, :, ::2]
    agree(
        [x], lambda x: torq_hl.maxpool2d(constant(one), constant(zero), x, **window, **attributes), views.max((-2, -1))
    )


def test_means():
    x, weight, bias = values(2, 5, 6, 9), np.float32([1 / 30]), np.zeros(1, np.float32)
    exact = x.astype(np.float64).mean(axis=(1, 2), keepdims=True)
    attributes = {"input_zp": 0, "shift_factor": 0, **NONE}
    agree([x], lambda x: torq_hl.avg_pool2d(constant(weight), constant(bias), x, **attributes), exact)
    weight = np.float32([1 / 9])
    exact = x.astype(np.float64).mean(axis=-1, keepdims=True)
    agree([x], lambda x: torq_hl.reduce_mean(constant(weight), constant(bias), x, **attributes), exact)


def test_sums_are_rounded_in_order():
    """Large terms that cancel: what is added before them is lost, what comes after stays."""
    x = np.array([[1.0, 2.0**24, -(2.0**24), 1.0]], BFLOAT16)
    ones, zero = np.ones((4, 1), BFLOAT16), np.zeros(1, np.float32)
    module = module_of(
        [x], lambda x: torq_hl.fully_connected(constant(ones), constant(zero), x, input_zp=0, shift_factor=0, **NONE)
    )
    assert interpreter.run(module, [x])[0].tolist() == [[1.0]]
    assert jit.compile(module)([x])[0].tolist() == [[1.0]]
