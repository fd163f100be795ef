# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize with parameters for each token or for each group of a channel, as PyTorch defines them.

    quantize:   clamp(round_half_even(x * (1 / scales) + zero_points), quant_min, quant_max)
    dequantize: (q - zero_points) * scales

Unlike per tensor and per channel, the zero point is added before rounding, and float16 and bfloat16 tensors are
computed in their own type. A token is a row along the last axis, which is a group as long as that axis.
"""

import numpy as np

from .conversion import HALF_PRECISION, convert_element_type, is_float, promote_floats


def quantize_per_channel_group(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray | None,
    quant_min: int,
    quant_max: int,
    dtype: np.dtype,
    *,
    group_size: int,
    axis: int = -1,
    divide: bool = False,
    round_first: bool = False,
) -> np.ndarray:
    """`clamp(round_half_even(x * (1 / scales) + zero_points), quant_min, quant_max)`.

    Each step rounds to the type to which its operands promote; the reciprocal is taken in the type of the scales,
    integer zero points and the bounds convert to that of the product. With `divide`, half precision is computed in
    float32, and the scales convert to the type of the product.

    Infinities saturate; NaN becomes 0, and `quant_min` with `divide`, as in `quantize.quantize`. (PyTorch refuses NaN
    per group and takes it per token.) What a bound that half precision rounds leaves beyond the storage type saturates.

    Args:
      x: float16, bfloat16, float32 or float64, of rank 1 or more.
      scales: of a floating-point type, in the shape of `x` with one element for each group along `axis`.
      zero_points: integers or floats in the shape of the scales; None for 0.
      quant_min, quant_max: bounds of the result, inclusive; may be narrower than `dtype`.
      dtype: integer dtype of the result, of at most 32 bits.
      group_size: elements of a group; what is longer than the axis takes all of it.
      axis: axis of the groups, may be negative.
      divide: divide by the scales, as ONNX QuantizeLinear does, instead of multiplying by their reciprocals.
      round_first: round before the zero point is added, as ONNX QuantizeLinear and the other granularities do.

    Returns:
      Array of `dtype` in the shape of `x`.

    Raises:
      TypeError: `x` is not of a floating-point type.
      ValueError: the bounds are not ordered or not values of `dtype`, `axis` is out of range, the groups do not divide
        the axis, or scales or zero points have another shape.
    """
    x, storage = np.asarray(x), np.iinfo(dtype)
    if not is_float(x.dtype):
        raise TypeError(f"quantize takes floating-point values, not {x.dtype}")
    if not storage.min <= quant_min <= quant_max <= storage.max:
        raise ValueError(f"range [{quant_min}, {quant_max}] is not a range of {storage.dtype}")
    scales = _expand("scales", scales, x.shape, axis, group_size)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        scaled = _divided(x, scales) if divide else _scaled(x, scales)
        if zero_points is not None:
            zero_points = _expand("zero points", zero_points, x.shape, axis, group_size)
            if is_float(zero_points.dtype):
                scaled = scaled.astype(promote_floats(scaled.dtype, zero_points.dtype))
            addend = convert_element_type(zero_points, scaled.dtype)
            scaled = np.rint(scaled) + addend if round_first else scaled + addend
        low, high = (convert_element_type(bound, scaled.dtype) for bound in (quant_min, quant_max))
        clamped = np.clip(np.rint(scaled), low, high).astype(np.float64)
    clamped = np.where(np.isnan(clamped), quant_min if divide else 0, clamped)
    return np.clip(clamped, storage.min, storage.max).astype(storage.dtype)


def dequantize_per_channel_group(
    q: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray | None,
    *,
    group_size: int,
    axis: int = -1,
    dtype: np.dtype = np.float32,
) -> np.ndarray:
    """`(q - zero_points) * scales`; `q` is not clamped.

    The difference of integers is exact, where PyTorch wraps around in int8 if the zero points are int8; that with a
    floating-point zero point has its type. The product has the type to which its operands promote, and converts to
    `dtype` last.

    Args:
      q: integers of at most 32 bits, of rank 1 or more.
      scales, zero_points, group_size, axis: as in `quantize_per_channel_group`.
      dtype: float16, bfloat16, float32 or float64.

    Returns:
      Array of `dtype` in the shape of `q`.

    Raises:
      TypeError: `q` is not of an integer type.
      ValueError: as in `quantize_per_channel_group`.
    """
    q = np.asarray(q)
    if q.dtype.kind not in "iu":
        raise TypeError(f"dequantize takes integers, not {q.dtype}")
    scales = _expand("scales", scales, q.shape, axis, group_size)
    if zero_points is None:
        zero_points = np.zeros((), np.int64)
    else:
        zero_points = _expand("zero points", zero_points, q.shape, axis, group_size)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if is_float(zero_points.dtype):
            centered = convert_element_type(q, zero_points.dtype) - zero_points
            product_dtype = promote_floats(zero_points.dtype, scales.dtype)
        else:
            centered, product_dtype = q.astype(np.int64) - zero_points.astype(np.int64), scales.dtype
        product = convert_element_type(centered, product_dtype) * scales.astype(product_dtype)
        return convert_element_type(product, dtype)


def quantize_per_token(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray | None,
    quant_min: int,
    quant_max: int,
    dtype: np.dtype,
    *,
    round_first: bool = False,
) -> np.ndarray:
    """`quantize_per_channel_group` with scales and zero points of shape `[.., 1]` for `x` of shape `[.., n]`."""
    x = np.asarray(x)
    return quantize_per_channel_group(
        x, scales, zero_points, quant_min, quant_max, dtype, group_size=_row(x), round_first=round_first
    )


def dequantize_per_token(
    q: np.ndarray, scales: np.ndarray, zero_points: np.ndarray | None, *, dtype: np.dtype = np.float32
) -> np.ndarray:
    """`dequantize_per_channel_group` with scales and zero points of shape `[.., 1]` for `q` of shape `[.., n]`."""
    q = np.asarray(q)
    return dequantize_per_channel_group(q, scales, zero_points, group_size=_row(q), dtype=dtype)


def _row(values: np.ndarray) -> int:
    return max(1, values.shape[-1]) if values.ndim else 1


def _expand(name: str, parameters: np.ndarray, shape: tuple[int, ...], axis: int, group_size: int) -> np.ndarray:
    """Scales or zero points repeated over their groups."""
    parameters = np.asarray(parameters)
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis {axis} is out of range for rank {len(shape)}")
    axis %= len(shape)
    size = shape[axis]
    if group_size < 1 or (size > group_size and size % group_size):
        raise ValueError(f"groups of {group_size} do not divide an axis of {size}")
    expected = (*shape[:axis], -(-size // group_size), *shape[axis + 1 :])
    if parameters.shape != expected:
        raise ValueError(f"{name} have shape {parameters.shape}, expected {expected}")
    return np.repeat(parameters, min(group_size, size), axis=axis)


def _scaled(x: np.ndarray, scales: np.ndarray) -> np.ndarray:
    reciprocals = np.ones((), scales.dtype) / scales
    dtype = promote_floats(x.dtype, scales.dtype)
    return x.astype(dtype) * reciprocals.astype(dtype)


def _divided(x: np.ndarray, scales: np.ndarray) -> np.ndarray:
    values = x.astype(np.float32) if x.dtype in HALF_PRECISION else x
    return values / scales.astype(values.dtype)
