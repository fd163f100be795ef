# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of four products of u8 and i8, in each lane, with the instructions of each processor.

    total[lane] += sum over j of x[j] * w[lane][j]

Four activations are one 32-bit word that every lane reads. Weights are packed when the model is compiled. All are
exact: no product or sum saturates (vpmaddubsw, which would, is not used).
"""

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
    load_scalar,
    scalar,
    vector_type,
    widen,
)
from .machine import Cpu

GROUP = 4


class DotProduct(Protocol):
    """How one processor does it.

    Attributes:
      step: bytes of the weights of all lanes in one step.
    """

    step: int

    def pack(self, weights: np.ndarray) -> np.ndarray:
        """Packed weights of int8 [..., lanes, 4] as bytes [..., step]."""

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        """Four activations, from u8, for all lanes."""

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        """What `pack` packed."""

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        """The next total, i32 in each lane."""


def dot_product(cpu: Cpu) -> DotProduct:
    match cpu.name:
        case "avx512-vnni" | "avx-vnni":
            return _Vnni(cpu.lanes, f"llvm.x86.avx512.vpdpbusd.{32 * cpu.lanes}")
        case "avx2":
            return _MultiplyAdd()
        case _:
            return _Plain(cpu.lanes)


class _Vnni(NamedTuple):
    lanes: int
    instruction: str

    @property
    def step(self) -> int:
        return self.lanes * GROUP

    def pack(self, weights: np.ndarray) -> np.ndarray:
        return weights.reshape(*weights.shape[:-2], self.step)

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
    step = 8 * GROUP * 2

    def pack(self, weights: np.ndarray) -> np.ndarray:
        halves = np.stack([weights[..., 0::2], weights[..., 1::2]], -3).astype(np.int16)  # [..., 2, lanes, 2]
        return np.ascontiguousarray(halves).reshape(*weights.shape[:-2], -1).view(np.int8)

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


class _Plain:
    """Vectors of 32 bits, on any processor."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.step = lanes, lanes * GROUP

    def pack(self, weights: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.swapaxes(weights, -1, -2)).reshape(*weights.shape[:-2], self.step)

    def activations(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        type_ = vector_type(self.lanes, 32)
        bytes_ = (load_scalar(buffer, add(position, j)) for j in range(GROUP))
        return tuple(vector.broadcast(type_, arith.extui(integer(32), byte)) for byte in bytes_)

    def weights(self, buffer: ir.Value, position: Index) -> tuple[ir.Value, ...]:
        return tuple(widen(load(buffer, add(position, j * self.lanes), self.lanes), 32) for j in range(GROUP))

    def accumulate(self, total: ir.Value, x: tuple[ir.Value, ...], w: tuple[ir.Value, ...]) -> ir.Value:
        for values, weights in zip(x, w, strict=True):
            total = arith.addi(total, arith.muli(values, weights))
        return total


def _word(buffer: ir.Value, position: Index) -> ir.Value:
    """Four bytes as i32, in memory order on a little-endian machine."""
    return vector.extract(bitcast(load(buffer, position, GROUP), 32), [], [0])
