# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels with an accumulator have in common: of int32, or of f32 where the operands are bf16."""

import ml_dtypes
import numpy as np

from torq_mlir.numerics.rescale import requantize

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def requantized(
    init: np.ndarray,
    accumulator: np.ndarray,
    scale_bias: np.ndarray,
    *,
    channel_axis: int = -1,
    shift: int,
    output_zp: int,
    output_min: int,
    output_max: int,
) -> np.ndarray:
    """`clamp(rescale(accumulator + bias, multiplier, shift) + output_zp, output_min, output_max)`.

    For an accumulator in f32, `bf16(accumulator + bias)`: nothing is rescaled, and `scale_bias` has no multipliers.

    Args:
      init: array of the shape and dtype of the result.
      accumulator: integers, as an integer array or as an exact float64 one, in the shape of `init`.
      scale_bias: int32 `[bias_0, multiplier_0, ...]`, one pair for all or for each index of `channel_axis`.

    Raises:
      OverflowError: the accumulator with its bias is outside int32.
      TypeError: the operation is not an integer one.
    """
    if accumulator.dtype == np.float32:
        return _rounded(init, accumulator, scale_bias, channel_axis)
    require_integers(init=init, scale_bias=scale_bias)
    bias, multiplier = _pairs(scale_bias, channel_axis, accumulator.ndim)
    total = accumulator.astype(np.int64)
    total += bias
    output = requantize(total, multiplier, shift, output_zp, output_min, output_max)
    return shaped_like(init, output.astype(init.dtype))


def shaped_like(init: np.ndarray, output: np.ndarray) -> np.ndarray:
    """The output, after a check that it has the shape of `init`."""
    if output.shape != init.shape:
        raise ValueError(f"the result has shape {output.shape}, init {init.shape}")
    return output


def require_integers(**arrays: np.ndarray) -> None:
    """Refuses floats where only the integer form of an operation is defined."""
    for name, array in arrays.items():
        if array.dtype.kind != "i":
            raise TypeError(f"{name} is {array.dtype}; this operation is defined for integers")


def require_numbers(**arrays: np.ndarray) -> bool:
    """Refuses what is neither all integers nor all bf16; whether it is bf16."""
    if all(array.dtype == BFLOAT16 for array in arrays.values()):
        return True
    for name, array in arrays.items():
        if array.dtype.kind != "i":
            raise TypeError(f"{name} is {array.dtype}; this operation is defined for integers, and for bf16 alone")
    return False


def require_default(reason: str, **attributes: int | bool) -> None:
    """Refuses attributes that are not zero or false, for a reason."""
    for name, value in attributes.items():
        if value:
            raise ValueError(f"{name} is {value}: {reason}")


def as_unsigned(array: np.ndarray) -> np.ndarray:
    """The values of signless integers read as unsigned."""
    return array.view(f"u{array.dtype.itemsize}")


def _rounded(init: np.ndarray, accumulator: np.ndarray, bias: np.ndarray, channel_axis: int) -> np.ndarray:
    if init.dtype != BFLOAT16 or bias.dtype != np.float32:
        raise TypeError(f"an f32 accumulator with a bias of {bias.dtype} to {init.dtype} is not defined")
    shape = [1] * accumulator.ndim
    if accumulator.ndim:
        shape[channel_axis] = bias.size
    with np.errstate(invalid="ignore", over="ignore"):
        return shaped_like(init, (accumulator + bias.reshape(shape)).astype(BFLOAT16))


def _pairs(scale_bias: np.ndarray, channel_axis: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Biases and multipliers, in shapes that broadcast along `channel_axis`."""
    pairs = scale_bias.reshape(-1, 2)
    shape = [1] * rank
    if rank:
        shape[channel_axis] = len(pairs)
    return pairs[:, 0].reshape(shape), pairs[:, 1].reshape(shape)
