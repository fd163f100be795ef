# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of PyTorch's `quantized_decomposed` namespace."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import quantized_decomposed, tensor_types

from .calls import Call, signed_as, tensor_constant


class Operator(NamedTuple):
    """Parameters of a PyTorch operator, in the order of its schema, and what gives the values that replace a call."""

    parameters: tuple[str, ...]
    raise_call: Callable[[Call], tuple[ir.Value, ...]]


def _operator(parameters: str, raise_call: Callable[[Call], tuple[ir.Value, ...]]) -> Operator:
    return Operator(tuple(parameters.split()), raise_call)


def _range_and_dtype(call: Call) -> dict[str, Any]:
    bounds = {name: call.integer(name) for name in ("quant_min", "quant_max")}
    return bounds | {"dtype": call.storage_type("dtype")}


def _per_tensor(call: Call) -> tuple[tuple[ir.Value, ...], dict[str, Any]]:
    """Operands and attributes; the bounds of the `tensor2` overloads are operands."""
    operands = (call.value("input"), call.value("scale"), _zero_points(call, "zero_point"))
    if not tensor_types.is_torch_tensor(call.value("quant_min").type):
        return operands, _range_and_dtype(call)
    bounds = (call.value("quant_min"), call.value("quant_max"))
    return operands, {"range": bounds, "dtype": call.storage_type("dtype")}


def _quantize_per_tensor(call: Call) -> tuple[ir.Value, ...]:
    operands, attributes = _per_tensor(call)
    return (quantized_decomposed.quantize_per_tensor(*operands, **attributes),)


def _dequantize_per_tensor(call: Call) -> tuple[ir.Value, ...]:
    operands, attributes = _per_tensor(call)
    attributes["result_element_type"] = call.optional_element_type("out_dtype")
    return (quantized_decomposed.dequantize_per_tensor(*operands, **attributes),)


def _per_channel(call: Call) -> tuple[tuple[ir.Value, ...], dict[str, Any]]:
    """Operands and attributes; a zero point that is absent is a constant 0."""
    scales = call.value("scales")
    zero_points = _zero_points(call, "zero_points") if call.has("zero_points") else _zeros(call, "scales")
    return (call.value("input"), scales, zero_points), {"axis": call.integer("axis")}


def _zero_points(call: Call, parameter: str) -> ir.Value:
    """Zero points with a sign that signless integers keep."""
    value = call.value(parameter)
    if not call.has("dtype") or not tensor_types.is_torch_tensor(value.type):
        return value
    return signed_as(value, call.storage_type("dtype"))


def _zeros(call: Call, parameter: str) -> ir.Value:
    """Zero points of the shape of the scales that an argument holds."""
    shape = call.shape(parameter)
    if None in shape:
        raise call.failure(f"'{parameter}' has type {call.value(parameter).type}; its size is not known")
    return tensor_constant(np.zeros(shape, np.int64), ir.IntegerType.get_signed(64))


def _quantize_per_channel(call: Call) -> tuple[ir.Value, ...]:
    operands, attributes = _per_channel(call)
    return (quantized_decomposed.quantize_per_channel(*operands, **attributes, **_range_and_dtype(call)),)


def _dequantize_per_channel(call: Call) -> tuple[ir.Value, ...]:
    operands, attributes = _per_channel(call)
    attributes["result_element_type"] = call.optional_element_type("out_dtype")
    return (quantized_decomposed.dequantize_per_channel(*operands, **attributes, **_range_and_dtype(call)),)


def _fake_quant_per_channel(call: Call) -> tuple[ir.Value, ...]:
    operands, attributes = _per_channel(call)
    bounds = {name: call.integer(name) for name in ("quant_min", "quant_max")}
    return (quantized_decomposed.fake_quant_per_channel(*operands, **attributes, **bounds),)


def _token_operands(call: Call) -> tuple[ir.Value | None, ...]:
    zero_points = _zero_points(call, "zero_points") if call.has("zero_points") else None
    return call.value("input"), call.value("scales"), zero_points


def _quantize_per_token(call: Call) -> tuple[ir.Value, ...]:
    return (quantized_decomposed.quantize_per_token(*_token_operands(call), **_range_and_dtype(call)),)


def _dequantize_per_token(call: Call) -> tuple[ir.Value, ...]:
    attributes = _range_and_dtype(call) | {"result_element_type": call.optional_element_type("output_dtype")}
    return (quantized_decomposed.dequantize_per_token(*_token_operands(call), **attributes),)


def _quantize_per_channel_group(call: Call) -> tuple[ir.Value, ...]:
    attributes = _range_and_dtype(call) | {"group_size": _group_size(call)}
    return (quantized_decomposed.quantize_per_channel_group(*_token_operands(call), **attributes),)


def _dequantize_per_channel_group(call: Call) -> tuple[ir.Value, ...]:
    attributes = _range_and_dtype(call) | {"group_size": _group_size(call)}
    attributes["result_element_type"] = call.optional_element_type("output_dtype")
    return (quantized_decomposed.dequantize_per_channel_group(*_token_operands(call), **attributes),)


def _group_size(call: Call) -> int:
    """PyTorch asserts what is checked here, when it computes; what it exports does not say that it would fail."""
    shape, group_size = call.shape("input"), call.integer("group_size")
    if group_size <= 1:
        raise call.failure(f"'group_size' is {group_size}; it has to be greater than 1")
    if len(shape) != 2:
        raise call.failure(f"'input' has {len(shape)} dimensions; a matrix is needed")
    if shape[1] is not None and shape[1] > group_size and shape[1] % group_size:
        raise call.failure(f"'group_size' ({group_size}) does not divide the {shape[1]} columns of 'input'")
    return group_size


def _choose_qparams(call: Call) -> tuple[ir.Value, ...]:
    return quantized_decomposed.choose_qparams(
        call.value("input"), eps=float(call.constant("eps")), **_range_and_dtype(call)
    )


def _choose_qparams_symmetric(call: Call) -> tuple[ir.Value, ...]:
    return quantized_decomposed.choose_qparams_symmetric(
        call.value("input"), eps=float(call.constant("eps")), **_range_and_dtype(call)
    )


def _choose_qparams_per_token(call: Call) -> tuple[ir.Value, ...]:
    return quantized_decomposed.choose_qparams_per_token(call.value("input"), dtype=call.storage_type("dtype"))


def _choose_qparams_per_token_asymmetric(call: Call) -> tuple[ir.Value, ...]:
    dtype = call.storage_type("dtype")
    return quantized_decomposed.choose_qparams_per_token_asymmetric(call.value("input"), dtype=dtype)


def _choose_qparams_per_token_asymmetric_impl(call: Call) -> tuple[ir.Value, ...]:
    build = quantized_decomposed._choose_qparams_per_token_asymmetric_impl
    return build(call.value("input"), dtype=call.storage_type("dtype"))


def _convert_element_type(call: Call) -> tuple[ir.Value, ...]:
    return (quantized_decomposed.convert_element_type(call.value("input"), dtype=call.element_type("dtype")),)


_QUANTIZE = "input scale zero_point quant_min quant_max dtype"
_DEQUANTIZE = f"{_QUANTIZE} out_dtype"
_CHANNEL = "input scales zero_points axis quant_min quant_max"
_TOKEN = "input scales zero_points quant_min quant_max dtype"
_CHOOSE = "input quant_min quant_max eps dtype"

OPERATORS: dict[str, Operator] = {
    f"quantized_decomposed.{name}": _operator(parameters, raise_call)
    for name, parameters, raise_call in (
        ("quantize_per_tensor", _QUANTIZE, _quantize_per_tensor),
        ("quantize_per_tensor.tensor", _QUANTIZE, _quantize_per_tensor),
        ("quantize_per_tensor.tensor2", _QUANTIZE, _quantize_per_tensor),
        ("dequantize_per_tensor", _DEQUANTIZE, _dequantize_per_tensor),
        ("dequantize_per_tensor.tensor", _DEQUANTIZE, _dequantize_per_tensor),
        ("dequantize_per_tensor.tensor2", _DEQUANTIZE, _dequantize_per_tensor),
        ("choose_qparams.tensor", _CHOOSE, _choose_qparams),
        ("choose_qparams_symmetric.tensor", _CHOOSE, _choose_qparams_symmetric),
        ("quantize_per_channel", f"{_CHANNEL} dtype", _quantize_per_channel),
        ("dequantize_per_channel", f"{_CHANNEL} dtype out_dtype", _dequantize_per_channel),
        ("fake_quant_per_channel", _CHANNEL, _fake_quant_per_channel),
        ("quantize_per_token", _TOKEN, _quantize_per_token),
        ("dequantize_per_token", f"{_TOKEN} output_dtype", _dequantize_per_token),
        ("choose_qparams_per_token", "input dtype", _choose_qparams_per_token),
        ("choose_qparams_per_token_asymmetric", "input dtype", _choose_qparams_per_token_asymmetric),
        ("_choose_qparams_per_token_asymmetric_impl", "input dtype", _choose_qparams_per_token_asymmetric_impl),
        ("quantize_per_channel_group", f"{_TOKEN} group_size", _quantize_per_channel_group),
        ("dequantize_per_channel_group", f"{_TOKEN} group_size output_dtype", _dequantize_per_channel_group),
        ("convert_element_type.no_fuse", "input dtype", _convert_element_type),
    )
}
