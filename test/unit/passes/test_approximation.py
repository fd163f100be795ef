# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax and normalization in integers, against exact values: within one step of the output, everywhere."""

import numpy as np
import pytest
from approximated import (
    KINDS,
    ROWS,
    decomposed,
    exact_normalization,
    exact_softmax,
    layer_norm,
    quantized,
    rows,
    softmax,
)
from onnx import TensorProto, helper, numpy_helper

import torq_mlir
from torq_mlir.backends import jit

APPROXIMATE = ("softmax", "normalization")


def run(model, x):
    """Both executors; nothing but data movement is left for the host."""
    compiled = torq_mlir.compile(model, backend="interpreter", approximate=APPROXIMATE)
    executors = compiled.report().executors
    assert set(executors) == {"nss"}
    (y,) = compiled(x)
    (executed,) = jit.compile(compiled.module)([x])
    np.testing.assert_array_equal(executed, y)
    return y


def compare(actual, expected, *, mismatches):
    """At most one step of difference, and that in no more than a share of the elements."""
    difference = np.abs(actual.astype(int) - expected)
    assert difference.max() <= 1
    assert (difference > 0).mean() <= mismatches


@pytest.mark.parametrize("columns", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 10, 1000)), 65])
def test_softmax(columns):
    scale = 0.1
    x = np.concatenate([rows(columns, kind) for kind in KINDS])
    compare(run(softmax(x.shape, scale), x), quantized(exact_softmax(x, scale), 1 / 256, -128), mismatches=0.01)


@pytest.mark.parametrize("columns", [197, pytest.param(16384, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [0.02, pytest.param(0.3, marks=pytest.mark.slow)])
def test_softmax_of_flat_rows_uses_the_range_of_the_output(columns, scale):
    """With an output scale of the greatest probability / 255, where the exponentials are many and alike."""
    x = rows(columns, "narrow")
    probabilities = exact_softmax(x, scale)
    output_scale = probabilities.max() / 255
    y = run(softmax(x.shape, scale, output_scale=output_scale), x)
    compare(y, quantized(probabilities, output_scale, -128), mismatches=0.05)


@pytest.mark.parametrize("axis", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_softmax_along_another_axis(axis):
    x = rows(60, "uniform").reshape(ROWS, 5, 12)
    expected = quantized(exact_softmax(x, 0.05, axis), 1 / 256, -128)
    compare(run(softmax(x.shape, 0.05, axis=axis), x), expected, mismatches=0.01)


@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("columns", [*(pytest.param(n, marks=pytest.mark.slow) for n in (4, 768)), 64])
def test_normalization(columns, rms):
    scale = 0.05
    x = np.concatenate([rows(columns, kind) for kind in KINDS])
    exact = exact_normalization(x, scale, rms=rms)
    output_scale = np.abs(exact).max() / 127
    y = run(decomposed(x.shape, scale, output_scale, rms=rms), x)
    compare(y, quantized(exact, output_scale, 3), mismatches=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("scale", [0.005, 0.5])
@pytest.mark.parametrize("columns", [192, 4096])
def test_normalization_of_long_rows(columns, scale, rms):
    x = np.concatenate([rows(columns, kind) for kind in KINDS])
    exact = exact_normalization(x, scale, rms=rms)
    output_scale = np.abs(exact).max() / 127
    y = run(decomposed(x.shape, scale, output_scale, rms=rms), x)
    compare(y, quantized(exact, output_scale, 3), mismatches=0.07)


def test_weights_of_any_size():
    """Weights of 0 and of both signs, and biases far beyond what is normalized, each to half a step and a rounding."""
    rng = np.random.default_rng(0)
    x = rows(32, "normal")
    weight, bias = rng.normal(0, 1, 32).astype(np.float32), rng.normal(0, 3, 32).astype(np.float32)
    weight[3], bias[5] = 0.0, 0.0
    exact = exact_normalization(x, 0.05) * weight + bias
    scale = np.abs(exact).max() / 127
    y = run(layer_norm(x.shape, 0.05, scale, weight=weight, bias=bias), x)
    compare(y, quantized(exact, scale, 3), mismatches=0.02)
    y = run(decomposed(x.shape, 0.05, scale, weight=weight, bias=bias), x)
    compare(y, quantized(exact, scale, 3), mismatches=0.02)


def test_normalization_over_several_dimensions():
    x = rows(40, "normal").reshape(ROWS, 5, 8)
    rng = np.random.default_rng(0)
    weight, bias = (rng.normal(1, 0.5, (5, 8)).astype(np.float32) for _ in range(2))
    exact = exact_normalization(x, 0.05, axes=(1, 2)) * weight + bias
    scale = np.abs(exact).max() / 127
    y = run(layer_norm(x.shape, 0.05, scale, axis=1, weight=weight, bias=bias), x)
    compare(y, quantized(exact, scale, 3), mismatches=0.02)


def test_equal_values_give_the_bias():
    """A row without deviation; epsilon is below what the integers resolve, and above it."""
    x = np.repeat(np.int8([[-128], [0], [7], [127]]), 16, axis=1)
    bias = np.linspace(-3, 3, 16, dtype=np.float32)
    for epsilon in (1e-12, 1e-3):
        y = run(layer_norm(x.shape, 0.5, 3 / 120, bias=bias, epsilon=epsilon), x)
        np.testing.assert_array_equal(y, quantized(np.broadcast_to(bias, x.shape), 3 / 120, 3))


@pytest.mark.slow
def test_great_epsilon():
    """Epsilon as great as the variance, which it halves."""
    x = rows(64, "normal")
    exact = exact_normalization(x, 0.05, epsilon=2.0)
    scale = np.abs(exact).max() / 127
    y = run(layer_norm(x.shape, 0.05, scale, epsilon=2.0), x)
    compare(y, quantized(exact, scale, 3), mismatches=0.02)


def test_u8_output_of_softmax():
    """As ONNX Runtime quantizes it: u8 with a zero point of 0, which torq-signed-storage moves."""
    model = softmax((4, 10), 0.1, output_zp=0)
    for tensor in model.graph.initializer:
        if tensor.name == "zy":
            tensor.data_type, tensor.raw_data = TensorProto.UINT8, b"\0"
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.UINT8
    x = rows(10, "normal")[:4]
    compiled = torq_mlir.compile(model, backend="interpreter", approximate=["softmax"])
    (y,) = compiled(x)
    assert y.dtype == np.uint8
    compare(y, np.clip(np.rint(exact_softmax(x, 0.1) * 256), 0, 255).astype(int), mismatches=0.05)


def test_scaled_softmax():
    """A factor before the softmax, as attention has it, is part of the exponentials."""
    source = softmax((48, 16), 0.2)
    source.graph.node[1].input[0] = "scaled"
    source.graph.initializer.append(numpy_helper.from_array(np.float32(4), "four"))
    source.graph.node.insert(1, helper.make_node("Div", ["X", "four"], ["scaled"], "scale"))
    x = rows(16, "uniform")
    compare(run(source, x), quantized(exact_softmax(x, 0.2 / 4), 1 / 256, -128), mismatches=0.02)


@pytest.mark.parametrize("shape", [(0, 8), (4, 0)])
def test_no_elements(shape):
    x = np.zeros(shape, np.int8)
    for source in (softmax(shape, 0.1), layer_norm(shape, 0.1, 0.1)):
        compiled = torq_mlir.compile(source, backend="interpreter", approximate=APPROXIMATE)
        assert compiled(x)[0].shape == shape


@pytest.mark.filterwarnings("ignore")
def test_forms_of_pytorch():
    """`softmax`, `layer_norm` and `rms_norm` of exported programs, and RMSNorm of single operators."""
    import torch
    import torch.ao.quantization.fx._decomposed
    from torch import nn

    quantized_decomposed = torch.ops.quantized_decomposed
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(16))
    norm, rms = nn.LayerNorm(16), nn.RMSNorm(16, eps=1e-5)
    for parameter in (norm.weight, norm.bias, rms.weight):
        nn.init.normal_(parameter)

    class Program(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.rms, self.weight = norm, rms, weight

        def forward(self, q):
            x = quantized_decomposed.dequantize_per_tensor(q, 0.05, 3, -128, 127, torch.int8)
            single = self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))
            quantize = quantized_decomposed.quantize_per_tensor
            return tuple(quantize(y, 0.04, 0, -128, 127, torch.int8) for y in (self.norm(x), self.rms(x), single))

    class Softmax(nn.Module):
        def forward(self, q):
            x = quantized_decomposed.dequantize_per_tensor(q, 0.05, 3, -128, 127, torch.int8)
            return quantized_decomposed.quantize_per_tensor(torch.softmax(x, -1), 1 / 256, -128, -128, 127, torch.int8)

    x = rows(16, "normal")
    for program in (Program(), Softmax()):
        exported = torch.export.export(program.eval(), (torch.from_numpy(x),))
        compiled = torq_mlir.compile(exported, backend="interpreter", approximate=APPROXIMATE)
        assert set(compiled.report().executors) == {"nss"}
        with torch.no_grad():
            expected = program(torch.from_numpy(x))
        expected = expected if isinstance(expected, tuple) else (expected,)
        for actual, reference in zip(compiled(x), expected, strict=True):
            compare(actual, reference.numpy(), mismatches=0.03)
