# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise float computation on i8 as a table."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.rewriting.elementwise_region import match_elementwise_region
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import match_quantize

from .requantize import check_output, constant, result_element


def convert_table(operation: ir.Operation, rewriter) -> object:
    """`quantize(f(dequantize(x)))` for any elementwise f: its 256 values, computed by that very region."""
    quantize = match_quantize(operation)
    region = None if quantize is None else match_elementwise_region(quantize.input)
    if region is None:
        return NOT_MINE
    check_output(quantize)
    if result_element(quantize).width != 8:
        raise NoMatch("a table gives 8 bits")
    entries = region.evaluate(quantize).astype(np.int32) << 8
    operations = [*region.operations, operation]
    with ir.InsertionPoint(operation), fuse_locations([computing.location for computing in operations]):
        value = torq_hl.table(
            constant(np.array([-128, 128], np.int32)),
            region.dequantize.input,
            static_table=(entries & 0xFFFF).tolist(),
        )
        rewriter.replace_op(operation, [value])
    return None
