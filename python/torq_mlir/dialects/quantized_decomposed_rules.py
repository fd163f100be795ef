# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of quantized_decomposed operations that hold across operands, attributes and the result.

A rule takes operands by name, attributes as Python values by name, and the result; it raises InvalidOperationError.
"""

from collections.abc import Mapping
from typing import Any

from torch_mlir import ir

from torq_mlir.dialects import tensor_types
from torq_mlir.dialects.ods import InvalidOperationError
from torq_mlir.dialects.tensor_types import TensorInfo

Operands = Mapping[str, Any]
Attributes = Mapping[str, Any]


def one_level(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Input and result are builtin tensors, or both are torch tensors."""
    if operands["input"].is_torch != result.is_torch:
        raise InvalidOperationError(
            f"operand 'input' and the result must both be builtin or both be torch tensors, "
            f"but are '{operands['input'].type}' and '{result.type}'"
        )


def quantize_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """The result stores dtype; a torch input has a float element type, which the ODS can not see."""
    _require_storage("output", result, attributes["dtype"])
    _require_float("input", operands["input"])


def dequantize_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """The input stores dtype; a torch result has a float element type, which the ODS can not see."""
    _require_storage("input", operands["input"], attributes["dtype"])
    _require_float("output", result)


def _require_storage(name: str, value: TensorInfo, dtype: ir.IntegerType) -> None:
    element = value.element
    if element is None:
        return
    signed = value.is_torch
    expected = dtype if signed else ir.IntegerType.get_signless(dtype.width, dtype.context)
    if element != expected:
        raise InvalidOperationError(
            f"'{name}' must have element type {expected} for 'dtype' {dtype}, but got '{value.type}'"
        )


def _require_float(name: str, value: TensorInfo) -> None:
    element = value.element
    if element is not None and not isinstance(element, ir.FloatType):
        raise InvalidOperationError(f"'{name}' must have a floating-point element type, but got '{value.type}'")


def value_range(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """quant_min and quant_max are attributes within dtype and in order, or both are run-time operands."""
    low, high, dtype = attributes["quant_min"], attributes["quant_max"], attributes["dtype"]
    run_time = operands.get("range", ())
    if len(run_time) not in (0, 2):
        raise InvalidOperationError(f"'range' must be empty or hold two bounds, but has {len(run_time)}")
    for name, bound in (("quant_min", low), ("quant_max", high)):
        if bound is None and not run_time:
            raise InvalidOperationError(f"requires attribute '{name}', or 'range'")
        if bound is not None and run_time:
            raise InvalidOperationError(f"attribute '{name}' and 'range' exclude each other")
    if run_time:
        return
    least = 0 if dtype.is_unsigned else -(1 << (dtype.width - 1))
    most = least + (1 << dtype.width) - 1
    for name, bound in (("quant_min", low), ("quant_max", high)):
        if not least <= bound <= most:
            raise InvalidOperationError(
                f"attribute '{name}' ({bound}) must lie within the range of {dtype}, {least} to {most}"
            )
    if low >= high:
        raise InvalidOperationError(f"attribute 'quant_min' ({low}) must be less than 'quant_max' ({high})")


def one_parameter(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Scale and zero point have one element."""
    for name in ("scale", "zero_point"):
        shape = operands[name].shape
        if shape is not None and any(size not in (1, None) for size in shape):
            raise InvalidOperationError(f"operand '{name}' must have one element, but got '{operands[name].type}'")


def parameters_along_axis(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """axis is a dimension of the input, and there is a scale and zero point for each of its indices."""
    shape, axis = operands["input"].shape, attributes["axis"]
    if shape is not None and not -len(shape) <= axis < len(shape):
        raise InvalidOperationError(f"attribute 'axis' ({axis}) must be a dimension of 'input', of rank {len(shape)}")
    size = shape[axis] if shape is not None else None
    for name in ("scales", "zero_points"):
        if not tensor_types.compatible(operands[name].shape, (size,)):
            wanted = "" if size is None else f" with {size} elements"
            raise InvalidOperationError(
                f"operand '{name}' must be one-dimensional{wanted}, as 'input' along 'axis' {axis}, "
                f"but got '{operands[name].type}'"
            )


_QUANTIZE = (one_level, quantize_types, value_range)
_DEQUANTIZE = (one_level, dequantize_types, value_range)

RULES = {
    "quantized_decomposed.quantize_per_tensor": (*_QUANTIZE, one_parameter),
    "quantized_decomposed.dequantize_per_tensor": (*_DEQUANTIZE, one_parameter),
    "quantized_decomposed.quantize_per_channel": (*_QUANTIZE, parameters_along_axis),
    "quantized_decomposed.dequantize_per_channel": (*_DEQUANTIZE, parameters_along_axis),
}
