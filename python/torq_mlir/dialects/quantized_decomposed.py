# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized_decomposed dialect: op classes and builders, for builtin tensors and for `!torch.vtensor`.

Builders return the result, and those of `choose_*` operations a scale and a zero point. `dtype` is the storage type as
an `ir.IntegerType` with signedness; on builtin tensors the stored elements are signless integers of its width.
"""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from torq_mlir._generated._quantized_decomposed_ops import (
    ChooseQParamsOp,
    ChooseQParamsPerTokenAsymmetricImplOp,
    ChooseQParamsPerTokenAsymmetricOp,
    ChooseQParamsPerTokenOp,
    ChooseQParamsSymmetricOp,
    ConvertElementTypeOp,
    DequantizePerChannelGroupOp,
    DequantizePerChannelOp,
    DequantizePerTensorOp,
    DequantizePerTokenOp,
    FakeQuantPerChannelOp,
    QuantizePerChannelGroupOp,
    QuantizePerChannelOp,
    QuantizePerTensorOp,
    QuantizePerTokenOp,
)
from torq_mlir._generated.quantized_decomposed import DIALECT
from torq_mlir.dialects import building, inference, tensor_types

OPERATIONS = {definition.name: definition for definition in DIALECT.operations}
OP_CLASSES = (
    ChooseQParamsOp,
    ChooseQParamsPerTokenAsymmetricImplOp,
    ChooseQParamsPerTokenAsymmetricOp,
    ChooseQParamsPerTokenOp,
    ChooseQParamsSymmetricOp,
    ConvertElementTypeOp,
    DequantizePerChannelGroupOp,
    DequantizePerChannelOp,
    DequantizePerTensorOp,
    DequantizePerTokenOp,
    FakeQuantPerChannelOp,
    QuantizePerChannelGroupOp,
    QuantizePerChannelOp,
    QuantizePerTensorOp,
    QuantizePerTokenOp,
)
building.read_defaults(OP_CLASSES, OPERATIONS)


def quantize_per_tensor(
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value,
    *,
    quant_min: int | None = None,
    quant_max: int | None = None,
    dtype: ir.IntegerType,
    divide: bool = False,
    range: Sequence[ir.Value] = (),
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Quantizes with one scale and zero point. `range` holds a run-time quant_min and quant_max in place of theirs."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "dtype": dtype, "divide": divide}
    operands = [input, scale, zero_point, *range]
    return _create(QuantizePerTensorOp, operands, storage_type(input.type, dtype), values, loc, ip)


def dequantize_per_tensor(
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value,
    *,
    quant_min: int | None = None,
    quant_max: int | None = None,
    dtype: ir.IntegerType,
    result_element_type: ir.Type | None = None,
    range: Sequence[ir.Value] = (),
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Dequantizes with one scale and zero point, to f32 unless asked for otherwise."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "dtype": dtype}
    operands = [input, scale, zero_point, *range]
    return _create(DequantizePerTensorOp, operands, _float_type(input.type, result_element_type), values, loc, ip)


def quantize_per_channel(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value,
    *,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    divide: bool = False,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Quantizes with a scale and zero point for each index of `axis`."""
    values = {"axis": axis, "quant_min": quant_min, "quant_max": quant_max, "dtype": dtype, "divide": divide}
    operands = [input, scales, zero_points]
    return _create(QuantizePerChannelOp, operands, storage_type(input.type, dtype), values, loc, ip)


def dequantize_per_channel(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value,
    *,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    result_element_type: ir.Type | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Dequantizes with a scale and zero point for each index of `axis`, to f32 unless asked for otherwise."""
    values = {"axis": axis, "quant_min": quant_min, "quant_max": quant_max, "dtype": dtype}
    operands = [input, scales, zero_points]
    return _create(DequantizePerChannelOp, operands, _float_type(input.type, result_element_type), values, loc, ip)


def fake_quant_per_channel(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value,
    *,
    axis: int,
    quant_min: int,
    quant_max: int,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Quantizes and dequantizes in f32 with a scale and zero point for each index of `axis`."""
    values = {"axis": axis, "quant_min": quant_min, "quant_max": quant_max}
    operands = [input, scales, zero_points]
    return _create(FakeQuantPerChannelOp, operands, _float_type(input.type, None), values, loc, ip)


def quantize_per_token(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None = None,
    *,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    round_first: bool = False,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Quantizes `[.., n]` with scales and zero points (integers or floats, or None for 0) of shape `[.., 1]`."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "dtype": dtype, "round_first": round_first}
    operands = [input, scales, zero_points]
    return _create(QuantizePerTokenOp, operands, storage_type(input.type, dtype), values, loc, ip)


def dequantize_per_token(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None = None,
    *,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    result_element_type: ir.Type | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Dequantizes `[.., n]` with parameters as in `quantize_per_token`, to f32 unless asked for otherwise."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "dtype": dtype}
    operands = [input, scales, zero_points]
    return _create(DequantizePerTokenOp, operands, _float_type(input.type, result_element_type), values, loc, ip)


def quantize_per_channel_group(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None = None,
    *,
    group_size: int,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    axis: int = -1,
    divide: bool = False,
    round_first: bool = False,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Quantizes with a scale and zero point (integer or float, or None for 0) for each group along `axis`."""
    values = {"group_size": group_size, "axis": axis, "divide": divide, "round_first": round_first}
    values |= {"quant_min": quant_min, "quant_max": quant_max, "dtype": dtype}
    operands = [input, scales, zero_points]
    return _create(QuantizePerChannelGroupOp, operands, storage_type(input.type, dtype), values, loc, ip)


def dequantize_per_channel_group(
    input: ir.Value,
    scales: ir.Value,
    zero_points: ir.Value | None = None,
    *,
    group_size: int,
    quant_min: int,
    quant_max: int,
    dtype: ir.IntegerType,
    axis: int = -1,
    result_element_type: ir.Type | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Dequantizes with parameters as in `quantize_per_channel_group`, to f32 unless asked for otherwise."""
    values = {"group_size": group_size, "axis": axis, "quant_min": quant_min, "quant_max": quant_max, "dtype": dtype}
    operands, result = [input, scales, zero_points], _float_type(input.type, result_element_type)
    return _create(DequantizePerChannelGroupOp, operands, result, values, loc, ip)


def choose_qparams(
    input: ir.Value,
    *,
    quant_min: int,
    quant_max: int,
    eps: float,
    dtype: ir.IntegerType,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> tuple[ir.Value, ir.Value]:
    """Scale (f64) and zero point (i64), of shape `[1]`, for the range of the input; the scale is at least `eps`."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "eps": eps, "dtype": dtype}
    return _choose(ChooseQParamsOp, input, values, loc, ip)


def choose_qparams_symmetric(
    input: ir.Value,
    *,
    quant_min: int,
    quant_max: int,
    eps: float,
    dtype: ir.IntegerType,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> tuple[ir.Value, ir.Value]:
    """Scale (f64) and zero point (i64), of shape `[1]`, for the largest magnitude; the scale is at least `eps`."""
    values = {"quant_min": quant_min, "quant_max": quant_max, "eps": eps, "dtype": dtype}
    return _choose(ChooseQParamsSymmetricOp, input, values, loc, ip)


def choose_qparams_per_token(
    input: ir.Value, *, dtype: ir.IntegerType, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> tuple[ir.Value, ir.Value]:
    """Scales and zero points of 0 for the largest magnitudes of rows; of the input's type, or f32 where that is f16."""
    element = tensor_types.element_type(input.type)
    if element is None or isinstance(element, ir.F16Type):
        element = ir.F32Type.get(context=input.context)
    return _choose(ChooseQParamsPerTokenOp, input, {"dtype": dtype}, loc, ip, element, element)


def choose_qparams_per_token_asymmetric(
    input: ir.Value, *, dtype: ir.IntegerType, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> tuple[ir.Value, ir.Value]:
    """Scales (f64) and zero points (i64), of shape `[.., 1]`, for the ranges of rows `[.., n]`."""
    return _choose(ChooseQParamsPerTokenAsymmetricOp, input, {"dtype": dtype}, loc, ip)


def _choose_qparams_per_token_asymmetric_impl(
    input: ir.Value, *, dtype: ir.IntegerType, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> tuple[ir.Value, ir.Value]:
    """As `choose_qparams_per_token_asymmetric`."""
    return _choose(ChooseQParamsPerTokenAsymmetricImplOp, input, {"dtype": dtype}, loc, ip)


def convert_element_type(
    input: ir.Value,
    *,
    dtype: ir.Type,
    input_dtype: ir.Type | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value:
    """Converts to `dtype`. `input_dtype` gives a builtin tensor of integers its sign; others have it of their type."""
    values = {"input_dtype": input_dtype or tensor_types.element_type(input.type), "dtype": dtype}
    return _create(ConvertElementTypeOp, [input], storage_type(input.type, dtype), values, loc, ip)


def storage_type(tensor: ir.Type, dtype: ir.Type) -> ir.Type:
    """The type of `tensor` with elements `dtype`: signless on builtin tensors, with signedness on torch tensors."""
    if not isinstance(dtype, ir.IntegerType) or tensor_types.is_torch_tensor(tensor):
        return tensor_types.with_element(tensor, dtype)
    return tensor_types.with_element(tensor, ir.IntegerType.get_signless(dtype.width, context=dtype.context))


def _float_type(tensor: ir.Type, element: ir.Type | None) -> ir.Type:
    return tensor_types.with_element(tensor, element or ir.F32Type.get(context=tensor.context))


def _choose(
    op_class: type,
    input: ir.Value,
    values: dict[str, Any],
    loc: ir.Location | None,
    ip: ir.InsertionPoint | None,
    scale: ir.Type | None = None,
    zero_point: ir.Type | None = None,
) -> tuple[ir.Value, ir.Value]:
    """Creates an operation with a scale and a zero point as results, f64 and i64 unless they are of other types."""
    scale = scale or ir.F64Type.get(context=input.context)
    zero_point = zero_point or ir.IntegerType.get_signed(64, context=input.context)
    shape = inference.result_shape(op_class.OPERATION_NAME, {"input": tensor_types.shape(input.type)}, values)
    likeness = tensor_types.with_shape(input.type, shape, scale)
    operation = _operation(op_class, [input], [likeness, storage_type(likeness, zero_point)], values, loc, ip)
    return operation.results[0], operation.results[1]


def _create(
    op_class: type,
    operands: Sequence[ir.Value | None],
    result: ir.Type,
    values: dict[str, Any],
    loc: ir.Location | None,
    ip: ir.InsertionPoint | None,
) -> ir.Value:
    return _operation(op_class, operands, [result], values, loc, ip).result


def _operation(
    op_class: type,
    operands: Sequence[ir.Value | None],
    results: Sequence[ir.Type],
    values: dict[str, Any],
    loc: ir.Location | None,
    ip: ir.InsertionPoint | None,
) -> ir.Operation:
    name = op_class.OPERATION_NAME
    attributes = building.build_attributes(OPERATIONS[name], values)
    present = [operand for operand in operands if operand is not None]
    return ir.Operation.create(name, results=results, operands=present, attributes=attributes, loc=loc, ip=ip)
