# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the comparisons with PyTorch's quantized_decomposed operators share: dtypes, values, conversion to torch."""

import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch.ao.quantization.fx._decomposed

operators = torch.ops.quantized_decomposed
STORAGE = {np.int8: torch.int8, np.uint8: torch.uint8, np.int16: torch.int16, np.uint16: torch.uint16}
FLOATS = {
    np.float16: torch.float16,
    ml_dtypes.bfloat16: torch.bfloat16,
    np.float32: torch.float32,
    np.float64: torch.float64,
}
SPECIAL = [np.inf, -np.inf, -0.0, 0.5, 1.5, -2.5, 1e-40, 6e-8, 6e4, -3e38, 127.5]


def floats(shape, dtype, nan=True):
    """Arrays of ordinary numbers with ties, denormals, infinities and NaN among them."""
    special = st.sampled_from([*SPECIAL, np.nan] if nan else SPECIAL)
    values = st.one_of(st.floats(-1000, 1000, width=16), special)
    arrays = hnp.arrays(np.float64, shape, elements=values, fill=st.nothing())

    def convert(array):
        with np.errstate(over="ignore"):
            return array.astype(np.float32).astype(dtype)

    return arrays.map(convert)


def scales(shape, dtype, least=2.0**-10):
    arrays = hnp.arrays(np.float64, shape, elements=st.floats(least, 16), fill=st.nothing())
    return arrays.map(lambda array: array.astype(np.float32).astype(dtype))


def integers(shape, dtype, low=None, high=None):
    limits = np.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    return hnp.arrays(dtype, shape, elements=st.integers(int(low), int(high)), fill=st.nothing())


def draw_range(data, dtype):
    limits = np.iinfo(dtype)
    low = data.draw(st.one_of(st.just(limits.min), st.integers(limits.min, limits.max - 1)))
    return int(low), int(data.draw(st.one_of(st.just(limits.max), st.integers(low + 1, limits.max))))


def to_torch(array):
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_numpy(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def bits(array):
    """The array as integers, so that a comparison sees the sign of zero, and every NaN is the same."""
    if array.dtype.kind in "biu":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array).view(f"u{array.dtype.itemsize}")


def same(ours, theirs):
    """Whether an array has the dtype, the shape and the bits of a tensor."""
    theirs = to_numpy(theirs)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(bits(ours), bits(theirs))
