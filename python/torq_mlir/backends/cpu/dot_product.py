# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of four products of u8 and i8, or of two of i16, in each lane, with the instructions of each processor.

    total[lane] += sum over j of x[j] * w[lane][j]

The activations are one 32-bit word that every lane reads. Constant weights are packed when the model is compiled. All
are exact modulo 2^32: no product or sum saturates (vpmaddubsw, which would, is not used).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from .emission import (
    Index,
    add,
    bitcast,
    integer,
    intrinsic,
    load,
    scalar,
    splat,
    store,
    vector_type,
    widen,
)
from .machine import Cpu

# Bytes of the activations of a step.
WORD = 4


class DotProduct(Protocol):
    """How one processor does it.

    Attributes:
      step: bytes of the weights of all lanes in one step.
    """

    step: int

    def pack(self, weights: np.ndarray) -> np.ndarray:
        """Packed weights of int8 [..., lanes, 4] as bytes [..., step]; not of i16."""

    def store(self, rows: Sequence[ir.Value], buffer: ir.Value, position: Index) -> None:
        """Packs weights at run time: as many vectors as there are products, with one element for each lane."""

    def ones(self) -> tuple[ir.Value, ...]:
        """Activations of 1, for all lanes."""

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        """The word at a position in bytes, for all lanes."""

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        """What `pack` packed."""

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        """The next total, i32 in each lane."""


def dot_product(cpu: Cpu, width: int = 8) -> DotProduct:
    """For operands of 8 or 16 bits."""
    match cpu.name, width:
        case "avx512-vnni" | "avx-vnni", 8:
            return _Vnni(cpu.lanes, f"llvm.x86.avx512.vpdpbusd.{32 * cpu.lanes}")
        case "avx512-vnni" | "avx-vnni", _:
            return _Pairs(cpu.lanes, f"llvm.x86.avx512.vpdpwssd.{32 * cpu.lanes}")
        case "avx2", 8:
            return _MultiplyAdd()
        case "avx2", _:
            return _Pairs(cpu.lanes, None)
        case _:
            return _Plain(cpu.lanes, width)


class _Vnni(NamedTuple):
    lanes: int
    instruction: str

    @property
    def step(self) -> int:
        return self.lanes * WORD

    def pack(self, weights: np.ndarray) -> np.ndarray:
        return weights.reshape(*weights.shape[:-2], self.step)

    def store(self, rows: Sequence[ir.Value], buffer: ir.Value, position: Index) -> None:
        store(_interleaved(rows), buffer, position)

    def ones(self) -> tuple[ir.Value, ...]:
        return (splat(1, vector_type(self.step, 8)),)

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        word = _word(buffer, position)
        return (bitcast(vector.broadcast(vector_type(self.lanes, 32), word), 8),)

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        return (load(buffer, position, self.step),)

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        return intrinsic(self.instruction, total.type, total, *x, *w)


class _MultiplyAdd:
    """AVX2: pairs of 16-bit products, of the even and of the odd positions."""

    lanes = 8
    step = 8 * WORD * 2

    def pack(self, weights: np.ndarray) -> np.ndarray:
        halves = np.stack([weights[..., 0::2], weights[..., 1::2]], -3).astype(np.int16)  # [..., 2, lanes, 2]
        return np.ascontiguousarray(halves).reshape(*weights.shape[:-2], -1).view(np.int8)

    def store(self, rows: Sequence[ir.Value], buffer: ir.Value, position: Index) -> None:
        for offset, pair in ((0, (rows[0], rows[2])), (self.step // 2, (rows[1], rows[3]))):
            store(bitcast(widen(_zip(*pair), 16), 8), buffer, add(position, offset))

    def ones(self) -> tuple[ir.Value, ...]:
        return (splat(1, vector_type(2 * self.lanes, 16)),) * 2

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        word, low_bytes = _word(buffer, position), scalar(0x00FF00FF, 32)
        even, odd = arith.andi(word, low_bytes), arith.andi(arith.shrui(word, scalar(8, 32)), low_bytes)
        return tuple(bitcast(vector.broadcast(vector_type(self.lanes, 32), half), 16) for half in (even, odd))

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        half = self.step // 2
        return tuple(bitcast(load(buffer, add(position, offset), half), 16) for offset in (0, half))

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        for values, weights in zip(x, w, strict=True):
            total = arith.addi(total, intrinsic("llvm.x86.avx2.pmadd.wd", total.type, values, weights))
        return total


class _Pairs(NamedTuple):
    """Two products of i16. Without an instruction that adds to the total, that is done by another one."""

    lanes: int
    instruction: str | None

    @property
    def step(self) -> int:
        return self.lanes * WORD

    def pack(self, weights: np.ndarray) -> np.ndarray:
        raise NotImplementedError("constant weights have 8 bits")

    def store(self, rows: Sequence[ir.Value], buffer: ir.Value, position: Index) -> None:
        store(bitcast(_zip(*rows), 8), buffer, position)

    def ones(self) -> tuple[ir.Value, ...]:
        return (splat(1, vector_type(2 * self.lanes, 16)),)

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        return (bitcast(vector.broadcast(vector_type(self.lanes, 32), _word(buffer, position)), 16),)

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        return (bitcast(load(buffer, position, self.step), 16),)

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        if self.instruction is not None:
            return intrinsic(self.instruction, total.type, total, *x, *w)
        return arith.addi(total, intrinsic("llvm.x86.avx2.pmadd.wd", total.type, *x, *w))


class _Plain:
    """Vectors of 32 bits, on any processor."""

    def __init__(self, lanes: int, width: int) -> None:
        self.lanes, self.width, self.step, self.group = lanes, width, lanes * WORD, 8 * WORD // width

    def pack(self, weights: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.swapaxes(weights, -1, -2)).reshape(*weights.shape[:-2], self.step)

    def store(self, rows: Sequence[ir.Value], buffer: ir.Value, position: Index) -> None:
        for row, offset in zip(rows, self._offsets, strict=True):
            store(bitcast(row, 8), buffer, add(position, offset))

    def ones(self) -> tuple[ir.Value, ...]:
        return (splat(1, vector_type(self.lanes, 32)),) * self.group

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        type_, extend = vector_type(self.lanes, 32), arith.extui if self.width == 8 else arith.extsi
        elements = bitcast(load(buffer, position, WORD), self.width)
        scalars = (vector.extract(elements, [], [j]) for j in range(self.group))
        return tuple(vector.broadcast(type_, extend(integer(32), each)) for each in scalars)

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        size = self.step // self.group
        rows = (load(buffer, add(position, offset), size) for offset in self._offsets)
        return tuple(widen(bitcast(row, self.width), 32) for row in rows)

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        for values, weights in zip(x, w, strict=True):
            total = arith.addi(total, arith.muli(values, weights))
        return total

    @property
    def _offsets(self) -> range:
        return range(0, self.step, self.step // self.group)


def _interleaved(rows: Sequence[ir.Value]) -> ir.Value:
    """[r0[0], r1[0], r2[0], r3[0], r0[1], ...]."""
    return bitcast(_zip(*(bitcast(_zip(*pair), 16) for pair in (rows[:2], rows[2:]))), 8)


def _zip(a: ir.Value, b: ir.Value) -> ir.Value:
    """[a[0], b[0], a[1], b[1], ...]."""
    lanes = ir.VectorType(a.type).shape[0]
    return vector.shuffle(a, b, [lane + which * lanes for lane in range(lanes) for which in (0, 1)])


def _word(buffer: ir.Value, position: Index) -> ir.Value:
    """Four bytes as i32, in memory order on a little-endian machine."""
    return vector.extract(bitcast(load(buffer, position, WORD), 32), [], [0])
