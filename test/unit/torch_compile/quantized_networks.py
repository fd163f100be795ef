# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized networks as the PT2E flow leaves them, written down: no calibration is needed."""

import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from torch import nn

_ops = torch.ops.quantized_decomposed
_RANGE = (-128, 127, torch.int8)


def fake_quantized(x: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    integers = _ops.quantize_per_tensor(x, scale, zero_point, *_RANGE)
    return _ops.dequantize_per_tensor(integers, scale, zero_point, *_RANGE)


class QuantizedConv(nn.Module):
    """A convolution with weights quantized per channel, and ReLU."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(7)
        self.register_buffer("weight", torch.randint(-127, 128, (4, 3, 3, 3), generator=generator).to(torch.int8))
        self.register_buffer("scales", torch.rand(4, generator=generator) * 0.004 + 0.002)
        self.register_buffer("zeros", torch.zeros(4, dtype=torch.int64))
        self.bias = nn.Parameter(torch.randn(4, generator=generator))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = _ops.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
        y = torch.relu(nn.functional.conv2d(fake_quantized(x, 0.03, 5), weight, self.bias, padding=1))
        return fake_quantized(y, 0.05, -128)


def images(batch: int) -> torch.Tensor:
    return torch.randn(batch, 3, 4, 4, generator=torch.Generator().manual_seed(batch))
