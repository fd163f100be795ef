# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step of a small decoder: RMS normalization, rotary positions, a cache of keys and values, gated feed-forward.

The key of `DECODERS` is the name of the case. Projections are `nn.Linear`, for a recipe to replace.
"""

import torch
from torch import nn
from torch.nn import functional

from e2e.models.pt2e.modules import Model, model

DECODERS: dict[str, Model] = {}

_WIDTH, _HEADS, _HIDDEN, _LENGTH, _VOCABULARY = 64, 4, 128, 8, 40
_SIZE = _WIDTH // _HEADS
_CACHE = (1, _HEADS, _LENGTH, _SIZE)


def _position(generator: torch.Generator) -> torch.Tensor:
    return torch.randint(1, _LENGTH, (1,), generator=generator)


class _RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(_WIDTH).uniform_(0.8, 1.2))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class _Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(_WIDTH, _WIDTH, bias=False), nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.value, self.output = nn.Linear(_WIDTH, _WIDTH, bias=False), nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.gate, self.up = nn.Linear(_WIDTH, _HIDDEN, bias=False), nn.Linear(_WIDTH, _HIDDEN, bias=False)
        self.down = nn.Linear(_HIDDEN, _WIDTH, bias=False)
        self.first_norm, self.second_norm = _RmsNorm(), _RmsNorm()
        angles = torch.outer(torch.arange(_LENGTH), 100.0 ** -torch.linspace(0, 1, _SIZE // 2)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def rotate(self, x, position):
        low, high = x.chunk(2, dim=-1)
        return x * self.cosines[position] + torch.cat([-high, low], dim=-1) * self.sines[position]

    def forward(self, x, position, keys, values):
        normed = self.first_norm(x)
        query, key, value = (
            layer(normed).view(1, 1, _HEADS, _SIZE).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        here = (torch.arange(_LENGTH) == position)[None, None, :, None]
        keys = torch.where(here, self.rotate(key, position), keys)
        values = torch.where(here, value, values)
        scores = torch.matmul(self.rotate(query, position), keys.transpose(2, 3)) / _SIZE**0.5
        scores = scores.masked_fill(torch.arange(_LENGTH) > position, float("-inf"))
        mixed = torch.matmul(torch.softmax(scores, dim=-1), values)
        x = x + self.output(mixed.transpose(1, 2).reshape(1, 1, _WIDTH))
        normed = self.second_norm(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed)), keys, values


@model((1, 1, _WIDTH), _position, _CACHE, _CACHE, registry=DECODERS)
class DecoderStep(nn.Module):
    """The cache is an input and an output."""

    def __init__(self):
        super().__init__()
        self.block, self.norm, self.head = _Block(), _RmsNorm(), nn.Linear(_WIDTH, _VOCABULARY, bias=False)

    def forward(self, x, position, keys, values):
        x, keys, values = self.block(x, position, keys, values)
        return {"logits": self.head(self.norm(x)), "cache": (keys, values)}


@model((1, 1, _WIDTH), _position, registry=DECODERS)
class DecoderWithCache(nn.Module):
    """The cache is a buffer that a call updates."""

    def __init__(self):
        super().__init__()
        self.block, self.norm, self.head = _Block(), _RmsNorm(), nn.Linear(_WIDTH, _VOCABULARY, bias=False)
        self.register_buffer("keys", torch.randn(_CACHE))
        self.register_buffer("values", torch.randn(_CACHE))

    def forward(self, x, position):
        x, keys, values = self.block(x, position, self.keys, self.values)
        self.keys.copy_(keys)
        self.values.copy_(values)
        return self.head(self.norm(x))
