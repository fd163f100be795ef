# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of activations whose parameters are arguments have exact sums of integers, scaled with one rounding."""

import numpy as np
import pytest
from contraction_modules import fused, matmul, repeated, run, storage
from modules_under_test import constant
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import quantized_decomposed as qd


def integers(rng, shape, dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def scaled(sums: np.ndarray, *scales: np.ndarray) -> np.ndarray:
    """Exact sums times scales in f64, rounded to f32."""
    result = sums.astype(np.float64)
    for scale in scales:
        result = result * np.asarray(scale, np.float64)
    return result.astype(np.float32)


def weights(rng, rows, columns, kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integers, scales and zero points, which stretch along the columns."""
    w = integers(rng, (rows, columns), np.int8)
    count = 1 if kind == "tensor" else columns
    scales = rng.uniform(0.001, 0.1, count).astype(np.float32)
    zero_points = rng.integers(-128, 128, count) if kind == "channel with zero points" else np.zeros(count, np.int64)
    return w, scales, zero_points


def dequantized_weights(w, scales, zero_points) -> ir.Value:
    if scales.size == 1:
        return qd.dequantize_per_tensor(*map(constant, (w, scales, zero_points)), **storage(np.int8))
    return qd.dequantize_per_channel(*map(constant, (w, scales, zero_points)), axis=1, **storage(np.int8))


def is_on_integers(module) -> bool:
    """Whether no product is one of floats."""
    text = str(module)
    return "= linalg.matmul" not in text and "= linalg.batch_matmul" not in text


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("kind", ["tensor", "channel", "channel with zero points"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_per_tensor(dtype, kind, dynamic):
    rng = np.random.default_rng(len(kind) + 100 * dynamic)
    m, k, n = rng.integers(1, 40, 3)
    x, (w, sw, zw) = integers(rng, (m, k), dtype), weights(rng, k, n, kind)
    scale, zero_point = np.array([0.037]), integers(rng, (1,), dtype)

    def body(q, s, z):
        x = qd.dequantize_per_tensor(q, s, z, **storage(dtype))
        return matmul(x, dequantized_weights(w, sw, zw))

    module = fused([x, scale, zero_point.view(np.int8)], body, dynamic)
    assert is_on_integers(module)
    sums = (x.astype(np.int64) - zero_point.astype(np.int64)) @ (w.astype(np.int64) - zw)
    np.testing.assert_array_equal(run(module, [x, scale, zero_point]), scaled(sums, scale, sw))


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("symmetric", [False, True])
def test_per_token(symmetric, rank, dynamic):
    rng = np.random.default_rng(rank + 10 * symmetric)
    shape = (3, 5, 24)[-rank:]
    x, (w, sw, zw) = integers(rng, shape, np.int8), weights(rng, 24, 17, "channel with zero points")
    scales = rng.uniform(0.01, 1, (*shape[:-1], 1))
    zero_points = np.zeros(scales.shape, np.int64) if symmetric else rng.integers(-128, 128, scales.shape)

    def body(q, s, *z):
        x = qd.dequantize_per_token(q, s, *z, **storage(np.int8))
        w_f = dequantized_weights(w, sw, zw)
        return matmul(x, w_f if rank == 2 else repeated(w_f, x))

    inputs = [x, scales, *([] if symmetric else [zero_points])]
    module = fused(inputs, body, dynamic)
    assert is_on_integers(module)
    sums = (x.astype(np.int64) - zero_points) @ (w.astype(np.int64) - zw)
    np.testing.assert_array_equal(run(module, inputs), scaled(sums, scales, sw))


def test_tokens_keep_their_parameters_apart():
    """The zero points of the rows are far apart, so that one for all would show."""
    x = np.array([[127, 127], [-128, -128]], np.int8)
    scales, zero_points = np.array([[0.5], [2.0]]), np.array([[127], [-128]], np.int64)
    w = np.array([[3], [4]], np.int8)
    parameters = np.ones(1, np.float32), np.zeros(1, np.int64)

    def body(q, s, z):
        return matmul(qd.dequantize_per_token(q, s, z, **storage(np.int8)), dequantized_weights(w, *parameters))

    inputs = [x, scales, zero_points]
    np.testing.assert_array_equal(run(fused(inputs, body), inputs), np.zeros((2, 1), np.float32))


def test_two_activations():
    rng = np.random.default_rng(7)
    x, y = integers(rng, (2, 3, 8), np.int8), integers(rng, (2, 8, 4), np.uint8)
    sx, zx, sy, zy = np.array([0.1]), np.array([-9], np.int64), np.array([0.2]), np.array([200], np.int64)

    def body(x, y, sx, zx, sy, zy):
        lhs = qd.dequantize_per_tensor(x, sx, zx, **storage(np.int8))
        return matmul(lhs, qd.dequantize_per_tensor(y, sy, zy, **storage(np.uint8)))

    inputs = [x, y.view(np.int8), sx, zx, sy, zy]
    module = fused(inputs, body)
    assert "linalg.quantized_batch_matmul" in str(module)
    sums = (x.astype(np.int64) - zx) @ (y.astype(np.int64) - zy)
    np.testing.assert_array_equal(run(module, inputs), scaled(sums, sx, sy))


def test_convolution_pads_with_the_zero_point():
    rng = np.random.default_rng(5)
    x, w = integers(rng, (1, 3, 6, 5), np.int8), integers(rng, (4, 3, 3, 3), np.int8)
    scale, zero_point = np.array([0.1]), np.array([-77], np.int64)
    sw, bias = rng.uniform(0.001, 0.1, 4).astype(np.float32), rng.standard_normal(4).astype(np.float32)

    def body(q, s, z):
        f32 = ir.F32Type.get()
        x = qd.dequantize_per_tensor(q, s, z, **storage(np.int8))
        pads = tensor.PadOp(ir.RankedTensorType.get([1, 3, 8, 7], f32), x, [], [], [0, 0, 1, 1], [0, 0, 1, 1])
        with ir.InsertionPoint(pads.regions[0].blocks.append(*[ir.IndexType.get()] * 4)):
            tensor.YieldOp(arith.constant(f32, 0.0))
        zeros = constant(np.zeros(4, np.int64))
        w_f = qd.dequantize_per_channel(constant(w), constant(sw), zeros, axis=0, **storage(np.int8))
        init = linalg.broadcast(constant(bias), outs=[tensor.empty([1, 4, 6, 5], f32)], dimensions=[0, 2, 3])
        return linalg.conv_2d_nchw_fchw(pads.result, w_f, outs=[init.operation.results[0]])

    inputs = [x, scale, zero_point]
    module = fused(inputs, body)
    assert "linalg.conv_2d_nchw_fchw_q" in str(module)
    centered = np.pad(x.astype(np.int64) - zero_point, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(centered, (3, 3), axis=(2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))
    expected = scaled(sums, scale, sw.reshape(-1, 1, 1)) + bias.reshape(-1, 1, 1)
    np.testing.assert_array_equal(run(module, inputs), expected)


def test_a_result_that_stays_in_float_is_computed_on_integers():
    rng = np.random.default_rng(6)
    x, (w, sw, zw) = integers(rng, (4, 9), np.int8), weights(rng, 9, 5, "channel")
    scale, zero_point = np.float32(0.25).reshape(()), np.int8(-5).reshape(())

    def body(q):
        x = qd.dequantize_per_tensor(q, constant(scale), constant(zero_point), **storage(np.int8))
        return matmul(x, dequantized_weights(w, sw, zw))

    module = fused([x], body)
    assert is_on_integers(module)
    sums = (x.astype(np.int64) + 5) @ w.astype(np.int64)
    np.testing.assert_array_equal(run(module, [x]), scaled(sums, scale, sw))


def test_float_zero_points_are_refused():
    def body(q, s, z):
        w = dequantized_weights(np.ones((2, 1), np.int8), np.ones(1, np.float32), np.zeros(1, np.int64))
        return matmul(qd.dequantize_per_token(q, s, z, **storage(np.int8)), w)

    parameters = np.ones((1, 1), np.float32)
    module = fused([np.ones((1, 2), np.int8), parameters, parameters], body)
    assert "a zero point that is known at run time only is a float" in str(module)
