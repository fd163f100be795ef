# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized_decomposed dialect: op classes and builders, for builtin tensors and for `!torch.vtensor`.

Builders return the result. `dtype` is the storage type as an `ir.IntegerType` with signedness; on builtin tensors the
stored elements are signless integers of its width.
"""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from torq_mlir._generated._quantized_decomposed_ops import (
    DequantizePerChannelOp,
    DequantizePerTensorOp,
    QuantizePerChannelOp,
    QuantizePerTensorOp,
)
from torq_mlir._generated.quantized_decomposed import DIALECT
from torq_mlir.dialects import building, tensor_types

OPERATIONS = {definition.name: definition for definition in DIALECT.operations}
OP_CLASSES = (DequantizePerChannelOp, DequantizePerTensorOp, QuantizePerChannelOp, QuantizePerTensorOp)


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


def storage_type(tensor: ir.Type, dtype: ir.IntegerType) -> ir.Type:
    """The type of `tensor` quantized to `dtype`: signless on builtin tensors, with signedness on torch tensors."""
    if tensor_types.is_torch_tensor(tensor):
        return tensor_types.with_element(tensor, dtype)
    return tensor_types.with_element(tensor, ir.IntegerType.get_signless(dtype.width, context=dtype.context))


def _float_type(tensor: ir.Type, element: ir.Type | None) -> ir.Type:
    return tensor_types.with_element(tensor, element or ir.F32Type.get(context=tensor.context))


def _create(
    op_class: type,
    operands: Sequence[ir.Value],
    result: ir.Type,
    values: dict[str, Any],
    loc: ir.Location | None,
    ip: ir.InsertionPoint | None,
) -> ir.Value:
    name = op_class.OPERATION_NAME
    attributes = building.build_attributes(OPERATIONS[name], values)
    return ir.Operation.create(
        name, results=[result], operands=list(operands), attributes=attributes, loc=loc, ip=ip
    ).result
