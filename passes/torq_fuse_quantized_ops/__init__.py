# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of dequantized operands compute on the integers.

With constant parameters, and a quantization after it, a contraction becomes the same one of the integers with their
zero points, plus the bias in units of `input scale * weight scale`, and one dequantization of the accumulator. With
parameters that are known at run time only, scales and zero points are factors and terms around it. Weights that are
quantized in groups along the summed dimension are dequantized where they are used. And a contraction of integers that
were extended to 32 bits takes those of 8 bits.
"""

import functools

from torch_mlir import ir, rewrite

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.assignment import respecting
from torq_mlir.rewriting.contraction import FLOAT_NAMES, match_float_contraction
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch, Pattern, apply_greedily, mark_refusals

from . import constant_parameters, grouped_weights, integer_operands, run_time_parameters

# What is assigned to these stays in float.
_FLOAT_EXECUTORS = ("host",)


def run(op: ir.Operation, explain: bool = False) -> None:
    overflows: list[tuple[ir.Location, str]] = []
    roots = sorted(FLOAT_NAMES | {"linalg.generic"})
    fusions = [Pattern(root, functools.partial(_fuse, overflows, explain)) for root in roots]
    patterns = respecting(fusions, _FLOAT_EXECUTORS, op)
    apply_greedily(op, patterns)
    for location, message in overflows:
        location.emit_error(message)
    if overflows:
        raise PassFailure
    if explain:
        mark_refusals(op, patterns)


def _fuse(overflows: list, explain: bool, operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """The first form that fits; where none does, the reason is that of the last one that says something."""
    contraction = match_float_contraction(operation)
    if contraction is None:
        return integer_operands.narrow(operation, rewriter)
    reasons: list[str] = []
    for pattern in (
        lambda _: constant_parameters.fuse(contraction, rewriter),
        lambda refusal: run_time_parameters.accumulate(contraction, rewriter, refusal),
        lambda _: grouped_weights.contract(contraction, rewriter, explain, reasons),
    ):
        try:
            if pattern(reasons[0] if reasons and explain else None) is not NOT_MINE:
                return None
        except constant_parameters.BiasOverflow as overflow:
            overflows.append((operation.location, str(overflow)))
            return NOT_MINE
        except NoMatch as no_match:
            reasons.append(str(no_match))
    if reasons:
        raise NoMatch(reasons[-1])
    return NOT_MINE
