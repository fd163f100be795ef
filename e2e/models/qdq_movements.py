# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small float models of operators that move, repeat and interpolate values, and of layouts that change in between."""

import numpy as np

from e2e.models.network import Network
from e2e.models.qdq_features import feature

_NHWC, _NCHW = [0, 2, 3, 1], [0, 3, 1, 2]


def _integers(net: Network, *values: int | list[int]) -> str:
    return net.constant(np.array(values, np.int64))


def _resize(name: str, scales: tuple[float, ...], sizes: tuple[int, ...] = (), **attributes) -> None:
    """Registers a resize of the image that a convolution gives, by scales or to sizes."""

    def build(net: Network) -> str:
        x = net.conv("x", 4, 1)
        if sizes:
            return net.node("Resize", x, "", "", _integers(net, 1, 4, *sizes), **attributes)
        return net.node("Resize", x, "", net.constant(np.array((1, 1, *scales), np.float32)), **attributes)

    build.__name__ = name
    feature((1, 3, 5, 6))(build)


_resize("resize_nearest", (2, 2), mode="nearest")
_resize(
    "resize_nearest_floor", (3, 3), mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric"
)
_resize("resize_nearest_two_scales", (2, 3), mode="nearest")
_resize("resize_nearest_smaller", (0.5, 0.5), mode="nearest")
_resize("resize_nearest_to_size", (), (8, 9), mode="nearest")
_resize("resize_linear", (2, 2), mode="linear")
_resize("resize_linear_by_three", (3, 3), mode="linear")
_resize("resize_linear_by_four", (4, 4), mode="linear")
_resize("resize_linear_two_scales", (2, 4), mode="linear")
_resize("resize_linear_asymmetric", (2, 2), mode="linear", coordinate_transformation_mode="asymmetric")
_resize("resize_linear_pytorch", (2, 2), mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
_resize("resize_linear_align_corners", (2, 2), mode="linear", coordinate_transformation_mode="align_corners")
_resize("resize_linear_smaller", (0.5, 0.5), mode="linear")
_resize("resize_linear_to_size", (), (8, 9), mode="linear")


@feature((1, 4, 6, 6))
def gather(net: Network) -> str:
    return net.conv(net.node("Gather", net.conv("x", 8, 1), _integers(net, -1, 0, 3), axis=2), 4, 1)


@feature((1, 4, 6, 6))
def gather_matrix(net: Network) -> str:
    return net.node("Gather", net.conv("x", 8, 1), _integers(net, [1, 2], [-1, 0]), axis=1)


@feature((1, 4, 8, 6))
def slice_backwards(net: Network) -> str:
    bounds = [_integers(net, *values) for values in ([-1, 5], [-9, 0], [2, 3], [-1, -2])]
    return net.conv(net.node("Slice", net.conv("x", 8, 1), *bounds), 4, 1)


def _padding(name: str, mode: str, *amounts: int) -> None:
    def build(net: Network) -> str:
        x = net.node(
            "Pad", net.conv("x", 4, 1), _integers(net, *amounts), mode=mode, channels=4 + amounts[1] + amounts[5]
        )
        return net.conv(net.node("Sigmoid", x), 4, 1)

    build.__name__ = name
    feature((1, 3, 5, 6))(build)


_padding("pad_constant", "constant", 0, 1, 1, 0, 0, 0, 2, 1)
_padding("pad_edge", "edge", 0, 0, 1, 2, 0, 0, 0, 1)
_padding("pad_reflect", "reflect", 0, 0, 1, 2, 0, 0, 3, 1)


@feature((1, 16, 3, 4))
def depth_to_space(net: Network) -> str:
    return net.conv(net.node("DepthToSpace", net.conv("x", 16, 1), blocksize=2, channels=4), 4, 1)


@feature((1, 16, 3, 4))
def depth_to_space_crd(net: Network) -> str:
    return net.conv(net.node("DepthToSpace", net.conv("x", 16, 1), blocksize=2, mode="CRD", channels=4), 4, 1)


@feature((1, 4, 4, 6))
def space_to_depth(net: Network) -> str:
    return net.conv(net.node("SpaceToDepth", net.conv("x", 4, 1), blocksize=2, channels=16), 4, 1)


@feature((1, 4, 3, 4))
def tile(net: Network) -> str:
    return net.conv(net.node("Tile", net.conv("x", 4, 1), _integers(net, 1, 2, 1, 3), channels=8), 4, 1)


@feature((1, 4, 5, 6), (1, 2, 5, 6))
def concat_scales(net: Network) -> str:
    return net.node("Concat", net.conv("x0", 4, 1), net.relu(net.conv("x1", 4, 1)), "x1", axis=1)


@feature((1, 5, 6, 3))
def channels_last(net: Network) -> str:
    """A model whose images are NHWC between all operators, as exports from TensorFlow are."""

    def conv(x: str, channels: int) -> str:
        y = net.conv(net.node("Transpose", x, perm=_NCHW, channels=3 if x == "x" else 8), channels)
        return net.node("Transpose", y, perm=_NHWC, channels=channels)

    x = net.node("HardSwish", conv("x", 8))
    y = net.node("Sigmoid", conv(net.relu(conv(x, 8)), 8))
    z = net.node("Concat", net.node("Add", x, y), net.node("Mul", x, y), axis=3)
    return conv(net.node("Slice", z, *(_integers(net, each) for each in (4, 12, 3))), 4)
