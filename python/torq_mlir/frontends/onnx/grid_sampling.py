# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GridSample as weighted sums of gathered elements: torch-mlir reads beyond the input, and rounds the other way.

What is sampled is described by taps: along each dimension, elements and their weights. Their products over the
dimensions are the elements and weights of a position.
"""

import itertools
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from torq_mlir.errors import ModelError

from .data_movement import attributes_of, become
from .graph_edits import Rewriting
from .naming import describe

_CUBIC = -0.75
_LINEAR = (b"linear", b"bilinear")
_CUBICS = (b"cubic", b"bicubic")


def rewrite(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Sums over the taps of all dimensions.

    Raises:
      ModelError: a shape is not static, or the values are no floats.
    """
    shapes = [rewriting.shape(name) for name in node.input]
    kind = rewriting.type(node.input[0])
    if None in (*shapes[0], *shapes[1]) or kind not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise ModelError(f"{describe(node)}: only static shapes of floats can be lowered")
    _Sampler(rewriting, node).build()


class _Sampler:
    def __init__(self, rewriting: Rewriting, node: onnx.NodeProto) -> None:
        self._rewriting, self._node = rewriting, node
        attributes = attributes_of(node)
        self._mode = attributes.get("mode", b"linear")
        self._padding = attributes.get("padding_mode", b"zeros")
        self._aligned = bool(attributes.get("align_corners", 0))
        self._batch, self._channels, *self._sizes = rewriting.shape(node.input[0])
        self._grid = rewriting.shape(node.input[1])
        self._count = math.prod(self._grid[1:-1])
        self._kind = rewriting.type(node.input[0])
        self._dtype = helper.tensor_dtype_to_np_dtype(self._kind)

    def _constant(self, value: float) -> str:
        array = np.array(value, self._dtype)
        name = f"torq_mlir/{self._dtype}/{float(value).hex()}"
        return self._rewriting.add_constant(numpy_helper.from_array(array, name))

    def _op(self, op_type: str, *inputs: str | float, kind: int | None = None, **attributes: int) -> str:
        """An elementwise operator on values of positions, `[batch, count]`."""
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        shape = [self._batch, self._count]
        return self._rewriting.compute(self._node, op_type, names, shape, element_type=kind or self._kind, **attributes)

    def build(self) -> None:
        rewriting, node = self._rewriting, self._node
        flat = rewriting.reshape(node, node.input[0], [self._batch, self._channels, math.prod(self._sizes)])
        taps = [self._taps(axis) for axis in range(len(self._sizes))]
        total = None
        for combination in itertools.product(*taps):
            position, weight = self._combined(combination)
            value = self._weighted(self._gathered(flat, position), weight)
            shape = [self._batch, self._channels, self._count]
            total = value if total is None else rewriting.compute(node, "Add", [total, value], shape)
        become(rewriting, node, "Reshape", [total, rewriting.integers(node, rewriting.shape(node.output[0]))])

    def _taps(self, axis: int) -> list[tuple[str, str | None]]:
        """Elements, as numbers of type float within the input, and their weights; None is a weight of 1."""
        size = self._sizes[axis]
        place = self._placed(axis, size)
        if self._mode == b"nearest":
            return [self._inside(self._padded(self._op("Round", place), size), size, None)]
        if self._mode in _LINEAR:
            place = self._padded(place, size)
        base = self._op("Floor", place)
        fraction = self._op("Sub", place, base)
        if self._mode in _LINEAR:
            weights = [self._op("Sub", 1.0, fraction), fraction]
            first = 0
        elif self._mode in _CUBICS:
            distances = [self._op("Add", fraction, 1.0), fraction]
            rest = self._op("Sub", 1.0, fraction)
            distances += [rest, self._op("Add", rest, 1.0)]
            weights = [self._cubic(each, index in (0, 3)) for index, each in enumerate(distances)]
            first = -1
        else:
            raise ModelError(f"{describe(self._node)}: there is no mode {self._mode.decode()!r}")
        elements = [self._op("Add", base, float(first + index)) for index in range(len(weights))]
        return [self._inside(e, size, weight) for e, weight in zip(elements, weights, strict=True)]

    def _placed(self, axis: int, size: int) -> str:
        """Where a coordinate of the grid, between -1 and 1, is; the last coordinate is that of the first dimension."""
        index = np.array(len(self._sizes) - 1 - axis, np.int64)
        name = self._rewriting.add_constant(numpy_helper.from_array(index, f"torq_mlir/coordinate/{index}"))
        picked = self._rewriting.compute(self._node, "Gather", [self._node.input[1], name], self._grid[:-1], axis=-1)
        if self._rewriting.type(picked) != self._kind:
            picked = self._rewriting.compute(
                self._node, "Cast", [picked], self._grid[:-1], element_type=self._kind, to=self._kind
            )
        flat = self._rewriting.reshape(self._node, picked, [self._batch, self._count])
        shifted = self._op("Add", flat, 1.0)
        if self._aligned:
            return self._op("Mul", self._op("Div", shifted, 2.0), float(size - 1))
        return self._op("Div", self._op("Sub", self._op("Mul", shifted, float(size)), 1.0), 2.0)

    def _padded(self, place: str, size: int) -> str:
        """A place that is moved into the input; with zeros around it, it stays where it is."""
        if self._padding == b"border":
            return self._clamped(place, size)
        if self._padding == b"reflection":
            return self._reflected(place, size)
        return place

    def _clamped(self, place: str, size: int) -> str:
        return self._op("Max", self._op("Min", place, float(size - 1)), 0.0)

    def _reflected(self, place: str, size: int) -> str:
        """At the first and last element, or at their outer edges where corners are not aligned."""
        low, high = (0.0, size - 1.0) if self._aligned else (-0.5, size - 0.5)
        extent = high - low
        if extent == 0:
            return self._op("Mul", place, 0.0)
        away = self._op("Abs", self._op("Sub", place, low))
        rounds = self._op("Floor", self._op("Div", away, 2 * extent))
        rest = self._op("Sub", away, self._op("Mul", rounds, 2 * extent))
        nearer = self._op("Min", rest, self._op("Sub", 2 * extent, rest))
        return self._op("Add", nearer, low)

    def _inside(self, element: str, size: int, weight: str | None) -> tuple[str, str | None]:
        """An element that can be read, and its weight, which is 0 for one that there is not."""
        if self._padding != b"zeros":
            return self._clamped(self._padded(element, size), size), weight
        inside = self._clamped(element, size)
        exists = self._op("Cast", self._op("Equal", element, inside, kind=TensorProto.BOOL), to=self._kind)
        return inside, exists if weight is None else self._op("Mul", weight, exists)

    def _cubic(self, distance: str, is_far: bool) -> str:
        a = _CUBIC
        coefficients = (a, -5 * a, 8 * a, -4 * a) if is_far else (a + 2, -(a + 3), 0.0, 1.0)
        value: str | float = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self._op("Add", self._op("Mul", distance, value), float(coefficient))
        return value

    def _combined(self, taps: tuple[tuple[str, str | None], ...]) -> tuple[str, str | None]:
        """The position among all elements, and the product of the weights."""
        position, weight = taps[0]
        for size, (element, factor) in zip(self._sizes[1:], taps[1:], strict=True):
            position = self._op("Add", self._op("Mul", position, float(size)), element)
            if factor is not None:
                weight = factor if weight is None else self._op("Mul", weight, factor)
        return position, weight

    def _gathered(self, flat: str, position: str) -> str:
        rewriting, node = self._rewriting, self._node
        shape = [self._batch, self._channels, self._count]
        index = self._op("Cast", position, kind=TensorProto.INT64, to=TensorProto.INT64)
        index = rewriting.reshape(node, index, [self._batch, 1, self._count])
        index = rewriting.compute(node, "Expand", [index, rewriting.integers(node, shape)], shape)
        return rewriting.compute(node, "GatherElements", [flat, index], shape, axis=2)

    def _weighted(self, value: str, weight: str | None) -> str:
        if weight is None:
            return value
        spread = self._rewriting.reshape(self._node, weight, [self._batch, 1, self._count])
        return self._rewriting.compute(self._node, "Mul", [value, spread], self._rewriting.shape(value))
