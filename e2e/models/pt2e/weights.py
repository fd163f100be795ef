# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes that replace linear layers: torchao's `quantize_`, and layers that call `quantized_decomposed` themselves."""

from collections.abc import Callable

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn
from torch.nn import functional
from torchao.quantization import (
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    MappingType,
    PerAxis,
    PerGroup,
    quantize_,
)

GROUP = 32
_ops = torch.ops.quantized_decomposed
_INT8 = (-128, 127, torch.int8)


class GroupedLinear(nn.Module):
    """A linear layer with group-wise quantized weights, and optionally activations quantized for each token.

    Args:
      bits: of the weights, which are kept in bytes.
      symmetric: the weights have no zero points.
      activations: None, or how parameters of tokens are chosen, "symmetric" or "asymmetric".
    """

    def __init__(self, linear: nn.Linear, bits: int, symmetric: bool = True, activations: str | None = "asymmetric"):
        super().__init__()
        self.low, self.high, self.activations = -(1 << bits - 1), (1 << bits - 1) - 1, activations
        groups = linear.weight.detach().unflatten(1, (-1, GROUP))
        if symmetric:
            scales, zero_points = groups.abs().amax(-1) / self.high, None
        else:
            least, most = groups.amin(-1).clamp(max=0), groups.amax(-1).clamp(min=0)
            scales = (most - least) / (self.high - self.low)
            zero_points = (self.low - torch.round(least / scales)).to(torch.int32)
        wanted = torch.zeros_like(scales, dtype=torch.int32) if zero_points is None else zero_points
        storage = (self.low, self.high, torch.int8, GROUP)
        weight = _ops.quantize_per_channel_group(linear.weight.detach(), scales, wanted, *storage)
        for name, value in (
            ("weight", weight),
            ("scales", scales),
            ("zero_points", zero_points),
            ("bias", linear.bias),
        ):
            self.register_buffer(name, None if value is None else value.detach())

    def forward(self, x):
        if self.activations is not None:
            suffix = "_asymmetric" if self.activations == "asymmetric" else ""
            scales, zero_points = getattr(_ops, f"choose_qparams_per_token{suffix}")(x, torch.int8)
            quantized = _ops.quantize_per_token(x, scales, zero_points, *_INT8)
            x = _ops.dequantize_per_token(quantized, scales, zero_points, *_INT8, torch.float32)
        storage = (self.low, self.high, torch.int8, GROUP, torch.float32)
        weight = _ops.dequantize_per_channel_group(self.weight, self.scales, self.zero_points, *storage)
        return functional.linear(x, weight, self.bias)


def _replaced(module: nn.Module, **options) -> nn.Module:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, GroupedLinear(child, **options))
        else:
            _replaced(child, **options)
    return module


def _by_torchao(config) -> Callable[[nn.Module], nn.Module]:
    def quantize(module: nn.Module) -> nn.Module:
        quantize_(module, config)
        return module

    return quantize


_INT4_GROUPS = {"weight_dtype": torch.int4, "weight_granularity": PerGroup(GROUP)}

WEIGHT_RECIPES: dict[str, Callable[[nn.Module], nn.Module]] = {
    "tokens-int4-groups": lambda module: _replaced(module, bits=4),
    "tokens-symmetric-int8-groups": lambda module: _replaced(module, bits=8, activations="symmetric"),
    "int4-affine-groups": lambda module: _replaced(module, bits=4, symmetric=False, activations=None),
    "torchao-int8": _by_torchao(Int8WeightOnlyConfig()),
    "torchao-tokens-int8": _by_torchao(Int8DynamicActivationInt8WeightConfig()),
    "torchao-tokens-int4-groups": _by_torchao(Int8DynamicActivationIntxWeightConfig(**_INT4_GROUPS)),
    "torchao-int4-groups": _by_torchao(IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(GROUP))),
    "torchao-int4-affine-groups": _by_torchao(
        IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(GROUP), mapping_type=MappingType.ASYMMETRIC)
    ),
    "torchao-int3-channels": _by_torchao(IntxWeightOnlyConfig(weight_dtype=torch.int3, granularity=PerAxis(0))),
}
