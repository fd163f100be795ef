# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contractions of the support matrix by the name that they have there."""

from collections.abc import Callable, Sequence

import numpy as np
from contractions import Function, Quantization, Window

INPUT = Quantization(0.1, -11)
OUTPUT = Quantization(0.2, 3)
_INT8 = "quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8"


def per_channel(channels: int, axis: int, zero_points: bool = False) -> Quantization:
    return Quantization(np.linspace(0.01, 0.03, channels), np.arange(channels) * 9 * zero_points, axis)


def _values(shape: Sequence[int]) -> np.ndarray:
    return np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)


def _product(weights: Quantization, dtype=np.int8) -> Function:
    function, input = Function(), INPUT if dtype == np.int8 else Quantization(0.1, 131)
    x = function.dequantize(function.input(_values((4, 8)).astype(dtype)), input, dtype)
    w = function.dequantize(function.literal(_values((8, 6))), weights, np.int8)
    function.results = [function.quantize(function.product("mm", x, w, (4, 6)), OUTPUT, np.int8)]
    return function


def _convolution(
    shape: Sequence[int],
    kernel: Sequence[int],
    window: Window,
    result: Sequence[int],
    weights: Quantization | None = None,
) -> Function:
    function = Function()
    weights = weights or per_channel(kernel[0], 0)
    x = function.dequantize(function.input(_values(shape)), INPUT, np.int8)
    w = function.dequantize(function.literal(_values(kernel)), weights, np.int8)
    function.results = [function.quantize(function.convolution(x, w, None, window, result), OUTPUT, np.int8)]
    return function


def _two_activations() -> Function:
    function = Function()
    x = function.dequantize(function.input(_values((2, 3, 8))), INPUT, np.int8)
    y = function.dequantize(function.input(_values((2, 8, 4))), Quantization(0.02, 5), np.int8)
    function.results = [function.quantize(function.product("bmm", x, y, (2, 3, 4)), OUTPUT, np.int8)]
    return function


def _dynamic(granularity: str) -> Function:
    function = Function()
    d = _dynamically_quantized(function, granularity)
    w = function.dequantize(function.literal(_values((8, 6))), per_channel(6, 1), np.int8)
    function.results = [function.product("mm", d, w, (4, 6))]
    return function


def _dynamically_quantized(function: Function, granularity: str) -> str:
    x = function.input(np.ones((4, 8), np.float32))
    per_token = granularity == "per_token"
    rows, choose = ("4,1", "choose_qparams_per_token_asymmetric") if per_token else ("1", "choose_qparams")
    chosen = "{dtype = si8}" if per_token else f"{{{_INT8}, eps = 1.0e-07 : f64}}"
    types = f"!torch.vtensor<[{rows}],f64>", f"!torch.vtensor<[{rows}],si64>"
    function.lines.append(
        f'%c:2 = "quantized_decomposed.{choose}"({x}) {chosen} : ({function.types[x]}) -> ({types[0]}, {types[1]})'
    )
    function.types |= {"%c#0": types[0], "%c#1": types[1]}
    form, operation = f"{{{_INT8}}}", "quantized_decomposed.{}_" + granularity
    q = function.add(operation.format("quantize"), [x, "%c#0", "%c#1"], "!torch.vtensor<[4,8],si8>", form)
    return function.add(operation.format("dequantize"), [q, "%c#0", "%c#1"], "!torch.vtensor<[4,8],f32>", form)


def _groups(activations: str = "static", run_time_scales: bool = False) -> Function:
    function = Function()
    if activations == "static":
        x = function.dequantize(function.input(_values((4, 8))), INPUT, np.int8)
    elif activations == "float":
        x = function.input(np.ones((4, 8), np.float32))
    else:
        x = _dynamically_quantized(function, activations)
    scales = np.full((2, 6), 0.01, np.float32)
    scales = function.input(scales) if run_time_scales else function.literal(scales)
    w = function.literal(_values((8, 6)))
    form = f"{{{_INT8}, group_size = 4 : i64, axis = 0 : i64}}"
    w = function.add(
        "quantized_decomposed.dequantize_per_channel_group", [w, scales], "!torch.vtensor<[8,6],f32>", form
    )
    function.results = [function.quantize(function.product("mm", x, w, (4, 6)), OUTPUT, np.int8)]
    return function


def _weights_only() -> Function:
    function = Function()
    x = function.input(np.ones((4, 8), np.float32))
    w = function.dequantize(function.literal(_values((8, 6))), per_channel(6, 1), np.int8)
    function.results = [function.product("mm", x, w, (4, 6))]
    return function


CONTRACTIONS: dict[str, Callable[[], Function]] = {
    "matrix product, weights per tensor": lambda: _product(Quantization(0.02)),
    "matrix product, weights per channel": lambda: _product(per_channel(6, 1)),
    "matrix product, weights per channel with zero points": lambda: _product(per_channel(6, 1, zero_points=True)),
    "matrix product, unsigned activations": lambda: _product(per_channel(6, 1), np.uint8),
    "matrix product of two activations": _two_activations,
    "convolution, weights per tensor": lambda: _convolution(
        (1, 3, 7, 7), (4, 3, 3, 3), Window([1, 1], [1, 1]), (1, 4, 7, 7), Quantization(0.02)
    ),
    "convolution, weights per channel": lambda: _convolution(
        (1, 3, 7, 7), (4, 3, 3, 3), Window([1, 1], [1, 1]), (1, 4, 7, 7)
    ),
    "convolution, weights per channel with zero points": lambda: _convolution(
        (1, 3, 7, 7), (4, 3, 3, 3), Window([1, 1], [1, 1]), (1, 4, 7, 7), per_channel(4, 0, zero_points=True)
    ),
    "convolution in one dimension": lambda: _convolution((1, 3, 9), (4, 3, 3), Window([1], [1]), (1, 4, 9)),
    "convolution in three dimensions": lambda: _convolution(
        (1, 3, 5, 5, 5), (4, 3, 3, 3, 3), Window([1, 1, 1], [1, 1, 1]), (1, 4, 5, 5, 5)
    ),
    "convolution in groups": lambda: _convolution(
        (1, 4, 7, 7), (6, 2, 3, 3), Window([1, 1], [1, 1], groups=2), (1, 6, 7, 7)
    ),
    "depthwise convolution": lambda: _convolution(
        (1, 4, 7, 7), (4, 1, 3, 3), Window([1, 1], [1, 1], groups=4), (1, 4, 7, 7)
    ),
    "transposed convolution": lambda: _convolution(
        (1, 3, 4, 4), (3, 4, 3, 3), Window([2, 2], [1, 1], transposed=True), (1, 4, 7, 7), per_channel(4, 1)
    ),
    "activations per tensor, parameters chosen at run time": lambda: _dynamic("per_tensor"),
    "activations per token, parameters chosen at run time": lambda: _dynamic("per_token"),
    "weights per group": _groups,
    "weights per group, activations per token": lambda: _groups("per_token"),
    "weights per group, activations in float": lambda: _groups("float"),
    "weights per group, scales known at run time": lambda: _groups(run_time_scales=True),
    "weights per channel, activations in float": _weights_only,
    "weights per channel along the sum": lambda: _product(per_channel(8, 0)),
}
