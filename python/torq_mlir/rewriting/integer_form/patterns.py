# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rewrite of everything inside an operation."""

import functools

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern, apply_greedily, mark_refusals
from torq_mlir.rewriting.tensor_arithmetic.operations import CHOOSING, convert_operations

from . import concatenation, flips, requantize
from .accumulate import accumulate
from .dialect import Dialect


def fuse_quantized_operations(root: ir.Operation, dialect: Dialect, explain: bool) -> list[tuple[ir.Location, str]]:
    """Rewrites contractions inside `root`.

    Args:
      explain: record on what was not rewritten, as `torq_hl.refusal`, what stood in the way.

    Returns:
      Errors: biases that do not fit, and where.
    """
    # Parameters that PyTorch widens to f64 and i64 are narrow again where they are used here.
    convert_operations(root, dialect.arithmetic, CHOOSING)
    errors: list[tuple[ir.Location, str]] = []

    def requantize_or_report(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
        try:
            return requantize.requantize(dialect, operation, rewriter)
        except requantize.BiasOverflow as overflow:
            errors.append((operation.location, f"the bias does not fit the accumulator: {overflow}"))
            return NOT_MINE

    contractions = [Pattern(name, functools.partial(accumulate, dialect)) for name in dialect.contractions]
    others = [
        Pattern(requantize.ROOT, requantize_or_report),
        Pattern(requantize.ROOT, functools.partial(concatenation.distribute, dialect)),
        *(Pattern(name, functools.partial(flips.move, dialect)) for name in dialect.movements),
        *(Pattern(name, flips.cancel) for name in flips.OPERATIONS),
    ]
    apply_greedily(root, [*contractions, *others])
    if not dialect.has_f64:
        _round_scales(root)
    if explain and not errors:
        mark_refusals(root, contractions)
    return list(dict.fromkeys(errors))  # a pattern may have seen an operation several times


def _round_scales(root: ir.Operation) -> None:
    """Scales of accumulators that stay become f32; until then f64 keeps the multiplier of a rescale exact."""

    def round_scale(operation: ir.Operation) -> ir.WalkResult:
        if requantize.is_accumulator(operation):
            scale = elements.constant_value(operation.operands[1])
            with ir.InsertionPoint(operation), operation.location:
                operation.operands[1] = arith.constant(None, elements.from_numpy(scale.astype(np.float32)))
        return ir.WalkResult.ADVANCE

    root.walk(round_scale)
