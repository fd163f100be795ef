# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions of dequantized operands in TOSA become those of integers, and what quantizes them a rescale."""

from torch_mlir import ir

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.integer_form.patterns import fuse_quantized_operations
from torq_mlir.rewriting.integer_form.tosa import TosaDialect


def run(op: ir.Operation, explain: bool = False) -> None:
    errors = fuse_quantized_operations(op, TosaDialect(), explain)
    for location, message in errors:
        location.emit_error(message)
    if errors:
        raise PassFailure
