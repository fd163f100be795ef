# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize in one step, without leaving floating point, as training does."""

import numpy as np


def fake_quant_per_channel(
    x: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, axis: int, quant_min: int, quant_max: int
) -> np.ndarray:
    """`(clamp(round_half_even(x * (1 / scales)) + zero_points, quant_min, quant_max) - zero_points) * scales`.

    Everything is float32: scales are converted first, zero points by way of int32. NaN stays NaN.

    Args:
      x: float32, any shape.
      scales: floats, `[C]` along `axis`.
      zero_points: integers, `[C]` along `axis`.
      axis: channel axis, may be negative.
      quant_min, quant_max: bounds of the quantized values, inclusive.

    Returns:
      Array of float32 in the shape of `x`.

    Raises:
      TypeError: `x` is not float32.
      ValueError: `axis` is out of range, or the number of scales or zero points is not that of the channels.
    """
    x = np.asarray(x)
    if x.dtype != np.float32:
        raise TypeError(f"fake_quant_per_channel takes float32 values, not {x.dtype}")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of range for rank {x.ndim}")
    scale = _along_axis("scales", scales, axis, x.shape).astype(np.float32)
    zero_point = _along_axis("zero points", zero_points, axis, x.shape).astype(np.int32).astype(np.float32)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        shifted = np.rint(x * (np.float32(1) / scale)) + zero_point
        return (np.clip(shifted, np.float32(quant_min), np.float32(quant_max)) - zero_point) * scale


def _along_axis(name: str, parameters: np.ndarray, axis: int, shape: tuple[int, ...]) -> np.ndarray:
    parameters = np.asarray(parameters)
    if parameters.shape != (shape[axis],):
        raise ValueError(f"{name} have shape {parameters.shape}, expected {(shape[axis],)}")
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    return parameters.reshape(sizes)
