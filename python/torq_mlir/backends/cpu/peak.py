# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many products of u8 and i8 this machine adds up in a second at most: what kernels are measured against."""

import ctypes
import functools
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from .dot_product import WORD, dot_product
from .emission import add, buffer_type, loop, splat, store, vector_type
from .machine import Cpu
from .program import LOWER, set_attributes
from .steps import aligned_bytes

_NAME = "peak"
# Turns of the inner loop, which stays in the first-level cache, and of the outer one.
_STEPS, _ROUNDS, _REPETITIONS = 64, 100, 60
# Sums that are independent of each other, as rows of activations times vectors of weights: enough to hide how long an
# instruction takes, and few enough that all of them are in registers.
_TILE = {"avx512-vnni": (4, 4), "avx-vnni": (3, 4), "avx2": (2, 4), "generic": (1, 6)}


@functools.cache
def peak_gmacs(cpu: Cpu, threads: int = 1) -> float:
    """10^9 products in a second that so many threads do together, in registers and with nothing else to do.

    It is the best of several runs, of a few milliseconds in all, and measured once in a process.
    """
    loops = [_Loop(cpu) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = [
            max(each.result() for each in [pool.submit(each.seconds) for each in loops]) for _ in range(_REPETITIONS)
        ]
    return sum(each.products for each in loops) / min(seconds) / 1e9


class _Loop:
    """The machine code, and memory that it reads and writes.

    Attributes:
      products: of one call.
    """

    def __init__(self, cpu: Cpu) -> None:
        rows, columns = _TILE[cpu.name]
        dot = dot_product(cpu)
        self.products = _ROUNDS * _STEPS * rows * columns * dot.lanes * WORD
        sizes = [WORD * rows, (_STEPS + columns - 1) * dot.step, 4 * rows * columns * dot.lanes]
        with ir.Context() as context, ir.Location.unknown():
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):
                _emit(cpu, rows, columns, sizes)
            PassManager.parse(LOWER, context).run(module.operation)
            engine = ExecutionEngine(module, opt_level=3)
        buffers = [aligned_bytes(size) for size in sizes]
        pointers = np.array([buffer.ctypes.data for buffer in buffers], np.intp)
        slots = pointers.ctypes.data + pointers.itemsize * np.arange(len(pointers), dtype=np.intp)
        self._keeps = engine, buffers, pointers, slots
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(_NAME))

    def seconds(self) -> float:
        """Of a call."""
        arguments = self._keeps[-1].ctypes.data
        start = time.perf_counter()
        self._function(arguments)
        return time.perf_counter() - start


def _emit(cpu: Cpu, rows: int, columns: int, sizes: list[int]) -> None:
    """Each step takes other weights; of the same ones, the compiler would compute the products once."""
    dot = dot_product(cpu)
    types = [buffer_type(size, 8) for size in sizes[:2]] + [buffer_type(sizes[2] // 4, 32)]
    function = func.FuncOp(_NAME, (types, []))
    set_attributes(function, cpu, "external")
    with ir.InsertionPoint(function.add_entry_block()):
        activations, weights, results = function.arguments
        x = [dot.activations(activations, WORD * row) for row in range(rows)]

        def step(position: ir.Value, *totals: ir.Value) -> list[ir.Value]:
            w = [dot.weights(weights, add(position, column * dot.step)) for column in range(columns)]
            places = [(row, column) for column in range(columns) for row in range(rows)]
            return [dot.accumulate(total, x[r], w[c]) for total, (r, c) in zip(totals, places, strict=True)]

        def round_(_: ir.Value, *totals: ir.Value) -> list[ir.Value]:
            return loop(0, _STEPS * dot.step, step, totals, dot.step)

        zeros = [splat(0, vector_type(dot.lanes, 32))] * (rows * columns)
        for position, total in enumerate(loop(0, _ROUNDS, round_, zeros)):
            store(total, results, position * dot.lanes)
        func.ReturnOp([])
