# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generator leaves out, each with its reason: forms of operators that torch-mlir or ONNX get wrong."""

import math
from collections.abc import Sequence


def transposed_convolution_lowers(in_channels: int, out_channels: int, group: int, pads: Sequence[int]) -> bool:
    """Of a transposed convolution.

    torch-mlir has no lowering where padding differs between the two sides of a dimension, and its lowering of a
    depthwise one is not valid IR: both are errors that name the node.
    """
    symmetric = list(pads[: len(pads) // 2]) == list(pads[len(pads) // 2 :])
    return symmetric and (group == 1 or not group == in_channels == out_channels)


def ceil_mode_is_clear(spatial: Sequence[int], kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int]):
    """Whether no window of a pooling in ceil_mode starts in the padding.

    ONNX's shape inference counts such a window, ONNX Runtime does not.
    """
    rank = len(spatial)
    for axis, size in enumerate(spatial):
        padded = size + pads[axis] + pads[axis + rank]
        last = math.ceil((padded - kernel[axis]) / strides[axis]) * strides[axis]
        if last >= size + pads[axis]:
            return False
    return True


def auto_pad_runs(kernel: Sequence[int], strides: Sequence[int]) -> bool:
    """Of a pooling. ONNX Runtime fails where strides skip elements: the padding it computes is negative."""
    return all(stride <= size for size, stride in zip(kernel, strides, strict=True))


def alpha_counts(operands_to_add: int) -> bool:
    """Of a Gemm. torch-mlir forgets alpha where there is nothing to add to the product."""
    return operands_to_add > 0


def padding_can_count(ceil_mode: int) -> bool:
    """Of an average pooling. ONNX counts padding, but not what a window of ceil_mode is beyond it; torch-mlir does."""
    return not ceil_mode


def padding_lowers(mode: str, rank: int) -> bool:
    """Of a Pad. torch-mlir has no lowering of modes but the constant one for a vector: an error that names the node."""
    return mode == "constant" or rank > 1
