# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of inverted residual blocks."""

from collections.abc import Callable

import numpy as np
import onnx

from e2e.models.network import Network

SIZE = 64
CLASSES = 100

Activation = Callable[[Network, str], str]


def _relu(net: Network, x: str) -> str:
    return net.relu(x)


def _relu6(net: Network, x: str) -> str:
    return net.clip(x, 0, 6)


def _hard_swish(net: Network, x: str) -> str:
    return net.node("HardSwish", x)


def _swish(net: Network, x: str) -> str:
    return net.node("Mul", x, net.node("Sigmoid", x))


def _excitation(net: Network, x: str, squeezed: int, inner: Activation, gate: Activation) -> str:
    """Each channel times a weight that depends on the means of all: squeeze and excitation."""
    weights = net.conv(inner(net, net.conv(net.node("GlobalAveragePool", x), squeezed, 1)), net.channels(x), 1)
    return net.node("Mul", x, gate(net, weights))


def _block(
    net: Network,
    x: str,
    expanded: int,
    out_channels: int,
    *,
    kernel: int = 3,
    stride: int = 1,
    activation: Activation,
    excite: Callable[[Network, str], str] | None = None,
) -> str:
    """Expansion, depthwise convolution, projection, and a shortcut where the shapes agree."""
    in_channels = net.channels(x)
    y = x if expanded == in_channels else activation(net, net.conv(x, expanded, 1))
    y = activation(net, net.conv(y, expanded, kernel, group=expanded, strides=[stride, stride]))
    y = excite(net, y) if excite else y
    y = net.conv(y, out_channels, 1)
    return net.node("Add", x, y) if stride == 1 and in_channels == out_channels else y


def mobilenet_v2() -> onnx.ModelProto:
    """The 17 blocks of the paper, half as wide."""
    net = Network("mobilenet_v2", (1, 3, SIZE, SIZE))
    x = _relu6(net, net.conv("x", 16, strides=[2, 2]))
    for expansion, channels, blocks, stride in (
        (1, 8, 1, 1),
        (6, 12, 2, 2),
        (6, 16, 3, 2),
        (6, 32, 4, 2),
        (6, 48, 3, 1),
        (6, 80, 3, 2),
        (6, 160, 1, 1),
    ):
        for index in range(blocks):
            expanded = net.channels(x) * expansion
            x = _block(net, x, expanded, channels, stride=stride if index == 0 else 1, activation=_relu6)
    x = net.node("GlobalAveragePool", _relu6(net, net.conv(x, 640, 1)))
    return net.build(net.gemm(net.node("Flatten", x), 640, CLASSES))


def mobilenet_v3_small() -> onnx.ModelProto:
    """The 11 blocks of the paper: hard swish, and squeeze and excitation with a hard sigmoid."""
    net = Network("mobilenet_v3_small", (1, 3, SIZE, SIZE))

    def gate(net: Network, x: str) -> str:
        return net.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)

    def excite(net: Network, x: str) -> str:
        return _excitation(net, x, max(8, net.channels(x) // 4), _relu, gate)

    x = _hard_swish(net, net.conv("x", 16, strides=[2, 2]))
    for kernel, expanded, channels, excited, activation, stride in (
        (3, 16, 16, True, _relu, 2),
        (3, 72, 24, False, _relu, 2),
        (3, 88, 24, False, _relu, 1),
        (5, 96, 40, True, _hard_swish, 2),
        (5, 240, 40, True, _hard_swish, 1),
        (5, 240, 40, True, _hard_swish, 1),
        (5, 120, 48, True, _hard_swish, 1),
        (5, 144, 48, True, _hard_swish, 1),
        (5, 288, 96, True, _hard_swish, 2),
        (5, 576, 96, True, _hard_swish, 1),
        (5, 576, 96, True, _hard_swish, 1),
    ):
        options = {"kernel": kernel, "stride": stride, "activation": activation, "excite": excite if excited else None}
        x = _block(net, x, expanded, channels, **options)
    x = net.node("Flatten", net.node("GlobalAveragePool", _hard_swish(net, net.conv(x, 576, 1))))
    return net.build(net.gemm(_hard_swish(net, net.gemm(x, 576, 256)), 256, CLASSES))


def efficientnet() -> onnx.ModelProto:
    """The seven kinds of blocks of EfficientNet-B0, one of each or two: swish, and squeeze and excitation."""
    net = Network("efficientnet", (1, 3, SIZE, SIZE))

    def gate(net: Network, x: str) -> str:
        return net.node("Sigmoid", x)

    def block(x: str, expansion: int, channels: int, kernel: int, stride: int) -> str:
        squeezed = max(4, net.channels(x) // 4)

        def excite(net: Network, y: str) -> str:
            return _excitation(net, y, squeezed, _swish, gate)

        expanded = net.channels(x) * expansion
        return _block(net, x, expanded, channels, kernel=kernel, stride=stride, activation=_swish, excite=excite)

    x = _swish(net, net.conv("x", 16, strides=[2, 2]))
    x = block(x, 1, 8, 3, 1)
    x = block(block(x, 6, 12, 3, 2), 6, 12, 3, 1)
    x = block(block(x, 6, 20, 5, 2), 6, 20, 5, 1)
    x = block(x, 6, 40, 3, 2)
    x = block(x, 6, 56, 5, 1)
    x = block(x, 6, 96, 5, 2)
    x = block(x, 6, 160, 3, 1)
    x = _swish(net, net.conv(x, 320, 1))
    x = net.node("ReduceMean", x, net.constant(np.array([2, 3], np.int64)), keepdims=0)
    return net.build(net.gemm(x, 320, CLASSES))
