# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of each channel by itself, four taps of a column at a time.

Rows of 8-bit channels are interleaved, so that each 32-bit lane has four taps of one channel, which is what the dot
product of the processor takes. It interleaves within 128 bits; weights, biases and multipliers are packed in the order
of channels that this gives, and the narrowed results are put back in theirs.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import vector

from torq_mlir.backends.cpu.dot_product import WORD, dot_product
from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    bitcast,
    buffer_type,
    integer,
    load,
    loop,
    minimum,
    narrow,
    scale,
    store,
)
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.requantize import PARAMETERS, Requantizer

from .depthwise import Channelwise

_SEGMENT = 16  # bytes of 128 bits
_PIXELS = 4


@dataclasses.dataclass(frozen=True)
class DepthwiseWords(Channelwise):
    """For processors with a dot product, and outputs of 8 or 16 bits."""

    @property
    def _row_groups(self) -> int:
        """Rows of the window, in fours."""
        return -(-self.window[0] // WORD)

    def _blocks(self, cpu: Cpu) -> int:
        """Channels, in vectors of bytes."""
        return -(-self.channels // (WORD * cpu.lanes))

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        vectors = self._blocks(cpu) * WORD
        weights = vectors * self._row_groups * self.window[1] * WORD * cpu.lanes
        buffers = [buffer_type(self.source.elements, 8), buffer_type(weights, 8)]
        buffers += [buffer_type(vectors * cpu.lanes, 32)] * 2
        return [*buffers, buffer_type(self.result.elements, self.result_width), *[integer(32)] * PARAMETERS]

    def pack(self, weights: np.ndarray, cpu: Cpu) -> np.ndarray:
        """int8 [channels, 1, kh, kw] as bytes [block, row group, column, vector, lane, row]."""
        blocks, groups, (kh, kw) = self._blocks(cpu), self._row_groups, self.window
        padded = np.zeros((blocks * WORD * cpu.lanes, groups * WORD, kw), np.int8)
        padded[: self.channels, :kh] = weights[:, 0]
        taps = self._in_lanes(padded.reshape(len(padded), groups, WORD, kw), cpu)
        return np.ascontiguousarray(taps.transpose(0, 3, 5, 1, 2, 4)).reshape(-1)

    def pad_channels(self, values: np.ndarray, cpu: Cpu) -> np.ndarray:
        """int32 [channels] as [block, vector, lane]."""
        padded = np.zeros(self._blocks(cpu) * WORD * cpu.lanes, np.int32)
        padded[: self.channels] = values
        return np.ascontiguousarray(self._in_lanes(padded, cpu)).reshape(-1)

    def _in_lanes(self, values: np.ndarray, cpu: Cpu) -> np.ndarray:
        """[channel, ...] as [block, vector, lane, ...]."""
        segments = WORD * cpu.lanes // _SEGMENT
        split = values.reshape(-1, segments, WORD, WORD, *values.shape[1:])  # block, segment, vector, channel
        order = (0, 2, 1, 3, *range(4, split.ndim))
        return split.transpose(order).reshape(-1, WORD, cpu.lanes, *values.shape[1:])

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        channels = WORD * cpu.lanes
        source, result = self.rows(task)
        whole = self.channels // channels

        def block(number: Index, valid: Index | None) -> None:
            _Block(self, cpu, arguments, number, valid).emit(source, result)

        loop(0, whole, lambda number: block(number, None))
        if whole * channels < self.channels:
            block(whole, self.channels - whole * channels)


class _Block:
    """Code for one row and one vector of channels."""

    def __init__(
        self, kernel: DepthwiseWords, cpu: Cpu, arguments: list[ir.Value], number: Index, valid: Index | None
    ) -> None:
        self.kernel, self.cpu, self.dot, self.valid = kernel, cpu, dot_product(cpu), valid
        self.x, self.w, self.bias, self.multiplier, self.y, *parameters = arguments
        self.requantizer = Requantizer(kernel.rescale, parameters)
        self.bytes = WORD * cpu.lanes
        self.channel = scale(number, self.bytes)
        self.weights = scale(number, kernel._row_groups * kernel.window[1] * WORD * self.bytes)
        self.pixels = min(_PIXELS, kernel.width)

    def emit(self, source: Index, result: Index) -> None:
        kernel = self.kernel

        def tile(number: Index) -> None:
            pixel = minimum(scale(number, self.pixels), kernel.width - self.pixels)
            at = add(source, self.channel, scale(pixel, kernel.source.pixel * kernel.stride[1]))
            totals = self._sums(at)
            for p in range(self.pixels):
                position = add(result, self.channel, scale(add(pixel, p), kernel.result.pixel))
                store(self._output(totals[p]), self.y, position, self.valid)

        loop(0, -(-kernel.width // self.pixels), tile)

    def _sums(self, source: Index) -> list[list[ir.Value]]:
        """Totals of each pixel, four vectors each."""
        kernel, lanes = self.kernel, self.cpu.lanes
        bias = [load(self.bias, add(self.channel, v * lanes), lanes) for v in range(WORD)]
        totals = [list(bias) for _ in range(self.pixels)]
        columns: dict[int, list[tuple[int, int]]] = {}
        for p in range(self.pixels):
            for tap in range(kernel.window[1]):
                columns.setdefault(p * kernel.stride[1] + tap * kernel.dilation[1], []).append((p, tap))
        for column in sorted(columns):
            for group in range(kernel._row_groups):
                words = self._words(add(source, column * kernel.source.pixel), group)
                for p, tap in columns[column]:
                    for v in range(WORD):
                        index = (group * kernel.window[1] + tap) * WORD + v
                        weights = self.dot.weights(self.w, add(self.weights, index * self.bytes))
                        totals[p][v] = self.dot.accumulate(totals[p][v], (words[v],), weights)
        return totals

    def _words(self, column: Index, group: int) -> list[ir.Value]:
        """Four rows of one column, interleaved; what is beyond the window has weights of 0."""
        kernel = self.kernel
        count = min(WORD, kernel.window[0] - group * WORD)
        rows = []
        for i in range(count):
            offset = (group * WORD + i) * kernel.dilation[0] * kernel.source.row
            rows.append(load(self.x, add(column, offset), self.bytes, self.valid))
        rows += [rows[0]] * (WORD - count)
        halves = [_zip_segments(*pair, upper) for upper in (False, True) for pair in (rows[:2], rows[2:])]
        words = []
        for low, high in (halves[:2], halves[2:]):
            low, high = bitcast(low, 16), bitcast(high, 16)
            words += [bitcast(_zip_segments(low, high, upper), 8) for upper in (False, True)]
        return words

    def _output(self, totals: list[ir.Value]) -> ir.Value:
        """The channels in order, as they are stored."""
        lanes, width = self.cpu.lanes, self.kernel.result_width
        parts = []
        for v, total in enumerate(totals):
            multiplier = load(self.multiplier, add(self.channel, v * lanes), lanes)
            value = narrow(self.requantizer.apply(total, multiplier), width)
            parts.append(bitcast(value, WORD * width))  # four channels each
        count = lanes // WORD
        first, second = (vector.shuffle(a, b, list(range(2 * count))) for a, b in (parts[:2], parts[2:]))
        order = [v * count + segment for segment in range(count) for v in range(WORD)]
        return bitcast(vector.shuffle(first, second, order), width)


def _zip_segments(a: ir.Value, b: ir.Value, upper: bool) -> ir.Value:
    """Elements of the lower or upper half of each 128 bits of two vectors in turn."""
    type_ = ir.VectorType(a.type)
    count, width = type_.shape[0], type_.element_type.width
    each = 8 * _SEGMENT // width
    order: Sequence[int] = [
        segment + (each // 2 if upper else 0) + i + which * count
        for segment in range(0, count, each)
        for i in range(each // 2)
        for which in (0, 1)
    ]
    return vector.shuffle(a, b, order)
