# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of quantized_decomposed operations that hold across operands, attributes and the result.

A rule takes operands by name, attributes as Python values by name, and the result, a tuple where there are several; it
raises InvalidOperationError.
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


def parameters_per_token(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """There is a scale and zero point for each row: [.., 1] of an input [.., N]."""
    shape = operands["input"].shape
    if shape is None:
        return
    if not shape:
        raise InvalidOperationError("operand 'input' must have rank 1 or more")
    _require_parameters(operands, (*shape[:-1], 1))


def parameters_per_group(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """axis is a dimension of the input that group_size divides, and there is a scale and zero point for each group."""
    shape, axis, group_size = operands["input"].shape, attributes["axis"], attributes["group_size"]
    if shape is None:
        return
    if not -len(shape) <= axis < len(shape):
        raise InvalidOperationError(f"attribute 'axis' ({axis}) must be a dimension of 'input', of rank {len(shape)}")
    axis %= len(shape)
    size = shape[axis]
    if size is not None and size > group_size and size % group_size:
        raise InvalidOperationError(
            f"attribute 'group_size' ({group_size}) must divide dimension {axis} of 'input', which is {size}"
        )
    groups = None if size is None else -(-size // group_size)
    _require_parameters(operands, (*shape[:axis], groups, *shape[axis + 1 :]))


def _require_parameters(operands: Operands, shape: tensor_types.Shape) -> None:
    for name in ("scales", "zero_points"):
        parameter = operands[name]
        if parameter is not None and not tensor_types.compatible(parameter.shape, shape):
            raise InvalidOperationError(
                f"operand '{name}' must have shape {tensor_types.text(shape)}, but got '{parameter.type}'"
            )


def scale_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Torch tensors of scales hold floats."""
    _require_float("scales", operands["scales"])


def zero_point_sign(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Torch tensors of zero points keep their sign on builtin tensors.

    There, a zero point is as signed as the storage unless it is wider, and signed then.
    """
    name = "zero_point" if "zero_point" in operands else "zero_points"
    value, dtype = operands[name], attributes["dtype"]
    if value is None or not value.is_torch or not value.is_integer:
        return
    element = value.element
    signed = dtype.is_signed if element.width <= dtype.width else True
    if element.is_signed != signed:
        raise InvalidOperationError(
            f"'{name}' of {element.width} bits must be {'signed' if signed else 'unsigned'} "
            f"for 'dtype' {dtype}, but got '{value.type}'"
        )


def fake_quant_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """Torch tensors hold f32 values, scales of floats and zero points of signed integers."""
    for name, value in (("input", operands["input"]), ("output", result)):
        if value.element is not None and not isinstance(value.element, ir.F32Type):
            raise InvalidOperationError(f"'{name}' must have element type f32, but got '{value.type}'")
    _require_float("scales", operands["scales"])
    zero_points = operands["zero_points"]
    if not zero_points.is_torch or zero_points.element is None:
        return
    if not zero_points.is_integer or not zero_points.element.is_signed:
        raise InvalidOperationError(f"'zero_points' must be signed integers, but got '{zero_points.type}'")


def ordered_range(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """quant_min is less than quant_max."""
    low, high = attributes["quant_min"], attributes["quant_max"]
    if low >= high:
        raise InvalidOperationError(f"attribute 'quant_min' ({low}) must be less than 'quant_max' ({high})")


def range_with_zero(operands: Operands, attributes: Attributes, result: tuple[TensorInfo, ...]) -> None:
    """Zero, which the range of the values is extended to, lies between quant_min and quant_max."""
    low, high = attributes["quant_min"], attributes["quant_max"]
    if not low <= 0 <= high:
        raise InvalidOperationError(f"0 must lie between attributes 'quant_min' ({low}) and 'quant_max' ({high})")


def one_level_of_parameters(operands: Operands, attributes: Attributes, result: tuple[TensorInfo, ...]) -> None:
    """The input and the chosen parameters are builtin tensors, or all are torch tensors."""
    for each in result:
        one_level(operands, attributes, each)


def not_empty(operands: Operands, attributes: Attributes, result: tuple[TensorInfo, ...]) -> None:
    """There is a value to choose parameters for."""
    if operands["input"].shape is not None and 0 in operands["input"].shape:
        raise InvalidOperationError(f"operand 'input' must not be empty, but got '{operands['input'].type}'")


def chosen_types(operands: Operands, attributes: Attributes, result: tuple[TensorInfo, ...]) -> None:
    """Torch tensors: a scale is f64 and a zero point si64, of values of at most 32 bits when per tensor."""
    input, (scale, zero_point) = operands["input"], result
    _require_float("input", input)
    if "eps" in attributes and isinstance(input.element, ir.F64Type):
        raise InvalidOperationError(f"'input' must have element type f16, bf16 or f32, but got '{input.type}'")
    integer = ir.IntegerType.get_signed(64, input.type.context)
    for name, value, wanted in (("scale", scale, "f64"), ("zero point", zero_point, str(integer))):
        if value.is_torch and value.element is not None and str(value.element) != wanted:
            raise InvalidOperationError(f"the {name} must have element type {wanted}, but got '{value.type}'")


def symmetric_token_types(operands: Operands, attributes: Attributes, result: tuple[TensorInfo, ...]) -> None:
    """dtype is si8; both parameters have the type of the input, or f32 instead of f16."""
    input, dtype = operands["input"], attributes["dtype"]
    if str(dtype) != "si8":
        raise InvalidOperationError(f"attribute 'dtype' must be si8, but is {dtype}")
    _require_float("input", input)
    element = input.element
    if element is None:
        return
    wanted = ir.F32Type.get(context=element.context) if isinstance(element, ir.F16Type) else element
    for name, value in zip(("scales", "zero_points"), result, strict=True):
        if value.element is not None and value.element != wanted:
            raise InvalidOperationError(
                f"'{name}' must have element type {wanted} for 'input' of {element}, but got '{value.type}'"
            )


def conversion_types(operands: Operands, attributes: Attributes, result: TensorInfo) -> None:
    """input_dtype and dtype are the element types, with signedness that builtin tensors lack."""
    for name, value, attribute in (("input", operands["input"], "input_dtype"), ("output", result, "dtype")):
        declared = attributes[attribute]
        expected = declared
        if isinstance(declared, ir.IntegerType) and not value.is_torch:
            expected = ir.IntegerType.get_signless(declared.width, declared.context)
        if value.element is not None and value.element != expected:
            raise InvalidOperationError(
                f"'{name}' must have element type {expected} for '{attribute}' {declared}, but got '{value.type}'"
            )


_QUANTIZE = (one_level, quantize_types, value_range, zero_point_sign)
_DEQUANTIZE = (one_level, dequantize_types, value_range, zero_point_sign)

_GROUPED = (scale_types, parameters_per_group)
_TOKENS = (scale_types, parameters_per_token)
_CHOOSE = (one_level_of_parameters, chosen_types, value_range, range_with_zero, not_empty)
_CHOOSE_TOKENS = (one_level_of_parameters, not_empty)

RULES = {
    "quantized_decomposed.quantize_per_tensor": (*_QUANTIZE, one_parameter),
    "quantized_decomposed.dequantize_per_tensor": (*_DEQUANTIZE, one_parameter),
    "quantized_decomposed.quantize_per_channel": (*_QUANTIZE, parameters_along_axis),
    "quantized_decomposed.dequantize_per_channel": (*_DEQUANTIZE, parameters_along_axis),
    "quantized_decomposed.quantize_per_token": (*_QUANTIZE, *_TOKENS),
    "quantized_decomposed.dequantize_per_token": (*_DEQUANTIZE, *_TOKENS),
    "quantized_decomposed.quantize_per_channel_group": (*_QUANTIZE, *_GROUPED),
    "quantized_decomposed.dequantize_per_channel_group": (*_DEQUANTIZE, *_GROUPED),
    "quantized_decomposed.choose_qparams": _CHOOSE,
    "quantized_decomposed.choose_qparams_symmetric": _CHOOSE,
    "quantized_decomposed.choose_qparams_per_token": (*_CHOOSE_TOKENS, symmetric_token_types),
    "quantized_decomposed.choose_qparams_per_token_asymmetric": (*_CHOOSE_TOKENS, chosen_types),
    "quantized_decomposed._choose_qparams_per_token_asymmetric_impl": (*_CHOOSE_TOKENS, chosen_types),
    "quantized_decomposed.fake_quant_per_channel": (one_level, fake_quant_types, ordered_range, parameters_along_axis),
    "quantized_decomposed.convert_element_type": (one_level, conversion_types),
}
