# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transpose between reshapes that moves channels into blocks of pixels is one operation."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.dialects.locations import fuse
from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.structured import element_type, reassociation
from torq_mlir.rewriting.uses import users

from .movement_builders import shape_of
from .requantize import constant

# By mode_type: the permutation of [N, ..., H, W], and where the block is among the dimensions of the channels.
_MODES = {0: ([0, 3, 4, 1, 5, 2], (1, 2)), 1: ([0, 1, 4, 2, 5, 3], (2, 3))}
_TRANSPOSES = {"linalg.transpose": ("permutation", 0), "torq_hl.transpose": ("perm", 1)}


def convert_depth_to_space(collapse: ir.Operation, rewriter) -> object:
    """`collapse(transpose(expand(x)))` of stored integers, x in NCHW."""
    element = element_type(collapse.results[0])
    transpose = _producer(collapse.operands[0], *_TRANSPOSES)
    if not isinstance(element, ir.IntegerType) or element.width not in (8, 16) or transpose is None:
        return NOT_MINE
    attribute, operand = _TRANSPOSES[transpose.name]
    expand = _producer(transpose.operands[operand], "tensor.expand_shape")
    if expand is None or len(users(transpose.results[0])) != 1:
        return NOT_MINE
    if reassociation(expand) != [[0], [1, 2, 3], [4], [5]] or reassociation(collapse) != [[0], [1], [2, 3], [4, 5]]:
        return NOT_MINE
    permutation, split = list(ir.DenseI64ArrayAttr(transpose.attributes[attribute])), shape_of(expand.results[0])
    for mode, (order, block) in _MODES.items():
        if permutation == order and split[block[0]] == split[block[1]]:
            location = fuse([expand.location, transpose.location, collapse.location])
            with ir.InsertionPoint(collapse), location:
                one, source = constant(np.ones(1, np.int8)), expand.operands[0]
                moved = torq_hl.depth_to_space(one, source, blockSize=split[block[0]], mode_type=mode)
                rewriter.replace_op(collapse, [moved])
            return None
    return NOT_MINE


def _producer(value: ir.Value, *names: str) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in names:
        return None
    return value.owner.operation
