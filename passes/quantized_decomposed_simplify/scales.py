# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scales that are no numbers, which a model has by mistake; all routes of a model begin with this pass."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements

from .operations import DEQUANTIZE, DEQUANTIZE_GROUPS, QUANTIZE, QUANTIZE_GROUPS, QuantizationOp

_OPERATIONS = frozenset(QUANTIZE + DEQUANTIZE + QUANTIZE_GROUPS + DEQUANTIZE_GROUPS)


def report_non_finite_scales(op: ir.Operation) -> bool:
    """Emits an error at each quantize and dequantize inside `op` that has a constant scale of infinity or NaN."""
    found = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal found
        scales = None
        if operation.name in _OPERATIONS:
            scales = elements.constant_value(QuantizationOp(operation).parameters[0])
        wrong = None if scales is None else np.argwhere(~np.isfinite(scales.astype(np.float64)))
        if wrong is not None and len(wrong):
            found = True
            index = tuple(wrong[0].tolist())
            which = f"scale {', '.join(map(str, index))}" if scales.size > 1 else "the scale"
            operation.location.emit_error(f"'{operation.name}' op: {which} is {scales[index]}, not a finite number")
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return found
