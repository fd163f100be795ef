# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model leaves in float, in bf16 on the NPU where it has the operations."""

import functools
from collections.abc import Callable

from torch_mlir import ir

from torq_mlir.dialects.locations import source_names
from torq_mlir.rewriting.contraction import FLOAT_NAMES
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch, Pattern
from torq_mlir.rewriting.qparams import match_dequantize, match_quantize
from torq_mlir.rewriting.quotient import match_quotient
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import element_type

from .float_conversions import remove_conversions
from .float_elementwise import convert_float_elementwise, match_float_elementwise
from .float_pooling import convert_float_max_pool, convert_float_mean, match_sum
from .float_weighted import convert_float_weighted
from .windows import MAXIMA, SUMS

Rewrite = Callable[[ir.Operation, object], object]

# What takes in what follows comes first, and means before products with a number, which some divisions are.
_STAGES = (
    tuple((name, convert_float_weighted, 1) for name in sorted(FLOAT_NAMES)),
    (
        *((name, convert_float_max_pool, 1) for name in MAXIMA),
        ("linalg.generic", convert_float_mean, 3),
        ("linalg.generic", convert_float_elementwise, 2),
        ("torq_hl.act", remove_conversions, 1),
    ),
)
_WITH_FORM = FLOAT_NAMES | {*MAXIMA, *SUMS, "linalg.fill", "linalg.transpose", "linalg.broadcast"}


def island_patterns(function: ir.Operation) -> list[tuple[Pattern, ...]]:
    """The conversions of float operations inside `function`, in stages.

    An operator of the source that is computed in several steps, one of which the NPU does not have, has its elementwise
    steps on the host: they would go back and forth, with a rounding each time.
    """
    divided = _divided_operators(function)
    whole = {
        rewrite: _on_whole_operators(rewrite, divided) for rewrite in (convert_float_mean, convert_float_elementwise)
    }
    return [
        tuple(Pattern(root, whole.get(rewrite, rewrite), benefit) for root, rewrite, benefit in stage)
        for stage in _STAGES
    ]


def _on_whole_operators(rewrite: Rewrite, divided: frozenset[str]) -> Rewrite:
    @functools.wraps(rewrite)
    def pattern(operation: ir.Operation, rewriter) -> object:
        if divided.isdisjoint(source_names(operation.location)):
            return rewrite(operation, rewriter)
        if rewrite is convert_float_mean or not _is_float(operation):
            return NOT_MINE
        raise NoMatch("a step of it has no operation in bf16")

    return pattern


def _divided_operators(function: ir.Operation) -> frozenset[str]:
    """The names of source operators with a float computation that has no form in bf16."""
    names: set[str] = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith("linalg.") and _is_float(operation) and not _has_form(operation.operation):
            names.update(source_names(operation.location))
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return frozenset(names)


def _is_float(operation: ir.Operation) -> bool:
    return any(isinstance(element_type(result), ir.FloatType) for result in operation.results)


def _has_form(operation: ir.Operation) -> bool:
    if operation.name in _WITH_FORM:
        return True
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return False
    result = operation.results[0]
    if body_expression(operation)[0] == "arg" or match_dequantize(result) or match_quantize(operation):
        return True
    if match_float_elementwise(operation) is not None or _is_mean(operation):
        return True
    users = [use.owner.operation for use in result.uses]
    return match_sum(result) is not None and all(map(_is_mean, users))


def _is_mean(operation: ir.Operation) -> bool:
    """Whether it divides a sum, over windows or over dimensions."""
    quotient = match_quotient(operation.results[0]) if len(operation.results) == 1 else None
    if quotient is None or isinstance(quotient.dividend.owner, ir.Block):
        return False
    return quotient.dividend.owner.operation.name in SUMS or match_sum(quotient.dividend) is not None
