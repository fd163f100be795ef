# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the elements of a tensor are in its buffer."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Layout:
    """Order of the dimensions in memory, with room around them.

    Dimensions are logical in `shape`, and physical, from the outermost to the innermost, in `order`, `low` and
    `high`.

    Attributes:
      shape: sizes of the tensor.
      dtype: of the elements.
      order: the logical dimension that each physical one is.
      low, high: elements of room before and after each physical dimension: the padding of a convolution, and channels
        up to a multiple of four.
      biased: whether 8-bit elements are stored as unsigned, plus 128.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    order: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    biased: bool

    @classmethod
    def plain(cls, shape: Sequence[int], dtype: np.dtype) -> "Layout":
        """As numpy has it."""
        rank = len(shape)
        return cls(tuple(shape), np.dtype(dtype), tuple(range(rank)), (0,) * rank, (0,) * rank, False)

    @classmethod
    def inner(
        cls,
        shape: Sequence[int],
        dtype: np.dtype,
        order: Sequence[int] | None = None,
        halo: Sequence[int] = (0, 0, 0, 0),
        channels: int = 0,
    ) -> "Layout":
        """As kernels exchange it: 8 bits are biased, and the innermost dimension is padded to words of 32 bits.

        Args:
          halo: room around the two dimensions before the innermost: left, right, top, bottom.
          channels: that the innermost dimension has room for at least.
        """
        rank, dtype = len(shape), np.dtype(dtype)
        order = tuple(range(rank)) if order is None else tuple(order)
        low, high = [0] * rank, [0] * rank
        if dtype in (np.int8, np.int16) and rank:
            inner, word = shape[order[-1]], 4 // dtype.itemsize
            high[-1] = max(inner, channels) + -max(inner, channels) % word - inner
        if any(halo):
            low[-2], high[-2], low[-3], high[-3] = halo
        return cls(tuple(shape), dtype, order, tuple(low), tuple(high), dtype == np.int8)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the physical dimensions, without room."""
        return tuple(self.shape[d] for d in self.order)

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the physical dimensions, with room."""
        return tuple(a + b + c for a, b, c in zip(self.low, self.sizes, self.high, strict=True))

    @property
    def strides(self) -> tuple[int, ...]:
        """Of the physical dimensions, in elements."""
        extents = self.extents
        return tuple(math.prod(extents[d + 1 :]) for d in range(len(extents)))

    @property
    def origin(self) -> int:
        """Position of the first element."""
        return sum(low * stride for low, stride in zip(self.low, self.strides, strict=True))

    @property
    def elements(self) -> int:
        return math.prod(self.extents)

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.itemsize

    @property
    def has_halo(self) -> bool:
        return any(self.low) or any(self.high[:-1])

    def stride_of(self, dimension: int) -> int:
        """Of a logical dimension."""
        return self.strides[self.order.index(dimension)]

    def transposed(self, permutation: Sequence[int]) -> "Layout":
        """The same buffer as a tensor whose dimension d is dimension `permutation[d]` of this one."""
        shape = tuple(self.shape[d] for d in permutation)
        order = tuple(list(permutation).index(d) for d in self.order)
        return dataclasses.replace(self, shape=shape, order=order)

    def reshaped(self, shape: Sequence[int]) -> "Layout | None":
        """The same buffer as a tensor of another shape; None if its elements are in another order or have gaps."""
        sizes = [d for d in self.order if self.shape[d] != 1]
        if sizes != sorted(sizes) or self.has_halo:
            return None
        padded = any(self.high)
        plain = Layout.plain(shape, self.dtype)
        if not padded:
            return dataclasses.replace(plain, biased=self.biased)
        last = [d for d, size in enumerate(shape) if size != 1]
        if not last or not sizes or self.order[-1] != sizes[-1] or shape[last[-1]] != self.shape[self.order[-1]]:
            return None
        order = (*(d for d in range(len(shape)) if d != last[-1]), last[-1])
        if [d for d in order if shape[d] != 1] != last:
            return None
        high = (*(0,) * (len(shape) - 1), self.high[-1])
        return Layout(tuple(shape), self.dtype, order, plain.low, high, self.biased)
