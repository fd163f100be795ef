# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters from the range of a tensor or of its tokens, as PyTorch chooses them at run time.

Each step rounds to the type that it has in `torch/ao/quantization/fx/_decomposed.py`: half precision is not computed in
float32 here. NaN propagates into scales; a zero point that it or an infinity makes is what PyTorch gives on x86-64.
"""

import numpy as np

from .conversion import convert_element_type

# What choose_qparams_per_token keeps the largest magnitude above, and its asymmetric form the scale.
LEAST_MAGNITUDE = 1e-5
LEAST_TOKEN_SCALE = float(np.finfo(np.float32).eps)

# The range of the operators per token, whatever their dtype.
TOKEN_RANGE = (-128, 127)


def choose_qparams(x: np.ndarray, quant_min: int, quant_max: int, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Scale and zero point with which the range of `x`, extended to 0, is that of the quantized values.

        scale = max((max(x, 0) - min(x, 0)) / (quant_max - quant_min), eps)
        zero_point = clamp(quant_min - round_half_even(min(x, 0) / scale), quant_min, quant_max)

    Args:
      x: float16, bfloat16 or float32, any shape, not empty.
      quant_min, quant_max: bounds of the quantized values.
      eps: least scale.

    Returns:
      Scale, float64 of shape `[1]`, and zero point, int64 of shape `[1]`.
    """
    low, high = _range(x, axis=None)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scale = _divide(high - low, float(quant_max - quant_min)).astype(np.float32)
        scale = np.maximum(scale, np.float32(eps))
        offset = convert_element_type(np.rint(low.astype(np.float32) / scale), np.int32)
        zero_point = (quant_min - offset.astype(np.int64)).astype(np.int32)
    return _one(scale, np.float64), _one(np.clip(zero_point, quant_min, quant_max), np.int64)


def choose_qparams_symmetric(
    x: np.ndarray, quant_min: int, quant_max: int, eps: float, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Scale with which the largest magnitude is half of the range, and the zero point: 128 for uint8, 0 otherwise.

        scale = max(max(|x|) / ((quant_max - quant_min) / 2), eps)

    Arguments and results are those of `choose_qparams`, and the storage `dtype`.
    """
    low, high = _range(x, axis=None)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scale = _divide(np.maximum(-low, high), (quant_max - quant_min) / 2).astype(np.float32)
        scale = np.maximum(scale, np.float32(eps))
    return _one(scale, np.float64), np.full(1, 128 if np.dtype(dtype) == np.uint8 else 0, np.int64)


def choose_qparams_per_token(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales `max(max(|row|), 1e-5) / 127` of the rows along the last axis, for int8, and zero points of zero.

    Args:
      x: float16, bfloat16, float32 or float64 of shape `[.., n]`, n > 0.

    Returns:
      Scales and zero points of shape `[.., 1]`, both in the type of `x`, or float32 where that is float16.
    """
    x = np.asarray(x)
    with np.errstate(invalid="ignore", under="ignore"):
        scales = np.abs(x).max(axis=-1, keepdims=True)
        scales = scales.astype(np.float32) if x.dtype == np.float16 else scales
        least = convert_element_type(LEAST_MAGNITUDE, scales.dtype)
        scales = _divide(np.maximum(scales, least), TOKEN_RANGE[1])
    return scales, np.zeros_like(scales)


def choose_qparams_per_token_asymmetric(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales and zero points with which the range of each row, extended to 0, is -128 to 127.

        scale = max((high - low) / 255, eps)            low = min(row, 0), high = max(row, 0), eps of float32
        zero_point = round_half_even(clamp(-128 - low / scale, -128, 127))

    where the zero point is taken from the end of the range, `127 - high / scale`, if that has the smaller error.

    Args:
      x: float16, bfloat16, float32 or float64 of shape `[.., n]`, n > 0.

    Returns:
      Scales, float64, and zero points, int64, of shape `[.., 1]`.
    """
    low, high = _range(x, axis=-1)
    quant_min, quant_max = TOKEN_RANGE
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scales = _divide(high - low, float(quant_max - quant_min))
        scales = np.maximum(scales, convert_element_type(LEAST_TOKEN_SCALE, scales.dtype))
        least, most = (convert_element_type(bound, scales.dtype) for bound in TOKEN_RANGE)
        first, last = low / scales, high / scales
        from_first = (least + first) + (most + last) > 0
        zero_points = np.where(from_first, least - first, most - last)
        zero_points = np.rint(np.clip(zero_points, least, most))
    return scales.astype(np.float64), convert_element_type(zero_points, np.int64)


def _range(x: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value, and 0 among them; over everything, or with `axis` of size 1."""
    x = np.asarray(x)
    zero = np.zeros((), x.dtype)
    keep = axis is not None
    with np.errstate(invalid="ignore"):
        return np.minimum(x.min(axis=axis, keepdims=keep), zero), np.maximum(x.max(axis=axis, keepdims=keep), zero)


def _divide(values: np.ndarray, divisor: float) -> np.ndarray:
    """The quotient in the type of the values; a divisor that is a number is not rounded to half precision."""
    values = np.asarray(values)
    wide = np.float64 if values.dtype == np.float64 else np.float32
    return convert_element_type(values.astype(wide) / wide(divisor), values.dtype)


def _one(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.asarray(value).reshape(1).astype(dtype)
