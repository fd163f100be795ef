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
from torq_mlir.backends.interpreter.kernels.data_movement import depth_to_space, gather, resize_nearest_neighbor

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


@given(TENSORS.filter(lambda x: x.ndim), st.data())
def test_gather(values, data):
    rows = values.shape[0]
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
    indices = data.draw(hnp.arrays(np.int64, shape, elements=st.integers(-rows, rows - 1)))
    y = gather(np.empty(shape + values.shape[1:], np.int16), values, indices)
    assert np.array_equal(y, np.take(values, indices, axis=0))


def test_gather_beyond_the_rows_reads_the_nearest_one():
    values, indices = np.array([[1], [2], [3]], np.int8), np.array([-9, -4, 3, 2**31 - 1, -(2**31)], np.int32)
    assert gather(np.empty((5, 1), np.int8), values, indices).ravel().tolist() == [1, 1, 3, 3, 1]


@given(hnp.arrays(np.int8, st.tuples(*[st.integers(1, 3)] * 4)), st.integers(1, 3))
def test_resize_nearest_neighbor(x, factor):
    shape = (*x.shape[:2], x.shape[2] * factor, x.shape[3] * factor)
    y = resize_nearest_neighbor(np.empty(shape, np.int8), x, scale_factor=factor)
    for n, c, i, j in np.ndindex(shape):
        assert y[n, c, i, j] == x[n, c, i // factor, j // factor]


@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_depth_to_space(data, block, channels):
    batch, height, width = (data.draw(st.integers(1, 3)) for _ in range(3))
    x = np.arange(batch * channels * block**2 * height * width, dtype=np.int32)
    x = x.reshape(batch, channels * block**2, height, width)
    init = np.empty((batch, channels, height * block, width * block), np.int32)
    dcr, crd = (depth_to_space(init, np.ones(1, np.int8), x, blockSize=block, mode_type=mode) for mode in (0, 1))
    for n, c, h, w, i, j in np.ndindex(batch, channels, height, width, block, block):
        pixel = (n, c, h * block + i, w * block + j)
        assert dcr[pixel] == x[n, (i * block + j) * channels + c, h, w]
        assert crd[pixel] == x[n, (c * block + i) * block + j, h, w]
