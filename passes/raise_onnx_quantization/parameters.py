# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales and zero points of a node, checked, and the quantize and dequantize operations that have them."""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, quantized_decomposed, tensor_types

from .nodes import Node, TorchTensor, create_constant, create_node, reshape

_SCALE_TYPES = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True)
class Parameters:
    """Quantization parameters; arrays where they are constant.

    Attributes:
      scale: 1-d along `axis`, of the rank of the tensor with a `group_size`, or of one element when `axis` is None.
      zero_point: of the same shape, and of the numpy dtype of `storage`.
      scale_type: element type of `scale`.
      storage: integer type, with its sign, of the quantized values.
      axis: channel axis, not negative; None when per tensor.
      group_size: elements along `axis` that share a parameter; None when each has its own.
    """

    scale: np.ndarray | ir.Value
    zero_point: np.ndarray | ir.Value
    scale_type: ir.Type
    storage: ir.IntegerType
    axis: int | None
    group_size: int | None = None

    def dequantize(self, value: ir.Value, result_type: ir.Type | None = None) -> ir.Value:
        """Dequantize to `result_type`, the type of the scale when omitted, at the current insertion point."""
        arguments = {"result_element_type": result_type or self.scale_type}
        return self._apply("dequantize", value, arguments)

    def quantize(self, value: ir.Value) -> ir.Value:
        """Quantize with a division by the scale, as ONNX does, at the current insertion point."""
        return self._apply("quantize", value, {"divide": True})

    def _apply(self, direction: str, value: ir.Value, arguments: dict[str, object]) -> ir.Value:
        arguments |= dict(zip(("quant_min", "quant_max"), storage_range(self.storage), strict=True), dtype=self.storage)
        granularity = "per_tensor"
        if self.axis is not None:
            arguments["axis"] = self.axis
            granularity = "per_channel"
        if self.group_size is not None:
            arguments["group_size"] = self.group_size
            granularity = "per_channel_group"
        build = getattr(quantized_decomposed, f"{direction}_{granularity}")
        return build(value, self.scale_value(), _value(self.zero_point, self.storage), **arguments)

    def scale_value(self) -> ir.Value:
        """The scale as a value, at the current insertion point."""
        return _value(self.scale, self.scale_type)


def _value(parameter: np.ndarray | ir.Value, element_type: ir.Type) -> ir.Value:
    return parameter if isinstance(parameter, ir.Value) else create_constant(parameter, element_type)


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
    block_size: int = 0,
) -> Parameters:
    """The parameters of a tensor of `shape`, stored as `storage`.

    One scale, 0-d or 1-d, is per tensor; several run along `axis`, which may be negative.

    Args:
      what: the tensor, in the words of an error message; "" for a node that has only one.
      block_size: elements along `axis` that share a scale, which is of the rank of the tensor then; 0 for no blocks.

    Raises:
      PassFailure: a parameter does not fit; the error has been emitted.
    """
    subject = f"of {what} " if what else ""
    if not isinstance(storage, ir.IntegerType) or storage.is_signless:
        raise node.failure(
            f"{what or 'the quantized tensor'} has element type {storage}, which is not a quantized type"
        )
    if scale is None:
        raise node.failure(f"the scale {subject}is missing")
    scales = node.tensor(scale, f"the scale {subject}".rstrip())
    if str(scales.element_type) not in _SCALE_TYPES:
        raise node.failure(f"the scale {subject}has element type {scales.element_type}; a float type is needed")
    count = _count(node, scales, f"the scale {subject}".rstrip())
    _check_zero_point(node, zero_point, storage, subject)
    if block_size:
        group_axis = _block_axis(node, scales, shape, axis, block_size, subject)
        parameter_shape, axis, group_size = scales.shape, group_axis, block_size
    elif count == 1:
        parameter_shape, axis, group_size = (), None, None
    else:
        axis = _channel_axis(node, scales, shape, axis, subject)
        parameter_shape, group_size = (count,), None
    return Parameters(
        _read(scale, parameter_shape, elements.numpy_dtype(scales.element_type)),
        _read_zero_point(node, zero_point, storage, parameter_shape, subject),
        scales.element_type,
        storage,
        axis,
        group_size,
    )


def _count(node: Node, tensor: TorchTensor, subject: str) -> int:
    if None in tensor.shape:
        raise node.failure(f"the number of elements of {subject} is not known")
    return math.prod(tensor.shape)


def _read(value: ir.Value, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | ir.Value:
    """The parameter in `shape`, which one element is repeated for."""
    constant = elements.constant_value(value)
    if constant is not None:
        broadcast = constant.reshape(()) if constant.size == 1 else constant.reshape(shape)
        return np.ascontiguousarray(np.broadcast_to(broadcast, shape), dtype).reshape(shape)
    actual = tensor_types.shape(value.type)
    if actual == shape or (not shape and actual == (1,)):
        return value
    if math.prod(actual) == math.prod(shape):
        return reshape(value, shape)
    sizes = create_constant(np.array(shape, np.int64), ir.IntegerType.get_signed(64))
    result = tensor_types.torch_tensor(shape, tensor_types.element_type(value.type))
    return create_node("Expand", [reshape(value, (1,) * len(shape)), sizes], result)


def _check_zero_point(node: Node, zero_point: ir.Value | None, storage: ir.IntegerType, subject: str) -> None:
    if zero_point is None:
        return
    element_type = node.tensor(zero_point, f"the zero point {subject}".rstrip()).element_type
    if element_type != storage:
        raise node.failure(f"the zero point {subject}has element type {element_type}; {storage} is needed")


def _read_zero_point(
    node: Node, zero_point: ir.Value | None, storage: ir.IntegerType, shape: tuple[int, ...], subject: str
) -> np.ndarray | ir.Value:
    dtype = elements.numpy_dtype(storage)
    if zero_point is None:
        return np.zeros(shape, dtype)
    tensor = node.tensor(zero_point, f"the zero point {subject}".rstrip())
    count = _count(node, tensor, f"the zero point {subject}".rstrip())
    wanted = math.prod(shape)
    if wanted == 1 and count != 1:
        raise node.failure(f"there are {count} zero points for one scale {subject}".rstrip())
    if count not in (1, wanted):
        raise node.failure(f"there are {count} zero points for {wanted} scales {subject}".rstrip())
    return _read(zero_point, shape, dtype)


def _channel_axis(
    node: Node, scales: TorchTensor, shape: tuple[int | None, ...], axis: int | None, subject: str
) -> int:
    """The axis that several scales run along; parameters of the tensor's rank show it themselves."""
    count = math.prod(scales.shape)
    if axis is None:
        raise node.failure(f"there are {count} scales {subject}where the operator takes one")
    axis = _dimension(node, axis, shape)
    if len(scales.shape) > 1:
        varying = [d for d, size in enumerate(scales.shape) if size > 1]
        if len(scales.shape) != len(shape) or len(varying) != 1:
            raise node.failure(f"scales {subject}of shape {list(scales.shape)} are neither per tensor nor per channel")
        axis = varying[0]
    if shape[axis] is not None and shape[axis] != count:
        raise node.failure(f"there are {count} scales {subject}for dimension {axis} of size {shape[axis]}")
    return axis


def _dimension(node: Node, axis: int, shape: tuple[int | None, ...]) -> int:
    if not -len(shape) <= axis < len(shape):
        raise node.failure(f"the axis {axis} is out of range for {len(shape)} dimensions")
    return axis % len(shape)


def _block_axis(
    node: Node, scales: TorchTensor, shape: tuple[int | None, ...], axis: int | None, block_size: int, subject: str
) -> int:
    axis = _dimension(node, axis, shape)
    size = shape[axis]
    if block_size < 0 or size is None or (size > block_size and size % block_size):
        raise node.failure(f"blocks of {block_size} elements do not divide dimension {axis} of size {size}")
    wanted = (*shape[:axis], -(-size // block_size), *shape[axis + 1 :])
    if scales.shape != wanted:
        raise node.failure(
            f"scales {subject}of shape {list(scales.shape)} do not fit blocks of {block_size}: {list(wanted)} is needed"
        )
    return axis
