# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformer blocks, with products of run-time matrices that a quantizer sees."""

import math

import torch
from torch import nn
from torch.nn import functional

from e2e.models.pt2e.modules import model

_WIDTH, _HEADS, _HIDDEN = 32, 4, 64


class Attention(nn.Module):
    """Multi-head self-attention in terms of torch.matmul and softmax."""

    def __init__(self, width: int = _WIDTH, heads: int = _HEADS):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)

    def _split(self, x):
        batch, length, _ = x.shape
        return x.view(batch, length, self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        query, key, value = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(self.size)
        mixed = torch.matmul(torch.softmax(scores, dim=-1), value)
        return self.output(mixed.transpose(1, 2).reshape(x.shape))


@model((2, 6, _WIDTH))
class SelfAttention(Attention):
    pass


@model((2, 6, _WIDTH))
class EncoderLayer(nn.Module):
    """A transformer encoder layer, normalized first."""

    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.first_norm, self.second_norm = nn.LayerNorm(_WIDTH), nn.LayerNorm(_WIDTH)
        self.up, self.down = nn.Linear(_WIDTH, _HIDDEN), nn.Linear(_HIDDEN, _WIDTH)

    def forward(self, x):
        x = x + self.attention(self.first_norm(x))
        return x + self.down(functional.gelu(self.up(self.second_norm(x))))


@model((2, 6, _WIDTH))
class TorchEncoderLayer(nn.Module):
    """PyTorch's own encoder layer, whose attention is one operator."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(_WIDTH, _HEADS, _HIDDEN, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x)
