# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes, permutations, slices, padding, repetition and concatenation."""

import math
from collections.abc import Callable

import numpy as np

from e2e.random_graphs.builder import Builder
from e2e.random_graphs.elementwise import RANKS
from e2e.random_graphs.exclusions import coordinates_lower
from e2e.random_graphs.qparams import Computed


def movement(b: Builder) -> Computed:
    """One movement of a tensor, or several in a row."""
    x = b.source(*RANKS)
    y = b.pick(_MOVEMENTS)(b, b.dequantize(x))
    while b.one_in(4):
        y = b.pick(_MOVEMENTS)(b, y)
    return Computed(y, float(x.qparams.scale), 0.0, [x.qparams] * 3)


def concatenation(b: Builder) -> Computed:
    x = b.source(*RANKS)
    axis = b.integer(0, len(x.shape) - 1)
    tensors = [x]
    for _ in range(b.integer(1, 2)):
        size = x.shape[axis] if b.one_in(2) else b.integer(1, 4)
        tensors.append(b.operand((*x.shape[:axis], size, *x.shape[axis + 1 :])))
    axis = axis - len(x.shape) if b.one_in(3) else axis
    y = b.node("Concat", *(b.dequantize(tensor) for tensor in tensors), axis=axis)
    return Computed(y, float(x.qparams.scale), 0.0, [tensor.qparams for tensor in tensors])


def _integers(b: Builder, *values: int) -> str:
    return b.constant(np.array(values, np.int64))


def _reshape(b: Builder, x: str) -> str:
    """Dimensions in other groups, one of them possibly left to be inferred or copied."""
    shape = b.real[x].shape
    rest, sizes = math.prod(shape), []
    while rest > 1 and len(sizes) < 3 and b.one_in(2):
        sizes.append(b.pick([divisor for divisor in range(1, rest + 1) if rest % divisor == 0]))
        rest //= sizes[-1]
    sizes.insert(b.integer(0, len(sizes)), rest)
    if b.one_in(3):
        sizes[b.integer(0, len(sizes) - 1)] = -1
    elif sizes[0] == shape[0] and b.one_in(2):
        sizes[0] = 0
    return b.node("Reshape", x, _integers(b, *sizes))


def _flatten(b: Builder, x: str) -> str:
    return b.node("Flatten", x, axis=b.pick((1, *range(b.real[x].ndim + 1))))


def _transpose(b: Builder, x: str) -> str:
    return b.node("Transpose", x, perm=b.permutation(b.real[x].ndim))


def _slice(b: Builder, x: str) -> str:
    shape = b.real[x].shape
    axes = sorted(b.permutation(len(shape))[: b.integer(1, len(shape))])
    starts, ends, steps = [], [], []
    for axis in axes:
        start = b.integer(0, shape[axis] - 1)
        end = b.integer(start + 1, shape[axis])
        negative = b.one_in(4)
        starts.append(start - shape[axis] if negative else start)
        ends.append(2**31 if end == shape[axis] else end - shape[axis] if negative else end)
        steps.append(b.pick((1, 1, 1, 2, 3)))
        if b.one_in(6):  # backwards, from the last element that is taken
            starts[-1], ends[-1], steps[-1] = end - 1, start - 1 - shape[axis], -steps[-1]
    arguments = [_integers(b, *starts), _integers(b, *ends), _integers(b, *axes)]
    if set(steps) != {1} or b.one_in(2):
        arguments.append(_integers(b, *steps))
    return b.node("Slice", x, *arguments)


def _pad(b: Builder, x: str) -> str:
    shape = b.real[x].shape
    mode = b.pick(("constant", "constant", "constant", "edge", "reflect", "wrap"))
    axes = range(len(shape)) if b.one_in(2) else range(max(0, len(shape) - 2), len(shape))
    amounts = [0] * 2 * len(shape)
    for axis in axes:
        most = 2 if mode == "constant" else min(2, shape[axis] - 1)
        crop = 1 if shape[axis] > 2 and mode == "constant" and b.one_in(6) else 0
        amounts[axis], amounts[axis + len(shape)] = b.integer(-crop, most), b.integer(0, most)
    inputs = [x, _integers(b, *amounts)]
    if mode == "constant" and b.one_in(2):
        inputs.append(b.constant(np.float32(b.pick((0.0, float(b.real[x].flat[0]), 1.0)))))
    return b.node("Pad", *inputs, mode=mode)


def _expand(b: Builder, x: str) -> str:
    shape = [b.integer(1, 3) if size == 1 else size for size in b.real[x].shape]
    if len(shape) < 5 and b.one_in(3):
        shape.insert(0, b.integer(1, 3))
    return b.node("Expand", x, _integers(b, *shape))


def _squeeze(b: Builder, x: str) -> str:
    axes = [axis for axis, size in enumerate(b.real[x].shape) if size == 1]
    if not axes or len(axes) == b.real[x].ndim:
        return _unsqueeze(b, x)
    return b.node("Squeeze", x, _integers(b, *axes[: b.integer(1, len(axes))]))


def _unsqueeze(b: Builder, x: str) -> str:
    rank = b.real[x].ndim
    if rank > 4:
        return x
    return b.node("Unsqueeze", x, _integers(b, b.integer(-rank - 1, rank)))


def _gather(b: Builder, x: str) -> str:
    shape = b.real[x].shape
    axis = b.integer(0, len(shape) - 1)
    indices = b.rng.integers(-shape[axis], shape[axis], [b.integer(1, 4) for _ in range(b.pick((1, 1, 2)))])
    if len(shape) + indices.ndim > 6:
        return x
    axis = axis - len(shape) if b.one_in(3) else axis
    return b.node("Gather", x, b.constant(indices.astype(b.pick((np.int64, np.int32)))), axis=axis)


def _tile(b: Builder, x: str) -> str:
    return b.node("Tile", x, _integers(b, *(b.pick((1, 1, 2)) for _ in b.real[x].shape)))


def _depth_to_space(b: Builder, x: str) -> str:
    return b.node("DepthToSpace", x, blocksize=2, mode=b.pick(("DCR", "CRD")))


def _space_to_depth(b: Builder, x: str) -> str:
    shape = b.real[x].shape
    factors = [block for block in (2, 3, 1) if shape[2] % block == shape[3] % block == 0]
    return b.node("SpaceToDepth", x, blocksize=factors[0])


_MOVEMENTS: tuple[Callable[[Builder, str], str], ...] = (
    _reshape,
    _transpose,
    _slice,
    _pad,
    _expand,
    _flatten,
    _squeeze,
    _unsqueeze,
    _gather,
    _tile,
)


def resize(b: Builder) -> Computed:
    """Of an image, to a multiple of the size or to any other."""
    x = b.source(4)
    mode = b.pick(("nearest", "linear"))
    coordinates = b.pick(("half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"))
    if not coordinates_lower(mode, coordinates):
        coordinates = "half_pixel"
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest" and coordinates == "asymmetric":
        attributes["nearest_mode"] = "floor"
    if b.one_in(3):
        sizes = [*x.shape[:2], b.integer(1, 9), b.integer(1, 9)]
        y = b.node("Resize", b.dequantize(x), "", "", _integers(b, *sizes), **attributes)
    else:
        factor = b.integer(1, 3)
        scales = np.array([1, 1, factor, b.integer(1, 3) if b.one_in(3) else factor], np.float32)
        y = b.node("Resize", b.dequantize(x), "", b.constant(scales), **attributes)
    return Computed(y, float(x.qparams.scale), 0.0, [x.qparams] * 3)


def blocks(b: Builder) -> Computed:
    """Channels of an image to blocks of pixels, or back."""
    x = b.source(4)
    if x.shape[1] % 4:
        x = b.input((x.shape[0], 4 * b.integer(1, 3), b.integer(1, 4), b.integer(1, 4)))
    shuffle = b.pick((_depth_to_space, _depth_to_space, _space_to_depth))
    return Computed(shuffle(b, b.dequantize(x)), float(x.qparams.scale), 0.0, [x.qparams] * 3)


def image(b: Builder) -> Computed:
    return b.pick((resize, blocks))(b)


OPERATIONS = (movement, movement, concatenation, image)
