# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialects quantized_decomposed and torq_hl."""

from torch_mlir import ir


def register(context: ir.Context) -> None:
    """Makes the torch, quantized_decomposed and torq_hl dialects known to `context`. Doing so again has no effect."""
    from torq_mlir.dialects import loading  # the generated descriptions import this package

    loading.register(context)
