# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arithmetic of torq_hl in Python integers and loops, to test kernels against, and generators of its operands."""

import itertools
from dataclasses import asdict, dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@dataclass
class Output:
    """How an accumulator becomes an output."""

    shift: int
    output_zp: int
    output_min: int
    output_max: int

    def of(self, accumulator: int, multiplier: int) -> int:
        value = accumulator * multiplier
        if self.shift:
            value = (value + (1 << (self.shift - 1))) >> self.shift
        return min(max(value + self.output_zp, self.output_min), self.output_max)

    def attributes(self, shift_name: str = "shift_factor") -> dict[str, int]:
        attributes = asdict(self)
        return {shift_name: attributes.pop("shift"), **attributes}


@st.composite
def outputs(draw, dtype=np.int8):
    limits = np.iinfo(dtype)
    low, high = sorted(draw(st.tuples(*[st.integers(limits.min, limits.max)] * 2)))
    full_range = draw(st.booleans())
    bounds = (limits.min, limits.max) if full_range else (low, high)
    return Output(draw(st.integers(0, 70)), draw(st.integers(-128, 127)), *bounds)


@st.composite
def scale_biases(draw, channels):
    """Pairs for each channel or one for all, with multipliers of any magnitude."""
    count = draw(st.sampled_from([1, channels]))
    biases = st.integers(-(2**24), 2**24)
    multipliers = st.one_of(st.integers(-3, 3), st.integers(0, 2**31 - 1))
    return np.array(draw(st.lists(st.tuples(biases, multipliers), min_size=count, max_size=count)), np.int32).ravel()


def arrays(dtype, shape):
    """Arrays of any values, and often of the extreme ones."""
    limits = np.iinfo(dtype)
    values = st.one_of(st.integers(limits.min, limits.max), st.sampled_from([limits.min, limits.max, 0]))
    return hnp.arrays(dtype, shape, elements=values)


def pair(scale_bias: np.ndarray, channel: int) -> tuple[int, int]:
    """Bias and multiplier of a channel."""
    pairs = scale_bias.reshape(-1, 2)
    return tuple(pairs[channel if len(pairs) > 1 else 0].tolist())


def convolution(x, weights, scale_bias, output, *, input_zp, groups, pad, stride, dilation):
    """conv2d by its definition; x is NCHW and not padded."""
    batch, _, height, width = x.shape
    outputs_, depth, kernel_height, kernel_width = weights.shape
    left, right, top, bottom = pad
    rows = (height + top + bottom - (kernel_height - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (width + left + right - (kernel_width - 1) * dilation[1] - 1) // stride[1] + 1
    y = np.zeros((batch, outputs_, rows, columns), dtype=np.int64)
    for n, o, i, j in np.ndindex(y.shape):
        bias, multiplier = pair(scale_bias, o)
        accumulator = bias
        for c, u, v in itertools.product(range(depth), range(kernel_height), range(kernel_width)):
            row, column = i * stride[0] + u * dilation[0] - top, j * stride[1] + v * dilation[1] - left
            channel = o // (outputs_ // groups) * depth + c
            inside = 0 <= row < height and 0 <= column < width
            value = int(x[n, channel, row, column]) if inside else input_zp
            accumulator += value * int(weights[o, c, u, v])
        y[n, o, i, j] = output.of(accumulator, multiplier)
    return y
