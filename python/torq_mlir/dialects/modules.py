# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of modules."""

from torch_mlir import ir


def copy_module(module: ir.Operation) -> ir.Module:
    """A copy of an operation that is a module, as one that owns what is in it."""
    copy = ir.Module.create(module.location)
    with ir.InsertionPoint(copy.body):
        for operation in module.regions[0].blocks[0].operations:
            operation.operation.clone()
    return copy
