# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels with every buffer next to a page that must not be touched: `python guarded.py PROCESSOR SIDE SHRINK`.

SIDE is "before" or "after". The process ends with a signal where a kernel reads or writes outside of a buffer. SHRINK
is the number of bytes that buffers are too small, to see that it does.
"""

import ctypes
import mmap
import sys

import numpy as np
from generic_modules import ALL
from grouped_modules import fused, product
from kernel_modules import Cases, constant, convolution, integers, output, pairs

from torq_mlir.backends import cpu, interpreter
from torq_mlir.backends.cpu import executable, planning
from torq_mlir.backends.cpu.memory import Buffer
from torq_mlir.dialects import torq_hl

_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)


class Guard:
    """Places buffers of an arena in pages of their own, with a page without access on both sides."""

    def __init__(self, side: str, shrink: int) -> None:
        self.side, self.shrink = side, shrink
        self.guards: list[int] = []

    def assign(self, buffers: list[Buffer]) -> int:
        position, self.guards = 0, []
        for buffer in buffers:
            self.guards.append(position)
            size = buffer.bytes - self.shrink
            pages = -(-size // _PAGE) * _PAGE
            buffer.position = position + _PAGE + (pages - size if self.side == "after" else -self.shrink)
            position += _PAGE + pages
        self.guards.append(position)
        return position + _PAGE

    def allocate(self, size: int) -> np.ndarray:
        memory = mmap.mmap(-1, size)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for guard in self.guards:
            if _LIBC.mprotect(ctypes.c_void_p(address + guard), ctypes.c_size_t(_PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        return np.frombuffer(memory, np.uint8)


def cases() -> Cases:
    result = Cases()
    for channels in (1, 5, 17):
        convolution(result, channels, 19, (5, 6), (3, 3), pad=(1, 1, 1, 1))
        convolution(result, channels, channels, (5, 6), (3, 3), groups=channels, pad=(1, 1, 0, 0))
        convolution(result, channels, 33, (3, 3), stride=(2, 2))
        shape, add = (1, channels, 3, 5), {**output(12), "name": "add", "input_zp": 0}
        result.add(
            [integers(*shape), integers(*shape)],
            lambda x, y, a=add: torq_hl.add(constant(np.int16([3413, 2731])), constant(np.int32([3416, 1])), x, y, **a),
        )
        product = {**output(), "shift": 40}
        del product["shift_factor"]
        result.add(
            [integers(2, 3, channels), integers(2, channels, 7)],
            lambda x, y, s=pairs(1, channels), a=product: torq_hl.matmul(constant(s), x, y, **a),  # noqa: B008
        )
        window = {"input_zp": -128, "output_min": -128, "output_max": 127}
        window |= {"stride": [2, 2], "pad": [1, 1, 1, 0], "kernel": [3, 3]}
        result.add(
            [integers(2, channels, 7, 6)],
            lambda x, a=window: torq_hl.maxpool2d(constant(np.int8([1])), constant(np.int32([0, 1])), x, **a),
        )
    return result


def main(processor: str, side: str, shrink: str) -> None:
    guard, collected = Guard(side, int(shrink)), cases()
    planning.assign = guard.assign
    executable.aligned_bytes = guard.allocate
    module = collected.module()
    compiled = cpu.compile(module, cpu=processor, num_threads=1, opt_level=1)
    for actual, reference in zip(compiled(collected.inputs), interpreter.run(module, collected.inputs), strict=True):
        np.testing.assert_array_equal(actual, reference)
    generic = Cases()
    for add in ALL.values():
        add(generic)
    # Their values are compared elsewhere.
    cpu.compile(generic.module(), cpu=processor, num_threads=1, opt_level=0)(generic.inputs)
    groups = Cases()
    for tokens in (None, "symmetric"):
        for rows, columns, bits in ((3, 17, 4), (1, 70, 4), (2, 5, 8)):
            product(groups, rows, 36, columns, 18, bits=bits, tokens=tokens, moved=True)
    cpu.compile(fused(groups), cpu=processor, num_threads=1, opt_level=0)(groups.inputs)
    print("untouched")


if __name__ == "__main__":
    main(*sys.argv[1:])
