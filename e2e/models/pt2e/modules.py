# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small float models with seeded parameters; the key of `MODULES` is the name of the case."""

import dataclasses
import zlib
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

# An input of a call: a shape of standard normal values, or what makes a tensor with a random generator.
Input = tuple[int, ...] | Callable[[torch.Generator], torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Model:
    """A float model, or one that is quantized by hand.

    Attributes:
      build: makes the module; its parameters are seeded by `make`.
      call: the inputs of a call.
    """

    name: str
    build: Callable[[], nn.Module]
    call: tuple[Input, ...]

    def make(self) -> nn.Module:
        """The module, in evaluation mode."""
        torch.manual_seed(zlib.crc32(self.name.encode()))
        return self.build().eval()

    def inputs(self, seed: str) -> tuple[torch.Tensor, ...]:
        """Inputs of a call, the same ones for the same seed."""
        generator = torch.Generator().manual_seed(zlib.crc32(f"{self.name}.{seed}".encode()))
        return tuple(
            torch.randn(each, generator=generator) if isinstance(each, tuple) else each(generator) for each in self.call
        )


MODULES: dict[str, Model] = {}


def model(*call: Input, registry: dict[str, Model] = MODULES) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Registers a module under its name in snake case."""

    def register(module: type[nn.Module]) -> type[nn.Module]:
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in module.__name__).lstrip("_")
        registry[name] = Model(name, module, call)
        return module

    return register


def conv_bn(channels: int, out_channels: int, kernel: int = 3, **options) -> nn.Sequential:
    """A convolution that keeps the size of the image, and a batch normalization that is not the identity."""
    norm = nn.BatchNorm2d(out_channels)
    nn.init.uniform_(norm.weight, 0.8, 1.2)
    nn.init.normal_(norm.bias, 0.0, 0.1)
    norm.running_mean.normal_(0.0, 0.1)
    norm.running_var.uniform_(0.8, 1.25)
    return nn.Sequential(nn.Conv2d(channels, out_channels, kernel, padding=kernel // 2, **options), norm)


@model((1, 3, 12, 12))
class ConvBnRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = conv_bn(3, 8)

    def forward(self, x):
        return functional.relu(self.conv(x))


@model((1, 3, 12, 12))
class ConvBnRelu6(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = conv_bn(3, 8, stride=2), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        return self.head(functional.relu6(self.conv(x)))


@model((2, 6, 16))
class Conv1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(6, 8, 5, stride=2, padding=2)

    def forward(self, x):
        return functional.relu(self.conv(x))


@model((1, 8, 10, 10))
class GroupedConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 12, 3, padding=1, groups=4)

    def forward(self, x):
        return self.conv(x)


@model((1, 4, 6, 6))
class ConvTranspose(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        return self.conv(x)


@model((1, 8, 10, 10))
class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = conv_bn(8, 8), conv_bn(8, 8)

    def forward(self, x):
        return functional.relu(x + self.second(functional.relu(self.first(x))))


@model((1, 8, 10, 10))
class DepthwiseSeparableBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = conv_bn(8, 8, stride=2, groups=8, bias=False)
        self.pointwise = conv_bn(8, 16, 1, bias=False)

    def forward(self, x):
        return functional.relu(self.pointwise(functional.relu(self.depthwise(x))))


@model((1, 3, 16, 16))
class SmallCnn(nn.Module):
    """Convolutions, pooling of three kinds, a residual, a concatenation and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem, self.left, self.right = conv_bn(3, 8), conv_bn(8, 8), conv_bn(8, 8, 1)
        self.mix, self.head = conv_bn(16, 16), nn.Linear(16, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.stem(x)), 2)
        x = torch.cat([functional.relu(self.left(x)), functional.relu(self.right(x))], dim=1)
        x = functional.relu(x + self.mix(x))
        x = functional.adaptive_avg_pool2d(x, 1)
        return self.head(torch.flatten(x, 1))


@model((1, 8, 6, 6), (1, 8, 6, 6))
class AddMul(nn.Module):
    def forward(self, x, y):
        return (x + y) * y


@model((1, 8, 8, 8))
class Movements(nn.Module):
    """Data movement between two convolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.first(x)), 2)
        x = x.transpose(2, 3).reshape(1, 8, 2, 8)[:, :, :, 1:7]
        return self.second(x.contiguous())


@model((4, 32))
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 10))

    def forward(self, x):
        return self.layers(x)


class _Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 16)

    def forward(self, x):
        return self.linear(x)


@model((2, 5, 24))
class Linear3d(_Linear):
    pass


@model((2, 3, 5, 24))
class Linear4d(_Linear):
    pass


@model((5, 24))
class LinearNoBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 16, bias=False)

    def forward(self, x):
        return self.linear(x)


class _MatMul(nn.Module):
    def forward(self, x, y):
        return torch.matmul(x, y)


@model((6, 24), (24, 10))
class Matmul2d(_MatMul):
    pass


@model((3, 6, 24), (3, 24, 10))
class Bmm(nn.Module):
    def forward(self, x, y):
        return torch.bmm(x, y)


@model((2, 3, 6, 24), (2, 3, 24, 10))
class Matmul4d(_MatMul):
    pass


@model((2, 6, 24), (24, 10))
class MatmulBroadcast(_MatMul):
    pass
