# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computation that integers follow nearly, not to the bit: converted by option, and said to stay in float otherwise."""

from collections.abc import Callable, Collection, Mapping

from torch_mlir import ir

from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch

from .normalization import convert_normalization, match_normalization
from .requantize import at_quantize
from .softmax import convert_softmax, match_softmax

Rewrite = Callable[[ir.Operation, object], object]

_APPROXIMATIONS: Mapping[str, tuple[Rewrite, Callable[[ir.Value], object]]] = {
    "softmax": (convert_softmax, match_softmax),
    "normalization": (convert_normalization, match_normalization),
}
APPROXIMATIONS = tuple(_APPROXIMATIONS)


def approximation_rewrites(chosen: Collection[str]) -> list[Rewrite]:
    """The conversions that are `chosen`, and for each of the others one that refuses what it is for."""
    return [
        convert if name in chosen else _left_in_float(name, match) for name, (convert, match) in _APPROXIMATIONS.items()
    ]


def _left_in_float(name: str, match: Callable[[ir.Value], object]) -> Rewrite:
    def refuse(quantize, clamped, rewriter) -> object:
        if match(clamped.value) is None:
            return NOT_MINE
        raise NoMatch(f"{name} is computed in float; approximate={name} has it on the NPU, up to an error")

    refuse.__name__ = f"convert_{name}"
    return at_quantize(refuse)
