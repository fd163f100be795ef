# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""raise-torch-quantized-decomposed: PyTorch's quantization operators to the operations of `quantized_decomposed`."""

from collections.abc import Sequence

from torch_mlir import ir, rewrite

from torq_mlir.dialects import tensor_types

from . import affine, choose_affine, decomposed
from .calls import Call, converted, operator_name

OPERATORS = decomposed.OPERATORS | affine.OPERATORS | choose_affine.OPERATORS

_NAMESPACES = ("quantized_decomposed", "torchao")


def run(op: ir.Operation) -> None:
    """Raise every call inside `op`; the operations that replace a call have its location."""
    patterns = rewrite.RewritePatternSet()
    patterns.add("torch.operator", _raise)
    for name in OPERATORS:
        if op.context.is_registered_operation(f"torch.{name}"):
            patterns.add(f"torch.{name}", _raise)
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _raise(operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A pattern as MLIR calls it: true for no match."""
    operation = operation.operation
    name = operator_name(operation)
    if name.partition(".")[0] not in _NAMESPACES:
        return True
    operator = OPERATORS.get(name)
    if operator is None:
        raise Call(operation, range(len(operation.operands))).failure("there is no such operator, or no such overload")
    with rewriter.ip, operation.location:
        values = operator.raise_call(Call(operation, operator.parameters))
        _convert_for_others(operation, values)
    rewriter.replace_op(operation, values)
    return False


def _convert_for_others(operation: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Where `torch.export` records another type than the operator computes, others than us read what is recorded."""
    for result, value in zip(operation.results, values, strict=True):
        declared = tensor_types.element_type(result.type)
        if declared is None or declared == tensor_types.element_type(value.type):
            continue
        others = [use for use in result.uses if not _is_ours(use.owner.operation)]
        if others:
            recorded = converted(value, declared)
        for use in others:
            use.owner.operation.operands[use.operand_number] = recorded


def _is_ours(operation: ir.Operation) -> bool:
    return operation.name.startswith("quantized_decomposed.") or operator_name(operation) in OPERATORS
