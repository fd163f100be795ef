# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maxima of windows, and sums over whole images."""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    index,
    integer,
    load,
    loop,
    maximum,
    minimum,
    narrow,
    scale,
    splat,
    store,
    vector_type,
    widen,
)
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.requantize import PARAMETERS, Requantizer, Rescale

from .convolution import View


@dataclasses.dataclass(frozen=True)
class MaxPool:
    """Maxima of stored, unsigned bytes. What a window has outside of the image is the value of an argument.

    Attributes:
      images, height, width, channels: of the output.
      source_size: height and width of the input.
      padding: above and on the left.
    """

    images: int
    height: int
    width: int
    channels: int
    source_size: tuple[int, int]
    window: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    source: View
    result: View

    @property
    def name(self) -> str:
        return "max_pool"

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return self.images * self.height

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        buffers = [buffer_type(view.elements, 8) for view in (self.source, self.result)]
        return [*buffers, *[integer(8)] * 3]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        x, y, outside, low, high = arguments
        image, row = divide(task, self.height)
        lanes = cpu.lanes * 4
        type_ = vector_type(lanes, 8)

        def window(column: Index) -> tuple[Index, Index, Index, Index, ir.Value]:
            first_row = add(scale(row, self.stride[0]), -self.padding[0])
            first_column = add(scale(column, self.stride[1]), -self.padding[1])
            top, bottom = _inside(first_row, self.window[0], self.source_size[0])
            left, right = _inside(first_column, self.window[1], self.source_size[1])
            rows, columns = add(bottom, scale(top, -1)), add(right, scale(left, -1))
            area = arith.muli(index(rows), index(columns))
            whole = arith.cmpi(arith.CmpIPredicate.eq, area, index(self.window[0] * self.window[1]))
            start = arith.select(whole, arith.constant(integer(8), 0), outside)
            return top, bottom, left, right, splat(start, type_)

        def pixel(column: Index) -> None:
            top, bottom, left, right, start = window(column)
            base = add(self.source.origin, scale(image, self.source.image))
            result = add(
                self.result.origin,
                scale(image, self.result.image),
                scale(row, self.result.row),
                scale(column, self.result.pixel),
            )

            def channels(c: Index, valid: Index | None) -> None:
                def line(i: Index, best: ir.Value) -> list[ir.Value]:
                    at = add(base, scale(i, self.source.row), c)

                    def element(j: Index, best: ir.Value) -> list[ir.Value]:
                        value = load(x, add(at, scale(j, self.source.pixel)), lanes, valid)
                        return [arith.maxui(best, value)]

                    return loop(left, right, element, [best])

                (best,) = loop(top, bottom, line, [start])
                best = arith.minui(arith.maxui(best, splat(low, type_)), splat(high, type_))
                store(best, y, add(result, c), valid)

            whole = self.channels // lanes * lanes
            loop(0, whole, lambda c: channels(c, None), step=lanes)
            if whole < self.channels:
                channels(whole, self.channels - whole)

        loop(0, self.width, pixel)


def _inside(first: Index, size: int, limit: int) -> tuple[Index, Index]:
    """The part of a window from `first` on that is between 0 and the limit."""
    return maximum(first, 0), minimum(add(first, size), limit)


@dataclasses.dataclass(frozen=True)
class GlobalAverage:
    """rescale(bias + sum over the pixels), for each image and channel. Elements are u8.

    The bias takes in what is added to stored values. Bias and multiplier are one for each channel, up to whole vectors.
    """

    images: int
    height: int
    width: int
    channels: int
    source: View
    result: View
    rescale: Rescale

    @property
    def name(self) -> str:
        return "global_average"

    def _blocks(self, cpu: Cpu) -> int:
        return -(-self.channels // cpu.lanes)

    def padded_channels(self, cpu: Cpu) -> int:
        return self._blocks(cpu) * cpu.lanes

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return self.images * self._blocks(cpu)

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        parameters = [buffer_type(self.padded_channels(cpu), 32)] * 2
        return [buffer_type(self.source.elements, 8), *parameters, buffer_type(self.result.elements, 8)] + [
            integer(32)
        ] * PARAMETERS

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        x, bias, multiplier, y, *parameters = arguments
        image, block = divide(task, self._blocks(cpu))
        lanes, channel = cpu.lanes, scale(block, cpu.lanes)
        whole = self.channels % lanes == 0
        valid = None if whole else minimum(add(self.channels, scale(channel, -1)), lanes)
        base = add(self.source.origin, scale(image, self.source.image), channel)

        def line(i: Index, total: ir.Value) -> list[ir.Value]:
            at = add(base, scale(i, self.source.row))

            def element(j: Index, total: ir.Value) -> list[ir.Value]:
                value = load(x, add(at, scale(j, self.source.pixel)), lanes, valid)
                return [arith.addi(total, widen(value, 32, unsigned=True))]

            return loop(0, self.width, element, [total])

        (total,) = loop(0, self.height, line, [load(bias, channel, lanes)])
        requantizer = Requantizer(self.rescale, parameters, cpu.is_x86)
        value = requantizer.apply(total, load(multiplier, channel, lanes))
        store(narrow(value, 8), y, add(self.result.origin, scale(image, self.result.image), channel), valid)
