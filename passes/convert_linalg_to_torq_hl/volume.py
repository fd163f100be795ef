# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions over volumes as convolutions over images.

The slices of a volume that the window meets along the depth become channels of an image, and the positions along the
depth become images of the batch:

    [N, C, D, H, W]  ->  [N * D', groups * kd * C / groups, H, W]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.structured import pad_with, reshape

_DEPTH_AND_CHANNELS = [0, 2, 1, 3, 4]


@dataclass(frozen=True)
class Depth:
    """The window of a convolution along the depth of its input [N, C, D, H, W].

    Attributes:
      front, back: padding, which holds `zero_point`.
    """

    kernel: int
    stride: int
    dilation: int
    front: int
    back: int
    groups: int
    zero_point: int

    def fold_weights(self, weights: np.ndarray) -> np.ndarray:
        """[O, kd * C / groups, kh, kw] of [O, C / groups, kd, kh, kw]."""
        outputs, channels, depth, height, width = weights.shape
        folded = weights.transpose(0, 2, 1, 3, 4).reshape(outputs, depth * channels, height, width)
        return np.ascontiguousarray(folded)

    def fold(self, value: ir.Value) -> ir.Value:
        """The input as images."""
        value = pad_with(value, [0, 0, self.front, 0, 0], [0, 0, self.back, 0, 0], self.zero_point)
        value = torq_hl.transpose(value, perm=_DEPTH_AND_CHANNELS)
        batch, depth, channels, *image = ir.RankedTensorType(value.type).shape
        positions = (depth - (self.kernel - 1) * self.dilation - 1) // self.stride + 1
        value = reshape(value, [batch, depth, self.groups, channels // self.groups, *image])
        sizes = [batch, positions, self.groups, channels // self.groups, *image]
        slices = [self._slice(value, index, sizes) for index in range(self.kernel)]
        if len(slices) > 1:
            sizes[3] *= self.kernel
            result = ir.RankedTensorType.get(sizes, ir.RankedTensorType(value.type).element_type)
            axis = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 3)
            slices = [ir.Operation.create("tensor.concat", [result], slices, {"dim": axis}).result]
        return reshape(slices[0], [batch * positions, channels * self.kernel, *image])

    def _slice(self, value: ir.Value, index: int, sizes: Sequence[int]) -> ir.Value:
        """What element `index` of the window meets at each position."""
        shaped = ir.RankedTensorType(value.type)
        offsets, strides = [0, index * self.dilation, 0, 0, 0, 0], [1, self.stride, 1, 1, 1, 1]
        if list(shaped.shape) == list(sizes):
            return value
        result = ir.RankedTensorType.get(sizes, shaped.element_type)
        return tensor.extract_slice(result, value, [], [], [], offsets, sizes, strides)

    def unfold(self, value: ir.Value, batch: int) -> ir.Value:
        """[N, O, D', H', W'] of [N * D', O, H', W']."""
        images, *rest = ir.RankedTensorType(value.type).shape
        value = reshape(value, [batch, images // batch, *rest])
        return torq_hl.transpose(value, perm=_DEPTH_AND_CHANNELS)
