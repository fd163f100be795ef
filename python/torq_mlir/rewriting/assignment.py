# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The executor of an operation, and patterns that leave alone what is assigned to another one."""

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence

from torch_mlir import ir, rewrite

from torq_mlir.rewriting.patterns import NoMatch, Pattern

# Discardable attribute of an operation: who executes it.
EXECUTOR_ATTRIBUTE = "torq-executor"
# In the order in which they are preferred: the NPU, the CPU next to it, the host.
EXECUTORS = ("nss", "css", "host")

# Another shape for the same buffer: nothing to execute.
VIEWS = frozenset({"tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"})
# Joining, cutting and filling buffers: of integers, it computes nothing.
COPIES = frozenset({"linalg.fill", "tensor.concat", "tensor.extract_slice", "tensor.insert_slice", "tensor.pad"})

# Integers of more bits are accumulators: the operation that made them belongs to the same layer.
_STORAGE_BITS = 16


def assigned_executor(operation: ir.Operation) -> str | None:
    """The executor that the operation is assigned to."""
    if EXECUTOR_ATTRIBUTE not in operation.attributes:
        return None
    return ir.StringAttr(operation.attributes[EXECUTOR_ATTRIBUTE]).value


def computes_nothing(operation: ir.Operation) -> bool:
    """Whether any executor can have it: another shape of a buffer, and copies of integers."""
    if operation.name in VIEWS:
        return True
    values = (*operation.operands, *operation.results)
    return operation.name in COPIES and not any(isinstance(_element(value.type), ir.FloatType) for value in values)


def respecting(patterns: Sequence[Pattern], executors: Collection[str], root: ir.Operation) -> Sequence[Pattern]:
    """`patterns` that do not match what is assigned to one of `executors`.

    That is an operation itself, or one that its operands are computed by without being quantized in between: patterns
    take such operations in.

    Args:
      root: what the patterns are for.
    """
    if not _any_assigned(root, executors):
        return patterns
    return [dataclasses.replace(each, rewrite=_guarded(each.rewrite, executors)) for each in patterns]


def _any_assigned(root: ir.Operation, executors: Collection[str]) -> bool:
    found = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = assigned_executor(operation) in executors
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    root.walk(visit)
    return found


def _guarded(
    function: Callable[[ir.Operation, rewrite.PatternRewriter], object], executors: Collection[str]
) -> Callable[[ir.Operation, rewrite.PatternRewriter], object]:
    def guarded(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
        executor = _executor_of_chain(operation, executors)
        if executor is not None:
            raise NoMatch(f"assigned to {executor}")
        return function(operation, rewriter)

    named = function.func if isinstance(function, functools.partial) else function
    return functools.update_wrapper(guarded, named)


def _executor_of_chain(operation: ir.Operation, executors: Collection[str]) -> str | None:
    seen: set[ir.Operation] = set()
    pending = [operation]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        executor = assigned_executor(current)
        if executor in executors:
            return executor
        pending.extend(
            value.owner.operation
            for value in current.operands
            if not isinstance(value.owner, ir.Block) and not _is_stored(value.type)
        )
    return None


def _is_stored(type_: ir.Type) -> bool:
    """Whether values of the type are quantized, rather than on their way to a quantization."""
    element = _element(type_)
    return isinstance(element, ir.IntegerType) and element.width <= _STORAGE_BITS


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.RankedTensorType) else type_
