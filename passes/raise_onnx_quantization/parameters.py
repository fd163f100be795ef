# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales and zero points of a node, checked, and the quantize and dequantize operations that have them."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, quantized_decomposed

from .nodes import Node, create_constant

_SCALE_TYPES = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True)
class Parameters:
    """Constant quantization parameters.

    Attributes:
      scale: 0-d, or 1-d along `axis`.
      zero_point: of the same shape, and of the numpy dtype of `storage`.
      scale_type: element type of `scale`.
      storage: integer type, with its sign, of the quantized values.
      axis: channel axis, not negative; None when per tensor.
    """

    scale: np.ndarray
    zero_point: np.ndarray
    scale_type: ir.Type
    storage: ir.IntegerType
    axis: int | None

    def dequantize(self, value: ir.Value) -> ir.Value:
        """Dequantize to the type of the scale, at the current insertion point."""
        arguments = dict(zip(("quant_min", "quant_max"), storage_range(self.storage), strict=True), dtype=self.storage)
        arguments["result_element_type"] = self.scale_type
        if self.axis is None:
            return quantized_decomposed.dequantize_per_tensor(value, *self._constants(), **arguments)
        return quantized_decomposed.dequantize_per_channel(value, *self._constants(), axis=self.axis, **arguments)

    def quantize(self, value: ir.Value) -> ir.Value:
        """Quantize with a division by the scale, as ONNX does, at the current insertion point."""
        arguments = dict(zip(("quant_min", "quant_max"), storage_range(self.storage), strict=True), dtype=self.storage)
        arguments["divide"] = True
        if self.axis is None:
            return quantized_decomposed.quantize_per_tensor(value, *self._constants(), **arguments)
        return quantized_decomposed.quantize_per_channel(value, *self._constants(), axis=self.axis, **arguments)

    def _constants(self) -> tuple[ir.Value, ir.Value]:
        return create_constant(self.scale, self.scale_type), create_constant(self.zero_point, self.storage)


def storage_range(storage: ir.IntegerType) -> tuple[int, int]:
    """The least and the greatest value of an integer type that has a sign."""
    if storage.is_unsigned:
        return 0, (1 << storage.width) - 1
    return -(1 << (storage.width - 1)), (1 << (storage.width - 1)) - 1


def read_parameters(
    node: Node,
    scale: ir.Value | None,
    zero_point: ir.Value | None,
    storage: ir.Type,
    shape: tuple[int | None, ...],
    axis: int | None,
    what: str = "",
) -> Parameters:
    """The parameters of a tensor of `shape`, stored as `storage`.

    One scale, 0-d or 1-d, is per tensor; several run along `axis`, which may be negative.

    Args:
      what: the tensor, in the words of an error message; "" for a node that has only one.

    Raises:
      PassFailure: a parameter is not constant or does not fit; the error has been emitted.
    """
    subject = f"of {what} " if what else ""
    if not isinstance(storage, ir.IntegerType) or storage.is_signless:
        raise node.failure(
            f"{what or 'the quantized tensor'} has element type {storage}, which is not a quantized type"
        )
    if scale is None:
        raise node.failure(f"the scale {subject}is missing")
    scale_type = node.tensor(scale, f"the scale {subject}").element_type
    scales = elements.constant_value(scale)
    if scales is None:
        raise node.failure(f"the scale {subject}is not constant")
    if str(scale_type) not in _SCALE_TYPES:
        raise node.failure(f"the scale {subject}has element type {scale_type}; a float type is needed")
    zero_points = _read_zero_point(node, zero_point, storage, subject)
    if scales.size == 1:
        if zero_points.size != 1:
            raise node.failure(f"there are {zero_points.size} zero points for one scale {subject}".rstrip())
        return Parameters(scales.reshape(()), zero_points.reshape(()), scale_type, storage, None)
    axis = _channel_axis(node, scales, shape, axis, subject)
    if zero_points.size not in (1, scales.size):
        raise node.failure(f"there are {zero_points.size} zero points for {scales.size} scales {subject}".rstrip())
    zero_points = np.ascontiguousarray(np.broadcast_to(zero_points.reshape(-1), (scales.size,)))
    return Parameters(scales.reshape(-1), zero_points, scale_type, storage, axis)


def _read_zero_point(node: Node, zero_point: ir.Value | None, storage: ir.IntegerType, subject: str) -> np.ndarray:
    if zero_point is None:
        return np.zeros((), elements.numpy_dtype(storage))
    element_type = node.tensor(zero_point, f"the zero point {subject}").element_type
    if element_type != storage:
        raise node.failure(f"the zero point {subject}has element type {element_type}; {storage} is needed")
    zero_points = elements.constant_value(zero_point)
    if zero_points is None:
        raise node.failure(f"the zero point {subject}is not constant")
    return zero_points


def _channel_axis(node: Node, scales: np.ndarray, shape: tuple[int | None, ...], axis: int | None, subject: str) -> int:
    """The axis that several scales run along; parameters of the tensor's rank show it themselves."""
    if axis is None:
        raise node.failure(f"there are {scales.size} scales {subject}where the operator takes one")
    if not -len(shape) <= axis < len(shape):
        raise node.failure(f"the axis {axis} is out of range for {len(shape)} dimensions")
    if scales.ndim > 1:
        varying = [d for d, size in enumerate(scales.shape) if size > 1]
        if scales.ndim != len(shape) or len(varying) != 1:
            raise node.failure(f"scales {subject}of shape {list(scales.shape)} are neither per tensor nor per channel")
        axis = varying[0]
    axis %= len(shape)
    if shape[axis] is not None and shape[axis] != scales.size:
        raise node.failure(f"there are {scales.size} scales {subject}for dimension {axis} of size {shape[axis]}")
    return axis
