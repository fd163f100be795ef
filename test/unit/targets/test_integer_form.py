# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of quantized operands in integer form give the integers of `numerics`, in TOSA and in StableHLO."""

import numpy as np
import pytest
import torch
from contractions import Function, Quantization, Window, lower
from lowering import TARGETS, convert, execute, reference

from torq_mlir.numerics.bias import requantize_bias
from torq_mlir.numerics.choose_qparams import choose_qparams, choose_qparams_per_token_asymmetric
from torq_mlir.numerics.quantize import quantize
from torq_mlir.numerics.rescale import multiplier_and_shift, requantize

OUTPUT = Quantization(0.05, 3)


def random_integers(rng, shape, dtype):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def centered(q, parameters, rank):
    zero_point = np.asarray(parameters.zero_point)
    if parameters.axis is not None:
        zero_point = zero_point.reshape([-1 if d == parameters.axis else 1 for d in range(rank)])
    return q.astype(np.int64) - zero_point


def rescaled(accumulator, scale, output, dtype, low=None, high=None):
    """The quantized output; `scale` broadcasts with the accumulator."""
    multiplier, shift = multiplier_and_shift(np.asarray(scale, np.float64) / output.scale)
    least, greatest = output.bounds(dtype)
    low, high = least if low is None else max(low, least), greatest if high is None else high
    return requantize(accumulator, multiplier, shift, output.zero_point, low, high).astype(dtype)


def run(function, results, target):
    """Results of the compiled integer form; those of StableHLO also in its reference interpreter."""
    module = lower(function.module(*results), target)
    text = str(module)
    assert "torq_hl.refusal" not in text
    convert(module, target)
    is_all_stablehlo = target == "stablehlo" and "arith." not in str(module)
    interpreted = reference(module, [array for _, array in function.inputs]) if is_all_stablehlo else None
    compiled = execute(module, target, function.arrays)
    for ours, theirs in zip(compiled, interpreted or compiled, strict=True):
        np.testing.assert_array_equal(ours, theirs.view(ours.dtype))
    return compiled, text


def storage(array, dtype):
    return array.view(np.uint8) if dtype == np.uint8 else array


WEIGHTS = {
    "per tensor": Quantization(0.02),
    "per tensor, zero point": Quantization(0.02, 7),
    "per channel": Quantization(np.linspace(0.01, 0.03, 6).astype(np.float32), np.zeros(6, int), axis=1),
    "per channel, zero points": Quantization(
        np.linspace(0.01, 0.03, 6).astype(np.float32), np.array([5, -3, 100, 0, -90, 1]), axis=1
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("dtype", "zero_point"), [(np.int8, 0), (np.int8, -11), (np.uint8, 131)])
def test_matrix_product(dtype, zero_point, weights, target):
    rng = np.random.default_rng(0)
    function, quantization = Function(), WEIGHTS[weights]
    x, w = random_integers(rng, (4, 8), dtype), random_integers(rng, (8, 6), np.int8)
    bias = rng.normal(0, 3, 6).astype(np.float32)
    input = Quantization(0.1, zero_point)
    output = Quantization(0.05, 3 if dtype == np.int8 else 130)
    y = function.product(
        "mm",
        function.dequantize(function.input(x), input, dtype),
        function.dequantize(function.literal(w), quantization, np.int8),
        (4, 6),
    )
    y = function.relu(function.plus(y, function.literal(bias)))
    (actual,), _ = run(function, [function.quantize(y, output, dtype)], target)
    scale = input.scale * np.asarray(quantization.scale, np.float64)
    accumulator = centered(x, input, 2) @ centered(w, quantization, 2) + requantize_bias(bias, scale)
    expected = rescaled(accumulator, scale, output, dtype, low=output.zero_point)
    np.testing.assert_array_equal(storage(actual, dtype), expected)


CONVOLUTIONS = {
    "plain": ((1, 3, 7, 6), (4, 3, 3, 3), Window([1, 1], [0, 0])),
    "padded": ((1, 3, 7, 6), (4, 3, 3, 2), Window([2, 1], [1, 2])),
    "dilated": ((2, 3, 8, 8), (4, 3, 3, 3), Window([1, 1], [2, 2], [2, 2])),
    "groups": ((1, 4, 6, 6), (6, 2, 3, 3), Window([1, 1], [1, 1], groups=2)),
    "depthwise": ((1, 4, 6, 6), (4, 1, 3, 3), Window([1, 1], [1, 1], groups=4)),
    "1-d": ((1, 3, 9), (4, 3, 3), Window([2], [1])),
    "transposed": ((1, 3, 4, 4), (3, 4, 3, 3), Window([2, 2], [1, 1], transposed=True)),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("convolution", CONVOLUTIONS)
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize(("dtype", "zero_point"), [(np.int8, -11), (np.uint8, 131)])
def test_convolution(dtype, zero_point, zero_points, convolution, target):
    rng = np.random.default_rng(1)
    shape, kernel, window = CONVOLUTIONS[convolution]
    function, axis = Function(), 1 if window.transposed else 0
    channels = kernel[axis]
    parameters = (np.linspace(0.01, 0.03, channels).astype(np.float32), rng.integers(-9, 9, channels))
    quantization = Quantization(parameters[0], parameters[1] * zero_points, axis)
    x, w = random_integers(rng, shape, dtype), random_integers(rng, kernel, np.int8)
    bias = rng.normal(0, 3, channels).astype(np.float32)
    input, output = Quantization(0.1, zero_point), Quantization(0.2, 3 if dtype == np.int8 else 130)
    name = "conv_transpose2d" if window.transposed else f"conv{len(shape) - 2}d"
    dilation = {} if window.transposed else {"dilation": list(window.dilation or [1] * (len(shape) - 2))}
    scale = input.scale * np.asarray(quantization.scale, np.float64)
    accumulator = getattr(torch.nn.functional, name)(
        torch.from_numpy(centered(x, input, x.ndim).astype(np.float64)),
        torch.from_numpy(centered(w, quantization, w.ndim).astype(np.float64)),
        torch.from_numpy(requantize_bias(bias, scale).astype(np.float64)),
        stride=list(window.stride),
        padding=list(window.padding),
        groups=window.groups,
        **dilation,
    ).numpy()  # fmt: skip
    y = function.convolution(
        function.dequantize(function.input(x), input, dtype),
        function.dequantize(function.literal(w), quantization, np.int8),
        function.literal(bias),
        window,
        accumulator.shape,
    )
    (actual,), _ = run(function, [function.quantize(y, output, dtype)], target)
    along = scale.reshape(1, -1, *[1] * (len(shape) - 2))
    expected = rescaled(accumulator.astype(np.int64), along, output, dtype)
    np.testing.assert_array_equal(storage(actual, dtype), expected)


@pytest.mark.parametrize("target", TARGETS)
def test_product_of_two_activations(target):
    rng = np.random.default_rng(2)
    function = Function()
    x, y = random_integers(rng, (2, 3, 8), np.uint8), random_integers(rng, (2, 8, 4), np.int8)
    first, second, output = Quantization(0.1, 120), Quantization(0.02, -5), Quantization(0.2, 1)
    product = function.product(
        "bmm",
        function.dequantize(function.input(x), first, np.uint8),
        function.dequantize(function.input(y), second, np.int8),
        (2, 3, 4),
    )
    (actual,), _ = run(function, [function.quantize(product, output, np.int8)], target)
    accumulator = centered(x, first, 3) @ centered(y, second, 3)
    np.testing.assert_array_equal(actual, rescaled(accumulator, 0.1 * 0.02, output, np.int8))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("both", [False, True])
def test_parameters_chosen_at_run_time(both, target):
    """Scales are factors in f32, after sums of integers; zero points are in the sums."""
    rng = np.random.default_rng(3)
    function, names, values = Function(), [], []
    bounds = {"quant_min": -128, "quant_max": 127, "eps": 2.0**-23}
    attributes = "quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8"
    for shape in ((4, 8), (8, 6)):
        is_constant = len(names) == 1 and not both
        x = rng.normal(1, 3, shape).astype(np.float32)
        if is_constant:
            w, quantization = random_integers(rng, shape, np.int8), WEIGHTS["per channel, zero points"]
            names.append(function.dequantize(function.literal(w), quantization, np.int8))
            values.append((centered(w, quantization, 2), np.float32(quantization.scale)))
            continue
        name = function.input(x)
        scale, zero_point = choose_qparams(x, **bounds)
        chosen = f"{name[1:]}chosen"
        function.lines.append(
            f'%{chosen}:2 = "quantized_decomposed.choose_qparams"({name}) {{{attributes}, eps = {2.0**-23} : f64}} : '
            f"({function.types[name]}) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)"
        )
        function.types |= {f"%{chosen}#0": "!torch.vtensor<[1],f64>", f"%{chosen}#1": "!torch.vtensor<[1],si64>"}
        operands = [f"%{chosen}#0", f"%{chosen}#1"]
        type_ = function.types[name]
        quantized = function.add("quantized_decomposed.quantize_per_tensor", [name, *operands],
                                 type_.replace("f32", "si8"), f"{{{attributes}}}")  # fmt: skip
        names.append(
            function.add(
                "quantized_decomposed.dequantize_per_tensor", [quantized, *operands], type_, f"{{{attributes}}}"
            )
        )
        q = quantize(x, scale, zero_point, -128, 127, np.int8)
        values.append((q.astype(np.int64) - zero_point, scale.astype(np.float32)))
    (actual,), _ = run(function, [function.product("mm", *names, (4, 6))], target)
    (x, x_scale), (w, w_scale) = values
    np.testing.assert_array_equal(actual, (x @ w).astype(np.float32) * x_scale * w_scale)


@pytest.mark.parametrize("target", TARGETS)
def test_parameters_per_token(target):
    rng = np.random.default_rng(4)
    function = Function()
    x, w = rng.normal(1, 3, (2, 3, 8)).astype(np.float32), random_integers(rng, (8, 6), np.int8)
    scales, zero_points = choose_qparams_per_token_asymmetric(x)
    name, attributes = function.input(x), "quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8"
    types = "!torch.vtensor<[2,3,1],f64>", "!torch.vtensor<[2,3,1],si64>"
    function.lines.append(
        f'%c:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"({name}) {{dtype = si8}} : '
        f"({function.types[name]}) -> ({types[0]}, {types[1]})"
    )
    function.types |= {"%c#0": types[0], "%c#1": types[1]}
    operands = ["%c#0", "%c#1"]
    quantized = function.add("quantized_decomposed.quantize_per_token", [name, *operands],
                             "!torch.vtensor<[2,3,8],si8>", f"{{{attributes}}}")  # fmt: skip
    floats = function.add("quantized_decomposed.dequantize_per_token", [quantized, *operands],
                          "!torch.vtensor<[2,3,8],f32>", f"{{{attributes}}}")  # fmt: skip
    quantization = WEIGHTS["per channel"]
    weights = function.dequantize(function.literal(w), quantization, np.int8)
    (actual,), text = run(function, [function.product("matmul", floats, weights, (2, 3, 6))], target)
    assert "xi32>" in text
    q = np.clip(np.rint(x * (1 / scales) + zero_points), -128, 127).astype(np.int64)
    expected = ((q - zero_points) @ w.astype(np.int64)).astype(np.float32)
    expected = expected * scales.astype(np.float32) * np.float32(quantization.scale)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_dequantized_bias_is_added_as_it_is(target):
    rng = np.random.default_rng(5)
    function, quantization = Function(), WEIGHTS["per channel"]
    x, w = random_integers(rng, (4, 8), np.int8), random_integers(rng, (8, 6), np.int8)
    bias = rng.integers(-(2**28), 2**28, 6).astype(np.int32)
    input, output = Quantization(0.1, 4), Quantization(1000.0, 3)
    scale = np.float32(0.1) * np.float32(quantization.scale)
    y = function.product(
        "mm",
        function.dequantize(function.input(x), input, np.int8),
        function.dequantize(function.literal(w), quantization, np.int8),
        (4, 6),
    )
    y = function.plus(
        y, function.dequantize(function.literal(bias), Quantization(scale, np.zeros(6, int), 0), np.int32)
    )
    (actual,), _ = run(function, [function.quantize(y, output, np.int8)], target)
    accumulator = centered(x, input, 2) @ centered(w, quantization, 2) + bias
    expected = rescaled(accumulator, 0.1 * np.asarray(quantization.scale, np.float64), output, np.int8)
    np.testing.assert_array_equal(actual, expected)
