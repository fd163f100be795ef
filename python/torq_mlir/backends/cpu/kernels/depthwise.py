# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of each channel by itself.

y[n, h, w, c] = rescale(bias[c] + sum over i, j of x[n, h s + i d, w s + j d, c] * w[i, j, c])
"""

import dataclasses

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    divide,
    integer,
    load,
    loop,
    minimum,
    narrow,
    scale,
    store,
    widen,
)
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.requantize import PARAMETERS, Requantizer, Rescale

from .convolution import View


@dataclasses.dataclass(frozen=True)
class Channelwise:
    """A convolution of each channel by itself.

    Attributes:
      images, height, width, channels: of the output.
      window, stride, dilation: vertical and horizontal.
      result_width: bits of an element of the output.
    """

    images: int
    height: int
    width: int
    channels: int
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    source: View
    result: View
    rescale: Rescale
    result_width: int = 8

    @property
    def name(self) -> str:
        return "depthwise"

    @property
    def products(self) -> int:
        return self.images * self.height * self.width * self.channels * self.window[0] * self.window[1]

    def tasks(self, cpu: Cpu) -> int:
        return self.images * self.height

    def rows(self, task: Index) -> tuple[Index, Index]:
        """Where the row of a task begins, in the source and in the result."""
        image, row = divide(task, self.height)
        source, result = self.source, self.result
        return (
            add(source.origin, scale(image, source.image), scale(row, source.row * self.stride[0])),
            add(result.origin, scale(image, result.image), scale(row, result.row)),
        )


@dataclasses.dataclass(frozen=True)
class Depthwise(Channelwise):
    """For any processor: each lane has one channel in 32 bits."""

    def _blocks(self, cpu: Cpu) -> int:
        return -(-self.channels // cpu.lanes)

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        channels = self._blocks(cpu) * cpu.lanes
        kh, kw = self.window
        buffers = [buffer_type(self.source.elements, 8), buffer_type(kh * kw * channels, 16)]
        buffers += [buffer_type(channels, 32)] * 2
        return [*buffers, buffer_type(self.result.elements, self.result_width), *[integer(32)] * PARAMETERS]

    def pack(self, weights: np.ndarray, cpu: Cpu) -> np.ndarray:
        """int8 [channels, 1, kh, kw] as int16 [kh * kw, channels up to whole vectors]."""
        padded = np.zeros((*weights.shape[2:], self._blocks(cpu) * cpu.lanes), np.int16)
        padded[..., : self.channels] = weights[:, 0].transpose(1, 2, 0)
        return padded.reshape(-1)

    def pad_channels(self, values: np.ndarray, cpu: Cpu) -> np.ndarray:
        padded = np.zeros(self._blocks(cpu) * cpu.lanes, np.int32)
        padded[: self.channels] = values
        return padded

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        x, w, bias, multiplier, y, *parameters = arguments
        requantizer = Requantizer(self.rescale, parameters, cpu.is_x86)
        source, result = self.rows(task)
        lanes, stride = cpu.lanes, self._blocks(cpu) * cpu.lanes

        def block(channel: Index, valid: Index | None) -> None:
            factors, offsets = load(multiplier, channel, lanes), load(bias, channel, lanes)

            def pixel(column: Index) -> None:
                at = add(source, scale(column, self.source.pixel * self.stride[1]), channel)

                def tap(i: Index, j: Index, total: ir.Value) -> ir.Value:
                    offset = add(
                        scale(i, self.dilation[0] * self.source.row), scale(j, self.dilation[1] * self.source.pixel)
                    )
                    value = widen(load(x, add(at, offset), lanes, valid), 32, unsigned=True)
                    weight = widen(load(w, add(scale(add(scale(i, self.window[1]), j), stride), channel), lanes), 32)
                    return arith.addi(total, arith.muli(value, weight))

                total = self._window(tap, offsets)
                value = narrow(requantizer.apply(total, factors), self.result_width)
                store(value, y, add(result, scale(column, self.result.pixel), channel), valid)

            loop(0, self.width, pixel)

        whole = self.channels // lanes * lanes
        loop(0, whole, lambda c: block(c, None), step=lanes)
        if whole < self.channels:
            block(whole, minimum(self.channels - whole, lanes))

    def _window(self, tap, total: ir.Value) -> ir.Value:
        kh, kw = self.window
        if kh * kw <= 25:
            for i in range(kh):
                for j in range(kw):
                    total = tap(i, j, total)
            return total
        (total,) = loop(0, kh, lambda i, t: loop(0, kw, lambda j, t: [tap(i, j, t)], [t]), [total])
        return total
