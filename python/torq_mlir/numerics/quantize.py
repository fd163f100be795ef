# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize as PyTorch's `quantized_decomposed` operators and ONNX define them, bit for bit.

    quantize:   clamp(round_half_even(x * (1 / scale)) + zero_point, quant_min, quant_max)      x / scale with `divide`
    dequantize: (q - zero_point) * scale

The precision of each step is that of `torch/ao/quantization/fx/_decomposed.py`, which differs between the per-tensor
operators (parameters are Python numbers) and the per-channel ones (parameters are tensors that promote).
"""

import numpy as np

from .conversion import HALF_PRECISION, convert_element_type


def quantize(
    x: np.ndarray,
    scale: np.ndarray | float,
    zero_point: np.ndarray | int | None,
    quant_min: int,
    quant_max: int,
    dtype: np.dtype,
    *,
    axis: int | None = None,
    divide: bool = False,
) -> np.ndarray:
    """`clamp(round_half_even(x * (1 / scale)) + zero_point, quant_min, quant_max)`.

    float16 and bfloat16 inputs are computed in float32. The reciprocal of a per-tensor scale is taken in float64 and
    rounded to the type of the input; that of per-channel scales is taken in their type, and float64 scales make the
    product float64.

    Infinities saturate. NaN, which a product of 0 and the infinite reciprocal of a zero or denormal scale is too,
    becomes 0 as in PyTorch, and `quant_min` with `divide` as in ONNX Runtime. A clamped value beyond the storage type,
    which float32 makes of an int32 bound (2^31 - 1 rounds to 2^31), saturates; PyTorch leaves it undefined.

    Args:
      x: float16, bfloat16, float32 or float64, any shape.
      scale: one (0-d or `[1]`), or `[C]` along `axis`; a Python float is a float64.
      zero_point: integers, as many as scales, or one; None for 0.
      quant_min, quant_max: bounds of the result, inclusive; may be narrower than `dtype`.
      dtype: integer dtype of the result, of at most 32 bits.
      axis: channel axis, may be negative; None per tensor.
      divide: divide by the scale, as ONNX QuantizeLinear does, instead of multiplying by its reciprocal.

    Returns:
      Array of `dtype` in the shape of `x`.

    Raises:
      TypeError: `x` is not of a floating-point type.
      ValueError: the bounds are not ordered or not values of `dtype`, `axis` is out of range, or the number of scales
        or zero points is not that of the channels.
    """
    x, storage = np.asarray(x), np.iinfo(dtype)
    if x.dtype.kind != "f" and x.dtype not in HALF_PRECISION:
        raise TypeError(f"quantize takes floating-point values, not {x.dtype}")
    if not storage.min <= quant_min <= quant_max <= storage.max:
        raise ValueError(f"range [{quant_min}, {quant_max}] is not a range of {storage.dtype}")
    scale, zero_point = _parameters(scale, zero_point, axis, x.shape)
    values = x.astype(np.float32) if x.dtype in HALF_PRECISION else x
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        if divide:
            scaled = values / scale.astype(values.dtype)
        else:
            reciprocal = 1.0 / scale.astype(np.float64)
            scaled = values * reciprocal.astype(values.dtype if axis is None else scale.dtype)
        rounded = np.rint(scaled) + zero_point.astype(scaled.dtype)
        clamped = np.clip(rounded, scaled.dtype.type(quant_min), scaled.dtype.type(quant_max))
    clamped = np.where(np.isnan(clamped), quant_min if divide else 0, clamped)
    return np.clip(clamped.astype(np.int64), storage.min, storage.max).astype(storage.dtype)


def dequantize(
    q: np.ndarray,
    scale: np.ndarray | float,
    zero_point: np.ndarray | int | None,
    *,
    axis: int | None = None,
    dtype: np.dtype = np.float32,
) -> np.ndarray:
    """`(q - zero_point) * scale`; `q` is not clamped.

    Per tensor, each step rounds to `dtype`: `q` and the zero point are converted, subtracted, and multiplied by the
    scale, which alone is float32 where `dtype` is float16 or bfloat16. Per channel, the subtraction is one of integers,
    the product has the type of the scales, and is converted last. PyTorch subtracts per-channel zero points in the
    type they are stored with and wraps around in int8; here they are exact.

    Args:
      q: integers of at most 32 bits, any shape.
      scale: one (0-d or `[1]`), or `[C]` along `axis`; a Python float is a float64.
      zero_point: integers, as many as scales, or one; None for 0.
      axis: channel axis, may be negative; None per tensor.
      dtype: float16, bfloat16, float32 or float64.

    Returns:
      Array of `dtype` in the shape of `q`.

    Raises:
      TypeError: `q` is not of an integer type.
      ValueError: `axis` is out of range, or the number of scales or zero points is not that of the channels.
    """
    q, dtype = np.asarray(q), np.dtype(dtype)
    if q.dtype.kind not in "iu":
        raise TypeError(f"dequantize takes integers, not {q.dtype}")
    scale, zero_point = _parameters(scale, zero_point, axis, q.shape)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if axis is not None:
            centered = convert_element_type(q.astype(np.int64) - zero_point.astype(np.int64), scale.dtype)
            return convert_element_type(_multiplied(centered, scale), dtype)
        step = np.float64 if dtype == np.float64 else np.float32
        q, zero_point = (convert_element_type(each, dtype).astype(step) for each in (q, zero_point))
        centered = (q - zero_point).astype(dtype)
        return (centered.astype(step) * scale.astype(step)).astype(dtype)


def _multiplied(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The product in the type of the scale; half precision computes in float32."""
    if scale.dtype in HALF_PRECISION:
        return (values.astype(np.float32) * scale.astype(np.float32)).astype(scale.dtype)
    return values * scale


def _parameters(
    scale: np.ndarray | float, zero_point: np.ndarray | int | None, axis: int | None, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Scales and zero points in shapes that broadcast with an operand of `shape`."""
    parameters = np.asarray(scale), np.asarray(0 if zero_point is None else zero_point)
    if axis is None:
        if any(parameter.size != 1 for parameter in parameters):
            raise ValueError("several scales or zero points need an axis")
        return parameters[0].reshape(()), parameters[1].reshape(())
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis {axis} is out of range for rank {len(shape)}")
    broadcast = []
    for parameter, name in zip(parameters, ("scales", "zero points"), strict=True):
        if parameter.size not in (1, shape[axis]):
            raise ValueError(f"{parameter.size} {name} for {shape[axis]} channels")
        sizes = [1] * len(shape)
        sizes[axis] = parameter.size
        broadcast.append(parameter.reshape(sizes))
    return broadcast[0], broadcast[1]
