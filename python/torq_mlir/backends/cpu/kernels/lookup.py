# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of 256 bytes.

x86 looks up vectors of bytes in tables of 16: each of the 16 parts is tried, and kept where the upper half of the byte
is the number of the part. That is a few instructions for each byte less than one at a time.
"""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.backends.cpu.emission import (
    Index,
    add,
    buffer_type,
    intrinsic,
    load,
    load_scalar,
    loop,
    minimum,
    scale,
    splat,
    store,
    store_scalar,
)
from torq_mlir.backends.cpu.machine import Cpu

_RUN = 1 << 12
_PART = 16
_SHUFFLES = {64: "llvm.x86.avx512.pshuf.b.512", 32: "llvm.x86.avx2.pshuf.b"}


@dataclasses.dataclass(frozen=True)
class Lookup:
    """y[i] = table[x[i]] for all elements of two buffers, room included; x is read as unsigned."""

    elements: int

    @property
    def name(self) -> str:
        return "lookup"

    @property
    def products(self) -> int:
        return 0

    def tasks(self, cpu: Cpu) -> int:
        return -(-self.elements // _RUN)

    def arguments(self, cpu: Cpu) -> list[ir.Type]:
        return [buffer_type(self.elements, 8), buffer_type(256, 8), buffer_type(self.elements, 8)]

    def emit(self, cpu: Cpu, arguments: list[ir.Value], task: Index) -> None:
        first = scale(task, _RUN)
        last = minimum(add(first, _RUN), self.elements)
        if cpu.is_x86:
            _by_vectors(4 * cpu.lanes, arguments, first, last)
        else:
            _one_by_one(arguments, first, last)


def _one_by_one(arguments: list[ir.Value], first: Index, last: Index) -> None:
    source, table, result = arguments

    def element(i: Index) -> None:
        entry = arith.index_castui(ir.IndexType.get(), load_scalar(source, i))
        store_scalar(load_scalar(table, entry), result, i)

    loop(first, last, element)


def _by_vectors(lanes: int, arguments: list[ir.Value], first: Index, last: Index) -> None:
    source, table, result = arguments
    repeated = [i % _PART for i in range(lanes)]
    parts = []
    for part in range(_PART):
        values = load(table, part * _PART, _PART)
        parts.append(vector.shuffle(values, values, repeated))

    def elements(i: Index) -> None:
        valid = minimum(add(last, scale(i, -1)), lanes)
        x = load(source, i, lanes, valid)
        low, high = arith.andi(x, splat(_PART - 1, x.type)), arith.shrui(x, splat(4, x.type))
        value = splat(0, x.type)
        for number, part in enumerate(parts):
            found = intrinsic(_SHUFFLES[lanes], x.type, part, low)
            is_here = arith.cmpi(arith.CmpIPredicate.eq, high, splat(number, x.type))
            value = arith.select(is_here, found, value)
        store(value, result, i, valid)

    loop(first, last, elements, step=lanes)
