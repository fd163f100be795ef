# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who uses a value."""

from torch_mlir import ir

_QUANTIZE = "quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel"
_PASSES_FLOAT_ON = "linalg.generic", "tensor.collapse_shape", "tensor.expand_shape", "linalg.transpose"


def users(value: ir.Value) -> list[ir.Operation]:
    """Operations with `value` among their operands, each once."""
    found = []
    for use in value.uses:
        if use.owner.operation not in found:
            found.append(use.owner.operation)
    return found


def only_user(value: ir.Value) -> ir.Operation | None:
    """The one operation that uses `value`; None when there are several or none."""
    found = users(value)
    return found[0] if len(found) == 1 else None


def reaches_quantize(value: ir.Value) -> bool:
    """Whether `value` is quantized, directly or after elementwise computation and reshapes."""
    pending, seen = [value], 0
    while pending and seen < 64:
        seen += 1
        for user in users(pending.pop()):
            if user.name in _QUANTIZE:
                return True
            if user.name in _PASSES_FLOAT_ON and len(user.results) == 1:
                pending.append(user.results[0])
    return False
