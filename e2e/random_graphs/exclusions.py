# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generator leaves out, each with its reason: forms of operators that torch-mlir or ONNX get wrong."""

import math
from collections.abc import Sequence


def ceil_mode_is_clear(spatial: Sequence[int], kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int]):
    """Whether no window of a pooling in ceil_mode starts in the padding.

    ONNX's shape inference counts such a window, ONNX Runtime does not: the model is not valid, or has another shape.
    """
    rank = len(spatial)
    for axis, size in enumerate(spatial):
        padded = size + pads[axis] + pads[axis + rank]
        last = math.ceil((padded - kernel[axis]) / strides[axis]) * strides[axis]
        if last >= size + pads[axis]:
            return False
    return True


def auto_pad_runs(kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> bool:
    """Of a pooling. ONNX Runtime fails where strides skip elements: the padding it computes is negative.

    It pads windows with gaps as if they had none, and has fewer results than ONNX says.
    """
    return max(dilations) == 1 and all(stride <= size for size, stride in zip(kernel, strides, strict=True))


def convolution_lowers(rank: int, group: int, inputs: int, outputs: int) -> bool:
    """torch-mlir has no lowering of a depthwise convolution over volumes, unless it has several outputs per input."""
    return rank < 3 or group == 1 or not group == inputs == outputs


def coordinates_lower(mode: str, coordinates: str) -> bool:
    """Of a Resize. torch-mlir has no lowering to the nearest neighbour with aligned corners."""
    return mode != "nearest" or coordinates not in ("align_corners", "pytorch_half_pixel")
