# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of 256 bytes."""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.backends.cpu.emission import Index, add, buffer_type, load_scalar, loop, minimum, scale, store_scalar
from torq_mlir.backends.cpu.machine import Cpu

_RUN = 1 << 12


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
        source, table, result = arguments

        def element(i: Index) -> None:
            entry = arith.index_castui(ir.IndexType.get(), load_scalar(source, i))
            store_scalar(load_scalar(table, entry), result, i)

        first = scale(task, _RUN)
        loop(first, minimum(add(first, _RUN), self.elements), element)
