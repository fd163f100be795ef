# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that move data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from torq_mlir.backends.interpreter.kernels import broadcast, fill, identity, transpose

TENSORS = hnp.arrays(np.int16, hnp.array_shapes(max_dims=4, max_side=4))


@given(TENSORS, st.data())
def test_transpose(x, data):
    perm = data.draw(st.permutations(range(x.ndim)))
    y = transpose(np.empty([x.shape[d] for d in perm], np.int16), x, perm=perm)
    for index in np.ndindex(x.shape):
        assert y[tuple(index[d] for d in perm)] == x[index]


@given(TENSORS, st.data())
def test_broadcast(x, data):
    rank = x.ndim + data.draw(st.integers(0, 2))
    dimensions = sorted(data.draw(st.permutations(range(rank)))[: rank - x.ndim])
    sizes = iter(x.shape)
    shape = [data.draw(st.integers(1, 3)) if d in dimensions else next(sizes) for d in range(rank)]
    y = broadcast(np.empty(shape, np.int16), x, dimensions=dimensions)
    assert y.shape == tuple(shape)
    for index in np.ndindex(y.shape):
        assert y[index] == x[tuple(i for d, i in enumerate(index) if d not in dimensions)]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32])
def test_fill(dtype):
    y = fill(np.empty((2, 3), dtype), value=-7)
    assert y.dtype == dtype
    assert y.tolist() == [[-7] * 3] * 2


@given(TENSORS)
def test_identity(x):
    assert identity(np.empty_like(x), x).tolist() == x.tolist()


def test_shape_of_init_is_checked():
    with pytest.raises(ValueError, match=r"result has shape \(3, 2\), init \(2, 3\)"):
        transpose(np.empty((2, 3), np.int8), np.zeros((2, 3), np.int8), perm=(1, 0))
