# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between number types and their promotion, as in PyTorch.

What C++ leaves undefined, a float that its integer type does not hold, is what PyTorch gives on x86-64.
"""

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALF_PRECISION = (np.dtype(np.float16), BFLOAT16)


def is_float(dtype: np.dtype) -> bool:
    """Whether a dtype is a floating-point one; numpy does not count bfloat16 among these."""
    dtype = np.dtype(dtype)
    return dtype.kind == "f" or dtype == BFLOAT16


def promote_floats(first: np.dtype, second: np.dtype) -> np.dtype:
    """The type in which PyTorch computes with tensors of two floating-point types; float32 for float16 and bfloat16."""
    first, second = np.dtype(first), np.dtype(second)
    if first != second and first in HALF_PRECISION and second in HALF_PRECISION:
        return np.dtype(np.float32)
    return first if first.itemsize >= second.itemsize else second


def convert_element_type(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values of `x` as another number type.

    Integers and float64 values become float16 or bfloat16 by way of float32. Floats become integers towards zero: in 64
    bits for int64 and uint8, in 32 bits otherwise. NaN and what is too large for these become the least such integer,
    and a narrower type keeps the low bits. Integers wrap around. Everything but zero is true.

    Args:
      x: boolean, integer or floating-point values, any shape.
      dtype: the dtype of the result.
    """
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype == np.bool_:
        return x != 0
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if dtype in HALF_PRECISION and x.dtype not in HALF_PRECISION:
            x = x.astype(np.float32)
        if dtype.kind in "iu" and is_float(x.dtype):
            wide = np.dtype(np.int64 if dtype in (np.int64, np.uint8) else np.int32)
            limit = 2.0 ** (8 * wide.itemsize - 1)
            values = np.trunc(x.astype(np.float64))
            fits = (values >= -limit) & (values < limit)
            x = np.where(fits, np.where(fits, values, 0).astype(wide), np.iinfo(wide).min)
        return x.astype(dtype)
