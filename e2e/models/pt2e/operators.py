# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One quantization operator each, or a quantize and a dequantize; the key of `OPERATORS` is the name of the case.

Bit for bit what eager mode computes, on inputs that saturate, lie on ties, or are zero, subnormal or infinite.
"""

from collections.abc import Callable

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn
from torchao.quantization import quant_primitives  # noqa: F401  (its import registers the operators)

from e2e.models.pt2e.modules import Input, Model

_ops, _torchao = torch.ops.quantized_decomposed, torch.ops.torchao
OPERATORS: dict[str, Model] = {}

_SI8, _UI8 = (-128, 127, torch.int8), (0, 255, torch.uint8)
_EPS = 2.0**-12


class _Function(nn.Module):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def operator(*call: Input) -> Callable[[Callable], Callable]:
    """Registers a function of tensors under its name."""

    def register(function: Callable) -> Callable:
        OPERATORS[function.__name__] = Model(function.__name__, lambda: _Function(function), call)
        return function

    return register


def _reals(*shape: int, finite: bool = False) -> Input:
    """Values about the range of a quantization with a scale near 0.05, with extreme ones at the front."""
    special = [0.0, -0.0, 0.025, 0.075, -0.125, 1e-40, 3e38, -3e38, 1e10]
    special += [] if finite else [float("inf"), float("-inf")]

    def make(generator: torch.Generator) -> torch.Tensor:
        values = torch.randn(shape, generator=generator) * 4
        values.view(-1)[: len(special)] = torch.tensor(special)
        return values

    return make


def _ordinary(*shape: int) -> Input:
    return lambda generator: torch.randn(shape, generator=generator) * 4


def _integers(low: int, high: int, dtype: torch.dtype, *shape: int) -> Input:
    return lambda generator: torch.randint(low, high + 1, shape, generator=generator).to(dtype)


def _scales(*shape: int, dtype: torch.dtype = torch.float32) -> Input:
    return lambda generator: (torch.rand(shape, generator=generator) * 0.1 + 0.01).to(dtype)


@operator(_reals(4, 8))
def quantize_per_tensor(x):
    return _ops.quantize_per_tensor(x, 0.05, 3, *_SI8), _ops.quantize_per_tensor(x, 0.0437, 128, *_UI8)


@operator(_reals(4, 8))
def quantize_per_tensor_narrow(x):
    return _ops.quantize_per_tensor(x, 0.05, 0, -7, 7, torch.int8), _ops.quantize_per_tensor(
        x, 0.1, 60, 5, 127, torch.uint8
    )


@operator(_reals(4, 8), _scales(1), _integers(-9, 9, torch.int64, 1))
def quantize_per_tensor_run_time(x, scale, zero_point):
    return _ops.quantize_per_tensor.tensor(x, scale, zero_point, *_SI8)


@operator(_reals(4, 8), _scales(1), _integers(-9, 9, torch.int64, 1))
def quantize_per_tensor_run_time_range(x, scale, zero_point):
    return _ops.quantize_per_tensor.tensor2(x, scale, zero_point, torch.tensor(-100), torch.tensor(99), torch.int8)


@operator(_integers(-128, 127, torch.int8, 4, 8), _integers(0, 255, torch.uint8, 4, 8))
def dequantize_per_tensor(x, y):
    return _ops.dequantize_per_tensor(x, 0.0437, -7, *_SI8), _ops.dequantize_per_tensor(y, 0.0437, 131, *_UI8)


@operator(_integers(-128, 127, torch.int8, 4, 8), _scales(1), _integers(-9, 9, torch.int64, 1))
def dequantize_per_tensor_run_time(x, scale, zero_point):
    half = _ops.dequantize_per_tensor.tensor(x, scale, zero_point, *_SI8, out_dtype=torch.float16)
    return _ops.dequantize_per_tensor.tensor(x, scale, zero_point, *_SI8), half


@operator(_integers(-128, 127, torch.int8, 4, 8), _scales(1), _integers(-9, 9, torch.int64, 1))
def dequantize_per_tensor_run_time_range(x, scale, zero_point):
    bounds = torch.tensor(-128), torch.tensor(127)
    return _ops.dequantize_per_tensor.tensor2(x, scale, zero_point, *bounds, torch.int8)


@operator(_reals(4, 3, 2), _scales(3), _integers(-9, 9, torch.int64, 3))
def quantize_per_channel(x, scales, zero_points):
    return _ops.quantize_per_channel(x, scales, zero_points, 1, *_SI8)


@operator(_integers(-128, 127, torch.int8, 4, 3, 2), _scales(3), _integers(-9, 9, torch.int64, 3))
def dequantize_per_channel(x, scales, zero_points):
    symmetric = _ops.dequantize_per_channel(x, scales, None, 1, *_SI8)
    return _ops.dequantize_per_channel(x, scales, zero_points, 1, *_SI8), symmetric


@operator(_reals(4, 3, 2), _scales(3), _integers(-9, 9, torch.int64, 3))
def fake_quant_per_channel(x, scales, zero_points):
    return _ops.fake_quant_per_channel(x, scales, zero_points, 1, -128, 127)


@operator(_reals(2, 4, 8), _scales(2, 4, 1, dtype=torch.float64), _integers(-9, 9, torch.int64, 2, 4, 1))
def quantize_per_token(x, scales, zero_points):
    return _ops.quantize_per_token(x, scales, zero_points, *_SI8)


@operator(_integers(-128, 127, torch.int8, 4, 8), _scales(4, 1), _integers(-9, 9, torch.int64, 4, 1))
def dequantize_per_token(x, scales, zero_points):
    return _ops.dequantize_per_token(x, scales, zero_points, *_SI8, torch.float32)


@operator(_reals(4, 16), _scales(4, 2), _integers(-3, 3, torch.int32, 4, 2))
def quantize_per_channel_group(x, scales, zero_points):
    return _ops.quantize_per_channel_group(x, scales, zero_points, -8, 7, torch.int8, 8)


@operator(_integers(-8, 7, torch.int8, 4, 16), _scales(4, 2), _integers(-3, 3, torch.int32, 4, 2))
def dequantize_per_channel_group(x, scales, zero_points):
    arguments = (-8, 7, torch.int8, 8, torch.float32)
    symmetric = _ops.dequantize_per_channel_group(x, scales, None, *arguments)
    return _ops.dequantize_per_channel_group(x, scales, zero_points, *arguments), symmetric


@operator(_ordinary(4, 8))
def choose_qparams(x):
    return _ops.choose_qparams.tensor(x, -128, 127, _EPS, torch.int8)


@operator(_ordinary(4, 8))
def choose_qparams_symmetric(x):
    return _ops.choose_qparams_symmetric.tensor(x, -127, 127, _EPS, torch.int8)


@operator(_ordinary(4, 8))
def choose_qparams_per_token_asymmetric(x):
    return _ops.choose_qparams_per_token_asymmetric(x, torch.int8)


@operator(_ordinary(2, 3, 8))
def dynamic_quantization_per_tensor(x):
    scale, zero_point = _ops.choose_qparams.tensor(x, -128, 127, _EPS, torch.int8)
    quantized = _ops.quantize_per_tensor.tensor(x, scale, zero_point, *_SI8)
    return quantized, _ops.dequantize_per_tensor.tensor(quantized, scale, zero_point, *_SI8)


@operator(_ordinary(2, 3, 8))
def dynamic_quantization_per_token(x):
    scales, zero_points = _ops.choose_qparams_per_token(x, torch.int8)
    quantized = _ops.quantize_per_token(x, scales, zero_points, *_SI8)
    return quantized, _ops.dequantize_per_token(quantized, scales, zero_points, *_SI8, torch.float32)


@operator(_ordinary(2, 3, 8))
def dynamic_quantization_per_token_asymmetric(x):
    scales, zero_points = _ops.choose_qparams_per_token_asymmetric(x, torch.int8)
    quantized = _ops.quantize_per_token(x, scales, zero_points, *_SI8)
    return quantized, _ops.dequantize_per_token(quantized, scales, zero_points, *_SI8, torch.float32)


@operator(_ordinary(4, 8), _integers(-128, 127, torch.int8, 4, 8))
def convert_element_type(x, y):
    return _ops.convert_element_type.no_fuse(x, torch.float16), _ops.convert_element_type.no_fuse(y, torch.float32)


def _affine(block: tuple[int, ...], shape: tuple[int, ...], symmetric: bool) -> Callable:
    def function(x, q, scales, zero_points):
        wanted = None if symmetric else zero_points
        quantized = _torchao.quantize_affine(x, block, scales, zero_points, torch.int8, -127, 127)
        return quantized, _torchao.dequantize_affine(q, block, scales, wanted, torch.int8, -127, 127)

    return function


def _register_affine(name: str, shape: tuple[int, ...], block: tuple[int, ...]) -> None:
    parameters = tuple(size // b for size, b in zip(shape, block, strict=True))
    for suffix, symmetric in (("", False), ("_symmetric", True)):
        function = _affine(block, shape, symmetric)
        function.__name__ = f"affine_{name}{suffix}"
        integers = _integers(-127, 127, torch.int8, *shape)
        operator(_reals(*shape), integers, _scales(*parameters), _integers(-9, 9, torch.int32, *parameters))(function)


_register_affine("per_tensor", (4, 8), (4, 8))
_register_affine("per_channel", (4, 3, 2), (4, 1, 2))
_register_affine("per_token", (2, 3, 4), (1, 1, 4))
_register_affine("per_group", (4, 16), (1, 8))


def _register_choose(name: str, block: tuple[int, ...], mapping: str, **options) -> None:
    def function(x):
        return _torchao.choose_qparams_affine(x, mapping, block, torch.int8, -128, 127, **options)

    function.__name__ = f"choose_qparams_affine_{name}_{mapping.lower()}"
    operator(_ordinary(4, 16))(function)


for _mapping in ("SYMMETRIC", "ASYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"):
    _register_choose("per_tensor", (4, 16), _mapping)
    _register_choose("per_token", (1, 16), _mapping, keepdim=True)
    _register_choose("per_group", (1, 8), _mapping, zero_point_dtype=torch.int8)
