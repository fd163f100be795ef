# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoders of transformers."""

import dataclasses
import math

import numpy as np
import onnx
from onnx import TensorProto

from e2e.models.built.samples import VOCABULARY
from e2e.models.network import Network


@dataclasses.dataclass(frozen=True)
class Encoder:
    """Sizes of an encoder, which adds its nodes to a network; values are `[1, tokens, width]`."""

    net: Network
    tokens: int
    width: int
    heads: int

    def normalization(self, x: str) -> str:
        scale = self.net.constant(self.net.rng.uniform(0.7, 1.3, self.width).astype(np.float32))
        return self.net.node("LayerNormalization", x, scale, self.net.bias(self.width), axis=-1, epsilon=1e-5)

    def linear(self, x: str, in_features: int, out_features: int) -> str:
        """A product and a sum, as exporters write a linear layer of three-dimensional values."""
        weights = self.net.weights(in_features, out_features, fan_in=in_features)
        return self.net.node("Add", self.net.node("MatMul", x, weights), self.net.bias(out_features))

    def attention(self, x: str) -> str:
        net, depth = self.net, self.width // self.heads
        heads = []
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            split = net.reshape(self.linear(x, self.width, self.width), 1, self.tokens, self.heads, depth)
            heads.append(net.node("Transpose", split, perm=perm))
        queries, keys, values = heads
        scores = net.node("Mul", net.node("MatMul", queries, keys), net.constant(np.float32(1 / math.sqrt(depth))))
        mixed = net.node("MatMul", net.node("Softmax", scores, axis=-1), values)
        joined = net.reshape(net.node("Transpose", mixed, perm=[0, 2, 1, 3]), 1, self.tokens, self.width)
        return self.linear(joined, self.width, self.width)

    def feed_forward(self, x: str, activation) -> str:
        return self.linear(activation(self.linear(x, self.width, 4 * self.width)), 4 * self.width, self.width)

    def table(self, *shape: int) -> str:
        """Learned values: embeddings, positions."""
        return self.net.constant(self.net.rng.standard_normal(shape, dtype=np.float32))


def vit_tiny() -> onnx.ModelProto:
    """Normalization before each part, a class token, GELU as one operator."""
    size, patch, width = 64, 8, 96
    net = Network("vit_tiny", (1, 3, size, size))
    patches = (size // patch) ** 2
    encoder = Encoder(net, patches + 1, width, heads=3)
    x = net.conv("x", width, patch, strides=[patch, patch], pads=[0, 0, 0, 0])
    x = net.node("Transpose", net.reshape(x, 1, width, patches), perm=[0, 2, 1])
    x = net.node("Add", net.node("Concat", encoder.table(1, 1, width), x, axis=1), encoder.table(1, patches + 1, width))
    for _ in range(3):
        x = net.node("Add", x, encoder.attention(encoder.normalization(x)))
        x = net.node("Add", x, encoder.feed_forward(encoder.normalization(x), lambda y: net.node("Gelu", y)))
    x = net.node("Gather", encoder.normalization(x), net.constant(np.asarray(0)), axis=1)
    return net.build(net.gemm(x, width, 100))


def bert_tiny() -> onnx.ModelProto:
    """Embeddings of tokens, normalization after each part, GELU spelled out with an error function."""
    tokens, width = 32, 128
    net = Network("bert_tiny", (1, tokens), input_type=TensorProto.INT64)
    encoder = Encoder(net, tokens, width, heads=2)

    def gelu(x: str) -> str:
        scaled = net.node("Erf", net.node("Div", x, net.constant(np.float32(math.sqrt(2)))))
        product = net.node("Mul", x, net.node("Add", scaled, net.constant(np.float32(1))))
        return net.node("Mul", product, net.constant(np.float32(0.5)))

    x = net.node("Gather", encoder.table(VOCABULARY, width), "x", axis=0)
    x = encoder.normalization(net.node("Add", x, encoder.table(1, tokens, width)))
    for _ in range(2):
        x = encoder.normalization(net.node("Add", x, encoder.attention(x)))
        x = encoder.normalization(net.node("Add", x, encoder.feed_forward(x, gelu)))
    first = net.node("Gather", x, net.constant(np.asarray(0)), axis=1)
    return net.build(net.gemm(net.node("Tanh", net.gemm(first, width, width)), width, 8))
