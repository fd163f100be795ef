# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations other than those of torq_hl that create and move data, in numpy."""

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, ods

Evaluation = Callable[[list[np.ndarray]], list[np.ndarray]]


def data_movement(operation: ir.Operation) -> Evaluation | None:
    """The numpy function of an operation; None when it has none or has sizes known at run time only.

    The result may be a view of an operand.
    """
    build = _BUILDERS.get(operation.name)
    if build is None or not _is_static(operation):
        return None
    function = build(operation)
    return None if function is None else lambda operands: [function(*operands)]


def _is_static(operation: ir.Operation) -> bool:
    types = [value.type for value in (*operation.operands, *operation.results)]
    return all(type_.has_static_shape for type_ in types if isinstance(type_, ir.RankedTensorType))


def _integers(operation: ir.Operation, name: str) -> tuple[int, ...]:
    return ods.array_values(ir.DenseI64ArrayAttr(operation.attributes[name]))


def _result_type(operation: ir.Operation) -> ir.RankedTensorType:
    return ir.RankedTensorType(operation.results[0].type)


def _empty(operation: ir.Operation) -> Callable[..., np.ndarray]:
    type_ = _result_type(operation)
    shape, dtype = type_.shape, elements.numpy_dtype(type_.element_type)
    return lambda: np.empty(shape, dtype)


def _reshape(operation: ir.Operation) -> Callable[..., np.ndarray]:
    """collapse_shape, expand_shape and reshape: the shape is that of the result type."""
    shape = _result_type(operation).shape
    return lambda source, *_: source.reshape(shape)


def _same(operation: ir.Operation) -> Callable[..., np.ndarray] | None:
    """cast, and copy to a tensor of the same type."""
    same_type = operation.operands[0].type == operation.results[0].type
    return (lambda source, *_: source) if same_type or operation.name == "tensor.cast" else None


def _slices(operation: ir.Operation) -> tuple[slice, ...] | None:
    """The slice of extract_slice or insert_slice; None when parts of it are operands."""
    offsets, sizes, strides = (_integers(operation, f"static_{part}") for part in ("offsets", "sizes", "strides"))
    if any(ir.ShapedType.is_dynamic_size(number) for number in (*offsets, *sizes, *strides)):
        return None
    return tuple(
        slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


def _extract_slice(operation: ir.Operation) -> Callable[..., np.ndarray] | None:
    slices, shape = _slices(operation), _result_type(operation).shape
    return None if slices is None else lambda source: source[slices].reshape(shape)


def _insert_slice(operation: ir.Operation) -> Callable[..., np.ndarray] | None:
    slices = _slices(operation)
    if slices is None:
        return None

    def insert(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        result = destination.copy()
        result[slices] = source.reshape(result[slices].shape)
        return result

    return insert


def _pad(operation: ir.Operation) -> Callable[..., np.ndarray] | None:
    """Padding with one constant, defined outside or inside of the region."""
    low, high = _integers(operation, "static_low"), _integers(operation, "static_high")
    if any(ir.ShapedType.is_dynamic_size(number) for number in (*low, *high)):
        return None
    block = operation.regions[0].blocks[0]
    padding = elements.constant_value(block.operations[len(block.operations) - 1].operands[0])
    if padding is None or min(*low, *high, 0) < 0:
        return None
    widths = tuple(zip(low, high, strict=True))
    return lambda source: np.pad(source, widths, constant_values=padding)


def _concat(operation: ir.Operation) -> Callable[..., np.ndarray]:
    axis = ir.IntegerAttr(operation.attributes["dim"]).value
    return lambda *sources: np.concatenate(sources, axis)


def _splat(operation: ir.Operation) -> Callable[..., np.ndarray]:
    type_ = _result_type(operation)
    shape, dtype = type_.shape, elements.numpy_dtype(type_.element_type)
    return lambda value: np.full(shape, value, dtype)


def _transpose(operation: ir.Operation) -> Callable[..., np.ndarray]:
    permutation = _integers(operation, "permutation")
    return lambda source, _: source.transpose(permutation)


def _broadcast(operation: ir.Operation) -> Callable[..., np.ndarray]:
    dimensions, shape = _integers(operation, "dimensions"), _result_type(operation).shape
    return lambda source, _: np.broadcast_to(np.expand_dims(source, dimensions), shape)


def _fill(operation: ir.Operation) -> Callable[..., np.ndarray]:
    type_ = _result_type(operation)
    shape, dtype = type_.shape, elements.numpy_dtype(type_.element_type)
    return lambda value, _: np.full(shape, value, dtype)


_BUILDERS: dict[str, Callable[[ir.Operation], Callable[..., np.ndarray] | None]] = {
    "linalg.broadcast": _broadcast,
    "linalg.copy": _same,
    "linalg.fill": _fill,
    "linalg.transpose": _transpose,
    "tensor.cast": _same,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.empty": _empty,
    "tensor.expand_shape": _reshape,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}
