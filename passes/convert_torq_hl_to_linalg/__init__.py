# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every torq_hl operation becomes linalg, tensor and arith, with the arithmetic of the interpreter.

An operation whose equation is not defined for its element types is an error.
"""

from collections.abc import Callable, Container
from types import SimpleNamespace

from torch_mlir import ir, rewrite

from torq_mlir.dialects import ods, torq_hl
from torq_mlir.passes import PassFailure

from . import data_movement, elementwise, pooling, unary, weighted
from .operands import Unsupported

# From an operation and its attributes, as Python values with defaults, to what replaces its result.
Lowering = Callable[[ir.OpView, SimpleNamespace], ir.Value]

_LOWERINGS: dict[type[ir.OpView], Lowering] = {
    torq_hl.ActOp: unary.lower_act,
    torq_hl.AddOp: elementwise.lower_add,
    torq_hl.ArgMaxOp: pooling.lower_argmax,
    torq_hl.AvgPool2DOp: pooling.lower_avg_pool2d,
    torq_hl.BroadcastOp: data_movement.lower_broadcast,
    torq_hl.Conv1DOp: weighted.lower_convolution,
    torq_hl.Conv2DOp: weighted.lower_convolution,
    torq_hl.ConvertOp: unary.lower_convert,
    torq_hl.DepthToSpaceOp: data_movement.lower_depth_to_space,
    torq_hl.DepthwiseConv2DOp: weighted.lower_convolution,
    torq_hl.ElementwiseBinaryOp: elementwise.lower_elementwisebinary,
    torq_hl.FillOp: data_movement.lower_fill,
    torq_hl.FmaOp: elementwise.lower_fma,
    torq_hl.FullyConnectedOp: weighted.lower_fully_connected,
    torq_hl.GatherOp: data_movement.lower_gather,
    torq_hl.IdentityOp: data_movement.lower_identity,
    torq_hl.MatMulOp: weighted.lower_matmul,
    torq_hl.MaxPool2DOp: pooling.lower_maxpool2d,
    torq_hl.MulOp: elementwise.lower_mul,
    torq_hl.ReduceMeanOp: pooling.lower_reduce_mean,
    torq_hl.ReduceOp: pooling.lower_reduce,
    torq_hl.SelectOp: elementwise.lower_select,
    torq_hl.ResizeNearestNeighborOp: data_movement.lower_resize_nearest_neighbor,
    torq_hl.TableOp: unary.lower_table,
    torq_hl.TransposeOp: data_movement.lower_transpose,
}


def run(op: ir.Operation) -> None:
    lower(op)


def lower(op: ir.Operation, kept: Container[str] = ()) -> None:
    """Lowers all operations but those with the names that are `kept`."""
    refused: list[tuple[ir.Operation, Unsupported]] = []
    patterns = rewrite.RewritePatternSet()
    for root, lowering in _LOWERINGS.items():
        if root.OPERATION_NAME not in kept:
            patterns.add(root, _pattern(lowering, refused))
    rewrite.walk_and_apply_patterns(op, patterns.freeze())
    for operation, reason in refused:
        operation.location.emit_error(f"'{operation.name}' op is not lowered to linalg: {reason}")
    if refused:
        raise PassFailure


def _pattern(
    lower: Lowering, refused: list[tuple[ir.Operation, Unsupported]]
) -> Callable[[ir.OpView, rewrite.PatternRewriter], bool]:
    def match_and_rewrite(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        operation = op.operation
        attributes = SimpleNamespace(**ods.attribute_values(operation, torq_hl.OPERATIONS[operation.name]))
        try:
            with rewriter.ip, operation.location:
                rewriter.replace_op(op, [lower(op, attributes)])
        except Unsupported as reason:
            refused.append((operation, reason))
            return True
        return False

    return match_and_rewrite
