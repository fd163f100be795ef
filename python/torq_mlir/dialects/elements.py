# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor constants between MLIR attributes and numpy, through buffers."""

import ctypes
import functools
import math
import re
from pathlib import Path

import ml_dtypes
import numpy as np
from torch_mlir import _mlir_libs, ir


class ElidedResource(TypeError):
    """A resource that a constant refers to is not in the module."""


_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}


def numpy_dtype(element_type: ir.Type) -> np.dtype:
    """The numpy dtype that stores `element_type`: signless integers are signed, sub-byte integers take a byte."""
    if isinstance(element_type, ir.IntegerType):
        if element_type.width == 1:
            return np.dtype(np.bool_)
        width = max(8, element_type.width)
        return np.dtype(f"{'u' if element_type.is_unsigned else ''}int{width}")
    if isinstance(element_type, ir.IndexType):
        return np.dtype(np.int64)
    try:
        return np.dtype(_FLOATS[str(element_type)])
    except KeyError:
        raise TypeError(f"no numpy dtype for element type {element_type}") from None


def element_type(dtype: np.dtype) -> ir.Type:
    """The signless MLIR element type of a numpy dtype."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return ir.IntegerType.get_signless(1)
    if dtype.kind in "iu":
        return ir.IntegerType.get_signless(dtype.itemsize * 8)
    for name, known in _FLOATS.items():
        if dtype == known:
            return ir.Type.parse(name)
    raise TypeError(f"no MLIR element type for dtype {dtype}")


def from_numpy(array: np.ndarray, element: ir.Type | None = None) -> ir.DenseElementsAttr:
    """A constant of `array`; a splat when all its elements are equal.

    Args:
      array: values, of the dtype that stores `element`.
      element: element type; the signless type of the dtype when omitted.
    """
    array = np.asarray(array)
    element = element or element_type(array.dtype)
    tensor_type = ir.RankedTensorType.get(array.shape, element)
    buffer = np.ascontiguousarray(array)
    if buffer.size == 1:  # get() takes the shape of the buffer for its own when there is one element
        buffer = buffer.reshape(1)
    if buffer.dtype == ml_dtypes.bfloat16:
        buffer = buffer.view(np.uint16)
    return ir.DenseElementsAttr.get(buffer, type=tensor_type)


def to_numpy(attribute: ir.Attribute) -> np.ndarray:
    """The values of a dense or dense_resource elements attribute, in the shape and dtype of its type.

    The array is a read-only view where the attribute exposes its buffer, which it keeps alive.

    Raises:
      TypeError: the attribute is not a tensor constant, or its resource has no data (it was elided).
    """
    if isinstance(attribute, ir.DenseElementsAttr):
        element = ir.ShapedType(attribute.type).element_type
        if isinstance(element, ir.BF16Type) or (isinstance(element, ir.IntegerType) and 1 < element.width < 8):
            return _raw_data(attribute)
        return np.asarray(attribute)
    if str(attribute).startswith("dense_resource<"):
        return _resource(attribute)
    raise TypeError(f"not a tensor constant: {attribute}")


def _raw_data(attribute: ir.DenseElementsAttr) -> np.ndarray:
    """Element types without a buffer format (bf16, i4), through MLIR's C API."""
    tensor_type = ir.RankedTensorType(attribute.type)
    dtype = numpy_dtype(tensor_type.element_type)
    shape = tuple(tensor_type.shape)
    count = 1 if attribute.is_splat else math.prod(shape)
    get_raw_data = _c_api().mlirDenseElementsAttrGetRawData
    get_raw_data.restype, get_raw_data.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer = get_raw_data(get_pointer(attribute._CAPIPtr, b"torch_mlir.ir.Attribute._CAPIPtr"))
    values = np.frombuffer(ctypes.string_at(pointer, count * dtype.itemsize), dtype=dtype)
    if dtype == np.int8:  # stored zero-extended
        unused = 8 - tensor_type.element_type.width
        values = values << unused >> unused
    return np.broadcast_to(values.reshape(()), shape) if attribute.is_splat else values.reshape(shape)


@functools.cache
def _c_api() -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(_mlir_libs.__file__).with_name("libTorchMLIRAggregateCAPI.so")))


def _resource(attribute: ir.Attribute) -> np.ndarray:
    """The bindings give no access to the blob of a resource; its printed form is the one way to the bytes."""
    tensor_type = ir.RankedTensorType(attribute.type)
    holder = ir.Module.create(ir.Location.unknown(attribute.context))  # which no insertion point takes in
    holder.operation.attributes["value"] = attribute
    match = re.search(r'"0x([0-9A-Fa-f]*)"', holder.operation.get_asm(large_elements_limit=None))
    if match is None:
        raise ElidedResource(f"{attribute}: the resource has no data; it was elided when the module was printed")
    blob = bytes.fromhex(match.group(1))[4:]  # the first four bytes are the alignment
    dtype = numpy_dtype(tensor_type.element_type)
    values = np.frombuffer(blob, dtype=dtype)
    return values.reshape(tensor_type.shape)


def torch_literal(value: ir.DenseElementsAttr, type_: ir.Type) -> ir.Value:
    """A constant `!torch.vtensor`, at the current insertion point."""
    return ir.Operation.create("torch.vtensor.literal", [type_], attributes={"value": value}).result


def constant_value(value: ir.Value) -> np.ndarray | None:
    """The constant that defines `value`, if one does: of arith, tosa, stablehlo, torch.vtensor.literal, onnx.Constant.

    A narrower float of a constant is one too: MLIR does not fold arith.truncf where it rounds. An elided resource has
    no value.
    """
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    operation = owner.operation
    name = operation.name
    if name in ("arith.constant", "stablehlo.constant", "torch.vtensor.literal"):
        attribute = operation.attributes["value"]
    elif name == "tosa.const":
        attribute = operation.attributes["values"]
    elif name == "arith.truncf":
        wide = constant_value(operation.operands[0])
        with np.errstate(over="ignore"):
            return None if wide is None else wide.astype(numpy_dtype(value.type))
    elif name == "torch.operator" and "torch.onnx.value" in operation.attributes:
        attribute = operation.attributes["torch.onnx.value"]
    else:
        return None
    if isinstance(attribute, ir.IntegerAttr | ir.BoolAttr):
        return np.asarray(attribute.value)
    if isinstance(attribute, ir.FloatAttr):
        return np.asarray(attribute.value, dtype=numpy_dtype(attribute.type))
    try:
        return to_numpy(attribute)
    except ElidedResource:
        return None
