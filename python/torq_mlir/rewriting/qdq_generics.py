# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize as linalg.generic: builders of the two canonical element-wise forms.

    dequantize:  ext[su]i, subi zero_point, sitofp, mulf scale [, truncf]
    quantize:    [extf,] mulf 1/scale or divf scale, math.roundeven, addf zero_point, maximumf quant_min,
                 minimumf quant_max, select on NaN, fpto[su]i

Scalar parameters are captured by the body; per-channel ones are inputs indexed by the axis. Ops are created at the
current insertion point.
"""

import contextlib
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math

from torq_mlir.dialects import elements
from torq_mlir.rewriting.float_steps import compute_type, round_to
from torq_mlir.rewriting.storage_clamp import StorageClamp
from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_generic,
    convert_float,
    element_type,
    empty_like,
    extend,
    integer_to_float,
    integer_type,
    projection,
    scalar_constant,
    scalar_of,
)


def dequantize_generic(
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value | None,
    *,
    axis: int | None,
    unsigned: bool,
    result_element_type: ir.Type,
    loc: ir.Location | None = None,
) -> ir.Value:
    """`(input - zero_point) * scale`, with PyTorch's intermediate types.

    The product is computed in f32 (f64 for an f64 result). With an axis, it is computed in the type of the scales,
    f32 at least, rounded to it and then converted to the result's element type.

    Args:
      input: tensor of stored values, i4 to i32.
      scale: scalar, 0-d or 1-element tensor for `axis` None, 1-d tensor otherwise; f16, bf16, f32 or f64.
      zero_point: as `scale`, of any integer type; None for zero, then nothing is subtracted. A zero point no wider
        than an unsigned storage type is unsigned too. The difference does not wrap.
      axis: dimension that the parameters belong to (negative counts from the end), or None.
      unsigned: the stored values are unsigned.
      result_element_type: f16, bf16, f32 or f64.
    """
    with loc or contextlib.nullcontext():
        storage = element_type(input)
        product_type = result_element_type if axis is None else element_type(scale)
        compute = compute_type(product_type)
        # Up to i16 the order of subtraction and conversion makes no difference in f32. Otherwise PyTorch converts
        # first for one zero point, in the type of the result, and subtracts integers for many.
        wide = storage.width > 16
        as_float = axis is None and (wide or (storage.width == 16 and product_type != compute))
        integer = integer_type(64 if wide else 32)
        parameters = [_float_parameter(scale, axis, compute)]
        if zero_point is not None:
            target = compute if as_float else integer
            parameters.append(_integer_parameter(zero_point, axis, storage, unsigned, target))

        def difference(value: ir.Value, zero_point: ir.Value | None) -> ir.Value:
            if as_float:
                value = round_to(integer_to_float(value, compute, unsigned), product_type)
                return value if zero_point is None else round_to(arith.subf(value, zero_point), product_type)
            value = extend(value, integer, unsigned)
            value = arith.sitofp(compute, value if zero_point is None else arith.subi(value, zero_point))
            return round_to(value, product_type) if storage.width > 8 else value

        def body(value: ir.Value, scale: ir.Value, zero_point: ir.Value | None = None) -> ir.Value:
            product = arith.mulf(difference(value, zero_point), scale)
            return convert_float(convert_float(product, product_type), result_element_type)

        return _elementwise(input, parameters, axis, result_element_type, body)


def quantize_generic(
    input: ir.Value,
    scale: ir.Value,
    zero_point: ir.Value | None,
    *,
    axis: int | None,
    quant_min: int | ir.Value,
    quant_max: int | ir.Value,
    unsigned: bool,
    divide: bool,
    storage_type: ir.Type,
    loc: ir.Location | None = None,
) -> ir.Value:
    """`clamp(round_half_even(input / scale) + zero_point, quant_min, quant_max)`, with PyTorch's intermediate types.

    Computed in f32, or in f64 for an f64 input or reciprocals of f64 scales along an axis. What is out of range
    saturates, infinities included. NaN becomes quant_min with `divide`, as in ONNX Runtime, and 0 otherwise, as in
    PyTorch.

    Args:
      input: tensor of f16, bf16, f32 or f64.
      scale, zero_point, axis: as in `dequantize_generic`.
      quant_min, quant_max: bounds of the result; i64 scalars or 1-element integer tensors when known at run time only.
      unsigned: the storage type is unsigned.
      divide: divide by the scale, as ONNX does; otherwise multiply by 1 / scale, as PyTorch does.
      storage_type: signless integer type of the result, i4 to i32.
    """
    with loc or contextlib.nullcontext():
        promotes = axis is not None and not divide
        compute = compute_type(element_type(input), *([element_type(scale)] if promotes else []))
        factor = _float_parameter(scale, axis, compute) if divide else _reciprocal(scale, axis, compute)
        parameters = [factor]
        if zero_point is not None:
            parameters.append(_integer_parameter(zero_point, axis, storage_type, unsigned, compute))
        if isinstance(quant_min, ir.Value):
            bounds = (quant_min, quant_max)
            quant_min, quant_max = (_integer_parameter(b, None, storage_type, unsigned, compute) for b in bounds)
        clamp = StorageClamp(quant_min, quant_max, storage_type, unsigned, compute)
        not_a_number = clamp.low if divide else scalar_constant(compute, 0)

        def body(value: ir.Value, factor: ir.Value, zero_point: ir.Value | None = None) -> ir.Value:
            value = convert_float(value, compute)
            value = arith.divf(value, factor) if divide else arith.mulf(value, factor)
            value = math.roundeven(value)
            if zero_point is not None:
                value = arith.addf(value, zero_point)
            return clamp.to_storage(value, not_a_number)

        return _elementwise(input, parameters, axis, storage_type, body)


def _elementwise(
    input: ir.Value,
    parameters: Sequence[ir.Value],
    axis: int | None,
    result_element_type: ir.Type,
    body: Callable[..., ir.Value],
) -> ir.Value:
    """linalg.generic over `input`; parameters that are tensors are indexed by `axis`, scalars are captured."""
    rank = ir.RankedTensorType(input.type).rank
    identity = ir.AffineMap.get_identity(rank)
    tensors = [p for p in parameters if isinstance(p.type, ir.RankedTensorType)]
    along_axis = [projection(rank, [axis % rank])] * len(tensors) if tensors else []

    def with_captures(value: ir.Value, *elements: ir.Value) -> ir.Value:
        arguments = iter(elements)
        return body(value, *(next(arguments) if isinstance(p.type, ir.RankedTensorType) else p for p in parameters))

    return build_generic(
        [input, *tensors],
        empty_like(input, result_element_type),
        [identity, *along_axis, identity],
        [PARALLEL] * rank,
        with_captures,
    )


def _float_parameter(value: ir.Value, axis: int | None, compute: ir.Type) -> ir.Value:
    """A scale in the compute type: a scalar, or for an axis a 1-d tensor."""
    constant = elements.constant_value(value)
    if constant is not None:
        return _constant_parameter(constant, axis, compute)
    if element_type(value) == compute and axis is not None:
        return value
    return _parameter(value, axis, compute, lambda scalar: convert_float(scalar, compute))


def _reciprocal(scale: ir.Value, axis: int | None, compute: ir.Type) -> ir.Value:
    """1 / scale as PyTorch rounds it: in f64 for a scalar scale, in the type of the scales for an axis."""
    wide = ir.F64Type.get() if axis is None else element_type(scale)
    constant = elements.constant_value(scale)
    if constant is not None:
        with np.errstate(divide="ignore", over="ignore"):
            reciprocal = 1 / constant.astype(elements.numpy_dtype(wide))
            return _constant_parameter(reciprocal, axis, compute)

    one = scalar_constant(wide, 1)
    return _parameter(
        scale, axis, compute, lambda scalar: convert_float(arith.divf(one, convert_float(scalar, wide)), compute)
    )


def _integer_parameter(
    value: ir.Value, axis: int | None, storage: ir.IntegerType, unsigned: bool, target: ir.Type
) -> ir.Value:
    """A zero point as a 32-bit integer or in the compute type: a scalar, or for an axis a 1-d tensor."""
    source = element_type(value)
    unsigned = unsigned and source.width <= storage.width
    constant = elements.constant_value(value)
    if constant is not None:
        if unsigned:
            constant = constant.astype(np.int64) & ((1 << source.width) - 1)
        return _constant_parameter(constant, axis, target)

    if source == target and axis is not None:
        return value

    def convert(scalar: ir.Value) -> ir.Value:
        if not isinstance(target, ir.IntegerType):
            return integer_to_float(scalar, target, unsigned)
        if source.width > target.width:
            return arith.trunci(target, scalar)
        return extend(scalar, target, unsigned)

    return _parameter(value, axis, target, convert)


def _parameter(value: ir.Value, axis: int | None, target: ir.Type, convert: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """A run-time parameter converted ahead of the loop: the scalar for axis None, else the whole 1-d tensor."""
    if axis is None:
        return convert(scalar_of(value))
    return _elementwise(value, [], None, target, convert)


def _constant_parameter(values: np.ndarray, axis: int | None, target: ir.Type) -> ir.Value:
    with np.errstate(over="ignore"):
        values = values.astype(elements.numpy_dtype(target))
    if axis is None:
        return scalar_constant(target, values.item())
    return arith.constant(None, elements.from_numpy(values.reshape(-1), target))
