# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products with packed weights.

    y[n, h, w, o] = rescale(bias[o] + sum over i, j, c of x[n, h s + i d, w s + j d, c] * w[o, i, j, c])

A tile of `pixels` positions in a row by `blocks` vectors of output channels is in registers while the sum runs over
the window. A matrix product is a convolution of an image of one row. Sizes are those of the buffers: the padding of the
input is in them, and the input channels of a group are a multiple of four.
"""

import dataclasses

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.dot_product import WORD, DotProduct, dot_product
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
    store,
)
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.requantize import PARAMETERS, Requantizer, Rescale
from torq_mlir.backends.cpu.x86 import PART, QUARTERS

# Of a step: what a load costs beside a dot product, what is saved where `Convolution.narrows_blocks`, and the number of
# sums that hides how long an instruction takes.
_LOAD, _FOUR_BLOCKS, _FEWEST_SUMS = 0.3, 0.97, 8


@dataclasses.dataclass(frozen=True)
class View:
    """A buffer as an image: its elements, the position of the first pixel, and distances of images, rows and pixels."""

    elements: int
    origin: int
    image: int
    row: int
    pixel: int


@dataclasses.dataclass(frozen=True)
class Convolution:
    """Attributes:
    images, groups, height, width: of the output.
    channels: of the input of a group.
    inputs: bytes of them, with room.
    outputs: channels of a group.
    group_strides: distances between the groups of the source and of the result.
    window, stride, dilation: vertical and horizontal.
    pixels, blocks: of a tile.
    runs: parts of a row, each a task.
    result_width: bits of an element of the output.
    operand_width: bits of activations and weights; 16 with run-time weights only. The source is one of bytes always.
    static_weights: `pack` packs them; otherwise a `Pack`, at run time.
    rows_of_block: rows that are computed for all output channels before the next ones.
    """

    images: int
    groups: int
    height: int
    width: int
    channels: int
    inputs: int
    outputs: int
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    source: View
    result: View
    group_strides: tuple[int, int]
    rescale: Rescale
    pixels: int
    blocks: int
    runs: int = 1
    result_width: int = 8
    operand_width: int = 8
    static_weights: bool = True
    rows_of_block: int = 1 << 30

    @property
    def name(self) -> str:
        return "convolution"

    def dot_product(self, cpu: Cpu) -> DotProduct:
        return dot_product(cpu, self.operand_width)

    @property
    def products(self) -> int:
        outputs = self.images * self.groups * self.height * self.width * self.outputs
        return outputs * self.window[0] * self.window[1] * self.channels

    def output_tiles(self, cpu: Cpu) -> int:
        return -(-self.outputs // (self.blocks * cpu.lanes))

    @property
    def row_tiles(self) -> int:
        return -(-self.width // self.pixels)

    def tasks(self, cpu: Cpu) -> int:
        return self.tasks_of_row(cpu) * self.images * self.height * self.runs

    def tasks_of_row(self, cpu: Cpu) -> int:
        return self.groups * self.output_tiles(cpu)

    def padded_outputs(self, cpu: Cpu) -> int:
        """Of a group, up to whole tiles."""
        return self.output_tiles(cpu) * self.blocks * cpu.lanes

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        channels = self.groups * self.padded_outputs(cpu)
        weights = channels // cpu.lanes * self.steps * self.dot_product(cpu).step
        buffers = [buffer_type(self.source.elements, 8), buffer_type(weights, 8)]
        buffers += [buffer_type(channels, 32)] * 2
        return [*buffers, buffer_type(self.result.elements, self.result_width), *[integer(32)] * PARAMETERS]

    @property
    def steps(self) -> int:
        """Dot products of four for one output."""
        return self.window[0] * self.window[1] * self.inputs // WORD

    def pack(self, weights: np.ndarray, cpu: Cpu) -> np.ndarray:
        """int8 [groups * outputs, inputs or fewer, kh, kw] as the kernel reads them: for each tile, step and block."""
        _, inputs, kh, kw = weights.shape
        padded = np.zeros((self.groups, self.padded_outputs(cpu), kh, kw, self.inputs), np.int8)
        grouped = weights.reshape(self.groups, self.outputs, inputs, kh, kw)
        padded[:, : self.outputs, :, :, :inputs] = grouped.transpose(0, 1, 3, 4, 2)
        tiles = self._in_blocks(padded, cpu).reshape(self.groups, -1, self.blocks, cpu.lanes, self.steps, WORD)
        steps = np.ascontiguousarray(tiles.transpose(0, 1, 4, 2, 3, 5))
        return np.ascontiguousarray(self.dot_product(cpu).pack(steps)).reshape(-1)

    def pad_channels(self, values: np.ndarray, cpu: Cpu) -> np.ndarray:
        """int32 [groups * outputs] with zeros for the channels that fill tiles."""
        padded = np.zeros((self.groups, self.padded_outputs(cpu)), np.int32)
        padded[:, : self.outputs] = values.reshape(self.groups, self.outputs)
        return self._in_blocks(padded, cpu).reshape(-1)

    def narrows_blocks(self, cpu: Cpu) -> bool:
        """All blocks of a tile become one vector of bytes; lanes have the channels in the order which that needs."""
        fits = self.blocks == QUARTERS and self.result_width == 8 and self.rescale.is_narrow
        return cpu.is_x86 and self.static_weights and fits

    def _in_blocks(self, values: np.ndarray, cpu: Cpu) -> np.ndarray:
        """Channels, the second dimension, as [tiles, blocks, lanes]."""
        rest = values.shape[2:]
        if self.narrows_blocks(cpu):
            parts = values.reshape(self.groups, -1, cpu.lanes // PART, self.blocks, PART, *rest)
            values = parts.swapaxes(2, 3)
        return values.reshape(self.groups, -1, self.blocks, cpu.lanes, *rest)

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        column, position = divide(task, self.images * self.height * self.runs)
        group, tile = divide(column, self.output_tiles(cpu))
        position, run = divide(position, self.runs)
        image, row = divide(position, self.height)
        _Row(self, cpu, arguments, image, group, tile, row).emit(run)


class _Row:
    """Code for one row, or part of one, and one tile of output channels."""

    def __init__(self, kernel: Convolution, cpu: Cpu, arguments: list[ir.Value], *place: Index) -> None:
        self.kernel, self.cpu, self.dot = kernel, cpu, kernel.dot_product(cpu)
        self.x, self.w, self.bias, self.multiplier, self.y, *parameters = arguments
        self.requantizer = Requantizer(kernel.rescale, parameters, cpu.is_x86)
        image, group, tile, row = place
        source, result = kernel.source, kernel.result
        self.source_row = add(
            source.origin,
            scale(image, source.image),
            scale(group, kernel.group_strides[0]),
            scale(row, source.row * kernel.stride[0]),
        )
        self.first_channel = scale(tile, kernel.blocks * cpu.lanes)
        self.result_row = add(
            result.origin,
            scale(image, result.image),
            scale(group, kernel.group_strides[1]),
            scale(row, result.row),
            self.first_channel,
        )
        self.tile = add(scale(group, kernel.output_tiles(cpu)), tile)
        self.channel = scale(self.tile, kernel.blocks * cpu.lanes)
        self.weights = scale(self.tile, kernel.steps * kernel.blocks * self.dot.step)

    def emit(self, run: Index) -> None:
        kernel = self.kernel
        per_run = -(-kernel.row_tiles // kernel.runs)
        first = scale(run, per_run)
        loop(first, minimum(add(first, per_run), kernel.row_tiles), self._tile)

    def _tile(self, tile: Index) -> None:
        """The last tile begins so that it ends with the row."""
        kernel = self.kernel
        pixel = minimum(scale(tile, kernel.pixels), kernel.width - kernel.pixels)
        source = add(self.source_row, scale(pixel, kernel.source.pixel * kernel.stride[1]))
        totals = self._sums(source)
        result = add(self.result_row, scale(pixel, kernel.result.pixel))
        self._store(totals, result)

    def _sums(self, source: Index) -> list[ir.Value]:
        """Totals of pixel p and block b at p * blocks + b."""
        kernel = self.kernel
        kh, kw = kernel.window
        lanes = self.cpu.lanes
        totals = [load(self.bias, add(self.channel, b * lanes), lanes) for b in range(kernel.blocks)] * kernel.pixels
        contiguous = kernel.dilation[1] == 1 and kernel.source.pixel == kernel.inputs
        columns, steps = (1, kw * kernel.inputs // WORD) if contiguous else (kw, kernel.inputs // WORD)

        def row(i: Index, *totals: ir.Value) -> list[ir.Value]:
            at = add(source, scale(i, kernel.dilation[0] * kernel.source.row))

            def column(j: Index, *totals: ir.Value) -> list[ir.Value]:
                begin = add(at, scale(j, kernel.dilation[1] * kernel.source.pixel))
                position = scale(add(scale(i, columns), j), steps)
                weights = add(self.weights, scale(position, kernel.blocks * self.dot.step))
                return loop(0, steps, lambda k, *t: self._step(begin, weights, k, t), totals)

            return loop(0, columns, column, totals)

        return loop(0, kh, row, totals)

    def _step(self, source: Index, weights: Index, k: Index, totals: tuple[ir.Value, ...]) -> list[ir.Value]:
        kernel = self.kernel
        source, weights = add(source, scale(k, WORD)), add(weights, scale(k, kernel.blocks * self.dot.step))
        w = [self.dot.weights(self.w, add(weights, b * self.dot.step)) for b in range(kernel.blocks)]
        result = []
        for p in range(kernel.pixels):
            x = self.dot.activations(self.x, add(source, p * kernel.stride[1] * kernel.source.pixel))
            result += [self.dot.accumulate(totals[p * kernel.blocks + b], x, w[b]) for b in range(kernel.blocks)]
        return result

    def _store(self, totals: list[ir.Value], result: Index) -> None:
        kernel, lanes = self.kernel, self.cpu.lanes
        whole = kernel.outputs % (kernel.blocks * lanes) == 0
        if kernel.narrows_blocks(self.cpu):
            self._store_bytes(totals, result, None if whole else self._valid(0, kernel.blocks))
            return
        for b in range(kernel.blocks):
            channel = add(self.channel, b * lanes)
            multiplier = load(self.multiplier, channel, lanes)
            valid = None if whole else self._valid(b)
            for p in range(kernel.pixels):
                value = self.requantizer.apply(totals[p * kernel.blocks + b], multiplier)
                position = add(result, p * kernel.result.pixel + b * lanes)
                store(narrow(value, kernel.result_width), self.y, position, valid)

    def _store_bytes(self, totals: list[ir.Value], result: Index, valid: Index | None) -> None:
        """All blocks of a pixel as one vector."""
        kernel, lanes = self.kernel, self.cpu.lanes
        multipliers = [load(self.multiplier, add(self.channel, b * lanes), lanes) for b in range(kernel.blocks)]
        for p in range(kernel.pixels):
            value = self.requantizer.bytes(totals[p * kernel.blocks :][: kernel.blocks], multipliers)
            store(value, self.y, add(result, p * kernel.result.pixel), valid)

    def _valid(self, block: int, blocks: int = 1) -> Index:
        """Output channels in so many blocks of this tile."""
        lanes = self.cpu.lanes
        left = add(index(self.kernel.outputs - block * lanes), scale(self.first_channel, -1))
        return maximum(minimum(left, blocks * lanes), 0)


def tile_sizes(width: int, outputs: int, cpu: Cpu) -> tuple[int, int]:
    """Pixels and blocks of a tile: few sums that are computed twice or not needed, and few loads for them.

    All sums are in registers, with the weights of a step and a word of activations.
    """
    blocks_in_all, most = -(-outputs // cpu.lanes), 4 if cpu.registers >= 32 else 2
    operands = 1 if cpu.has_dot_product else 2  # registers of what is multiplied

    def cost(tile: tuple[int, int]) -> float:
        pixels, blocks = tile
        sums = -(-width // pixels) * pixels * -(-blocks_in_all // blocks) * blocks
        loads = (pixels + blocks) / (pixels * blocks)
        narrowing = _FOUR_BLOCKS if blocks == QUARTERS else 1
        latency = 1 if pixels == width else max(1, _FEWEST_SUMS / (pixels * blocks))
        return sums * (1 + _LOAD * loads) * narrowing * latency

    tiles = (
        (pixels, blocks)
        for blocks in range(1, min(most, blocks_in_all) + 1)
        for pixels in range(1, min(width, (cpu.registers - operands * (1 + blocks)) // blocks) + 1)
    )
    return min(tiles, key=cost)
