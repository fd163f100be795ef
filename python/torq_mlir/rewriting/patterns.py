# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrite patterns that say why they do not match.

A pattern is a function `(operation, rewriter)`. It returns None after rewriting, returns NOT_MINE where it has nothing
to say, and raises NoMatch where the operation is of its kind and something particular stands in the way.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir, rewrite

NOT_MINE = object()


class NoMatch(Exception):
    """An operation of a pattern's kind does not match; the message says what stands in the way."""


@dataclass(frozen=True)
class Pattern:
    """A rewrite of operations named `root`; among several, the greatest benefit is tried first."""

    root: str
    rewrite: Callable[[ir.Operation, rewrite.PatternRewriter], object]
    benefit: int = 1

    @property
    def name(self) -> str:
        """What the pattern is called in reports: the name of its function."""
        rewrite = self.rewrite.func if isinstance(self.rewrite, functools.partial) else self.rewrite
        return rewrite.__name__.strip("_").replace("_", " ")

    def apply(self, operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        """Calls the pattern as MLIR expects it: true for no match."""
        try:
            return self.rewrite(operation.operation, rewriter) is NOT_MINE
        except NoMatch:
            return True


def apply_greedily(operation: ir.Operation, patterns: Sequence[Pattern]) -> None:
    """Rewrites everything inside `operation` until no pattern matches."""
    pattern_set = rewrite.RewritePatternSet()
    for pattern in patterns:
        pattern_set.add(pattern.root, pattern.apply, benefit=pattern.benefit)
    rewrite.apply_patterns_and_fold_greedily(operation, pattern_set.freeze())


def closest_refusal(operation: ir.Operation, patterns: Sequence[Pattern]) -> tuple[str, str] | None:
    """Why `operation`, which no pattern rewrites, does not match the closest one of its kind: the reason and its name.

    For use after `apply_greedily`, when calling a pattern cannot change anything.
    """
    for pattern in sorted((p for p in patterns if p.root == operation.name), key=lambda p: -p.benefit):
        try:
            pattern.rewrite(operation, None)
        except NoMatch as no_match:
            return str(no_match), pattern.name
    return None


def record_refusal(operation: ir.Operation, reason: str, pattern: str) -> None:
    """Records on an operation why the pattern of that name left it."""
    for name, text in (("torq_hl.refusal", reason), ("torq_hl.refused_by", pattern)):
        operation.attributes[name] = ir.StringAttr.get(text)


def mark_refusals(operation: ir.Operation, patterns: Sequence[Pattern]) -> None:
    """Records on operations, as `torq_hl.refusal` and `torq_hl.refused_by`, why the closest pattern left them."""
    roots = {pattern.root for pattern in patterns}

    def mark(candidate: ir.Operation) -> ir.WalkResult:
        if candidate.name in roots and (refusal := closest_refusal(candidate.operation, patterns)):
            record_refusal(candidate.operation, *refusal)
        return ir.WalkResult.ADVANCE

    operation.walk(mark)
