# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An encoder and decoder of images."""

import numpy as np
import onnx

from e2e.models.network import Network

SIZE = 64
CLASSES = 4


def unet() -> onnx.ModelProto:
    """Three levels; the decoder goes up by a transposed convolution, by nearest and by bilinear interpolation."""
    net = Network("unet", (1, 3, SIZE, SIZE))
    x, skipped = "x", []
    for channels in (16, 24, 32):
        x = _convolutions(net, x, channels)
        skipped.append(x)
        x = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = _convolutions(net, x, 48)
    for channels, skip, up in zip((32, 24, 16), reversed(skipped), (_transposed, _nearest, _bilinear), strict=True):
        x = up(net, x, channels)
        joined = net.node("Concat", x, skip, axis=1, channels=net.channels(x) + net.channels(skip))
        x = _convolutions(net, joined, channels)
    return net.build(net.conv(x, CLASSES, 1))


def _convolutions(net: Network, x: str, channels: int) -> str:
    return net.relu(net.conv(net.relu(net.conv(x, channels)), channels))


def _transposed(net: Network, x: str, channels: int) -> str:
    in_channels = net.channels(x)
    weights = net.weights(in_channels, channels, 2, 2, fan_in=in_channels)
    sizes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return net.node("ConvTranspose", x, weights, net.bias(channels), channels=channels, **sizes)


def _nearest(net: Network, x: str, channels: int) -> str:
    return net.conv(_resize(net, x, mode="nearest", nearest_mode="floor"), channels, 1)


def _bilinear(net: Network, x: str, channels: int) -> str:
    return _resize(net, net.conv(x, channels, 1), mode="linear", coordinate_transformation_mode="half_pixel")


def _resize(net: Network, x: str, **attributes: str) -> str:
    attributes = {"coordinate_transformation_mode": "asymmetric"} | attributes
    return net.node("Resize", x, "", net.constant(np.array([1, 1, 2, 2], np.float32)), **attributes)
