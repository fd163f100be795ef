# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms of Resize that torch-mlir does not have, or computes wrongly: a matrix product or a Gather for each dimension.

Positions and weights are those of the definition in the ONNX specification, computed at compile time.
"""

import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .data_movement import attributes_of, become
from .graph_edits import Rewriting

_PLAIN_COORDINATES = (b"asymmetric", b"half_pixel", b"pytorch_half_pixel")
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)
_CUBIC = -0.75


@dataclass(frozen=True)
class _Axis:
    """How a dimension is resampled: sizes, scale, and the part of it that is, as fractions."""

    size: int
    wanted: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def length(self) -> float:
        """What the scale makes of the size, before it is rounded down to a number of elements."""
        length = self.scale * self.size
        return float(self.wanted) if math.isclose(length, self.wanted, rel_tol=1e-6) else length


def rewrite(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Resample one dimension after the other."""
    attributes = attributes_of(node)
    shape, result = rewriting.shape(node.input[0]), rewriting.shape(node.output[0])
    if None in (*shape, *result) or not shape:
        return
    axes = _axes(rewriting, node, attributes, shape, result)
    if axes is None or not _is_taken(attributes, axes):
        return
    nearest = attributes.get("mode", b"nearest") == b"nearest"
    if not nearest and rewriting.type(node.input[0]) not in _FLOATS:
        return
    value, sizes, outside = node.input[0], list(shape), {}
    for axis, described in axes.items():
        positions = _positions(attributes, described)
        if attributes.get("coordinate_transformation_mode") == b"tf_crop_and_resize":
            outside[axis] = (positions < 0) | (positions > described.size - 1)
        if nearest:
            chosen = np.clip(_rounded(attributes, positions), 0, described.size - 1)
            sizes[axis] = described.wanted
            value = rewriting.compute(
                node, "Gather", [value, rewriting.integers(node, chosen.tolist())], sizes, axis=axis
            )
        else:
            value = _multiplied(rewriting, node, value, axis, _weights(attributes, described, positions))
    _finish(rewriting, node, value, outside, attributes.get("extrapolation_value", 0.0))


def _axes(
    rewriting: Rewriting, node: onnx.NodeProto, attributes: dict, shape: tuple[int, ...], result: tuple[int, ...]
) -> dict[int, _Axis] | None:
    """The dimensions that change; None where something is not constant."""
    arrays: list[np.ndarray | None] = []
    for name in [*node.input, "", "", ""][1:4]:
        constant = rewriting.constant(name) if name else None
        if name and constant is None:
            return None
        arrays.append(numpy_helper.to_array(constant) if constant is not None else None)
    roi, scales, sizes = (None if array is None or array.size == 0 else array for array in arrays)
    chosen = [axis % len(shape) for axis in attributes.get("axes", range(len(shape)))]
    policy = attributes.get("keep_aspect_ratio_policy", b"stretch")
    ratios = [float(scales[i]) if scales is not None else sizes[i] / shape[axis] for i, axis in enumerate(chosen)]
    if scales is None and policy != b"stretch":
        ratios = [min(ratios) if policy == b"not_larger" else max(ratios)] * len(ratios)
    crop = attributes.get("coordinate_transformation_mode") == b"tf_crop_and_resize"
    found = {}
    for index, axis in enumerate(chosen):
        part = (float(roi[index]), float(roi[index + len(chosen)])) if crop and roi is not None else (0.0, 1.0)
        if ratios[index] != 1.0 or result[axis] != shape[axis] or part != (0.0, 1.0):
            found[axis] = _Axis(shape[axis], result[axis], ratios[index], *part)
    return found


def _is_taken(attributes: dict, axes: dict[int, _Axis]) -> bool:
    """Whether torch-mlir does not have the form, or another one under its name."""
    coordinates = attributes.get("coordinate_transformation_mode", b"half_pixel")
    mode = attributes.get("mode", b"nearest")
    if mode == b"cubic" or "axes" in attributes or "keep_aspect_ratio_policy" in attributes:
        return True
    if attributes.get("antialias") or attributes.get("exclude_outside"):
        return True
    if coordinates in _PLAIN_COORDINATES:
        return False
    whole = all(axis.length == axis.wanted for axis in axes.values())
    return not (coordinates == b"align_corners" and mode == b"linear" and whole)


def _positions(attributes: dict, axis: _Axis) -> np.ndarray:
    """Where the elements of the result are in the input."""
    places, length = np.arange(axis.wanted, dtype=np.float64), axis.length
    coordinates = attributes.get("coordinate_transformation_mode", b"half_pixel")
    if coordinates == b"align_corners":
        return places * ((axis.size - 1) / (length - 1) if length != 1 else 0.0)
    if coordinates == b"asymmetric":
        return places / axis.scale
    if coordinates == b"tf_crop_and_resize":
        last, extent = axis.size - 1, axis.end - axis.start
        if length == 1:
            return axis.start * last + np.full_like(places, extent * last / 2)
        return axis.start * last + places * extent * last / (length - 1)
    if coordinates == b"pytorch_half_pixel" and length == 1:
        return np.full_like(places, -0.5)
    half = (places + 0.5) / axis.scale - 0.5
    if coordinates == b"half_pixel_symmetric":
        half += axis.size / 2 * (1 - axis.wanted / length)
    return half


def _rounded(attributes: dict, positions: np.ndarray) -> np.ndarray:
    mode = attributes.get("nearest_mode", b"round_prefer_floor")
    if mode == b"floor":
        return np.floor(positions).astype(np.int64)
    if mode == b"ceil":
        return np.ceil(positions).astype(np.int64)
    if mode == b"round_prefer_ceil":
        return np.floor(positions + 0.5).astype(np.int64)
    return np.ceil(positions - 0.5).astype(np.int64)


def _weights(attributes: dict, axis: _Axis, positions: np.ndarray) -> np.ndarray:
    """How much of each element of the input, a row each, is in an element of the result."""
    weights = np.zeros((axis.size, axis.wanted))
    scale = min(axis.scale, 1.0) if attributes.get("antialias") else 1.0
    reach = math.ceil((2 if attributes.get("mode") == b"cubic" else 1) / scale)
    for column, position in enumerate(positions):
        base = math.floor(position)
        taps = np.arange(base - reach, base + reach + 2)
        kernel = _kernel(attributes, (taps - position) * scale)
        if attributes.get("exclude_outside"):
            kernel[(taps < 0) | (taps >= axis.size)] = 0.0
        np.add.at(weights[:, column], np.clip(taps, 0, axis.size - 1), kernel / kernel.sum())
    return weights


def _kernel(attributes: dict, distances: np.ndarray) -> np.ndarray:
    away = np.abs(distances)
    if attributes.get("mode") != b"cubic":
        return np.clip(1 - away, 0, 1)
    a = attributes.get("cubic_coeff_a", _CUBIC)
    near = ((a + 2) * away - (a + 3)) * away**2 + 1
    far = ((away - 5) * away + 8) * away * a - 4 * a
    return np.where(away <= 1, near, np.where(away < 2, far, 0.0))


def _multiplied(rewriting: Rewriting, node: onnx.NodeProto, value: str, axis: int, weights: np.ndarray) -> str:
    """The product with a matrix along a dimension."""
    shape = list(rewriting.shape(value))
    last = len(shape) - 1
    order = [d for d in range(len(shape)) if d != axis] + [axis]
    if axis != last:
        value = rewriting.compute(node, "Transpose", [value], [shape[d] for d in order], perm=order)
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(value))
    matrix = numpy_helper.from_array(weights.astype(dtype), f"{node.name}/weights_{axis}")
    sizes = [*(shape[d] for d in order[:-1]), weights.shape[1]]
    value = rewriting.compute(node, "MatMul", [value, rewriting.add_constant(matrix)], sizes)
    if axis == last:
        return value
    back = np.argsort(order).tolist()
    return rewriting.compute(node, "Transpose", [value], [sizes[d] for d in back], perm=back)


def _finish(
    rewriting: Rewriting, node: onnx.NodeProto, value: str, outside: dict[int, np.ndarray], extrapolated: float
) -> None:
    """What is outside of the input has one value, whatever dimension it is outside in."""
    result = rewriting.shape(node.output[0])
    mask = np.zeros((), bool)
    for axis, places in outside.items():
        mask = mask | places.reshape([-1 if d == axis else 1 for d in range(len(result))])
    if not mask.any():
        become(rewriting, node, "Identity", [value])
        return
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(value))
    names = [
        rewriting.add_constant(numpy_helper.from_array(np.ascontiguousarray(array), f"{node.name}/{what}"))
        for what, array in (("outside", mask), ("extrapolated", np.array(extrapolated, dtype)))
    ]
    become(rewriting, node, "Where", [*names, value])
