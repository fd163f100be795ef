# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of x86 that narrow with saturation, and the order of elements that suits them.

They work on each part of 128 bits of a vector by itself. Four vectors of i32 become one of bytes, whose part k has
elements 4 k to 4 k + 3 of the first vector, then those of the second one, and so on.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import vector

from .emission import bitcast, intrinsic, splat, vector_type

# Vectors of i32 that make up one of bytes, and elements of i32 in 128 bits.
QUARTERS, PART = 4, 4


def saturated(quarters: Sequence[ir.Value]) -> ir.Value:
    """Four vectors of i32 as one of bytes, from 0 to 255."""
    lanes = ir.VectorType(quarters[0].type).shape[0]
    set_ = "avx512" if lanes == 16 else "avx2"
    suffix = ".512" if lanes == 16 else ""
    words, bytes_ = vector_type(2 * lanes, 16), vector_type(4 * lanes, 8)
    first, second = (
        intrinsic(f"llvm.x86.{set_}.packssdw{suffix}", words, *pair) for pair in (quarters[:2], quarters[2:])
    )
    return intrinsic(f"llvm.x86.{set_}.packuswb{suffix}", bytes_, first, second)


def pairs(first: ir.Value, second: ir.Value) -> list[ir.Value]:
    """Unsigned elements of two vectors of bytes as four vectors of pairs of i16, in the order that `saturated` ends."""
    zeros = splat(0, ir.VectorType(first.type))
    halves = [_zipped(first, second, upper) for upper in (False, True)]
    return [bitcast(_zipped(half, zeros, upper), 16) for half in halves for upper in (False, True)]


def _zipped(a: ir.Value, b: ir.Value, upper: bool) -> ir.Value:
    """Elements of the lower or upper halves of each part, in turn."""
    count, part = ir.VectorType(a.type).shape[0], 4 * PART
    start = part // 2 if upper else 0
    lanes = [
        begin + start + k + which * count
        for begin in range(0, count, part)
        for k in range(part // 2)
        for which in (0, 1)
    ]
    return vector.shuffle(a, b, lanes)
