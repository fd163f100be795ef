# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantized-decomposed-simplify: exact rewrites of quantize and dequantize that decide nothing about a backend.

A quantize followed by a dequantize is never removed: the rounding between them is what the model asks for.
"""

from torch_mlir import ir

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.patterns import Pattern, apply_greedily

from . import concatenations, groups, identities, pads
from .movements import MOVEMENTS
from .moving import move_constant, move_dequantize_down, move_elementwise_up, move_quantize_up
from .operations import QUANTIZE, QUANTIZE_GROUPS
from .quantizations import cancel_dequantize_quantize, cancel_groups, fold_quantized_constant
from .scales import report_non_finite_scales
from .selections import SELECTIONS

PATTERNS = (
    *(Pattern(root, fold_quantized_constant, benefit=3) for root in QUANTIZE),
    *(Pattern(root, cancel_dequantize_quantize, benefit=2) for root in QUANTIZE),
    *(Pattern(root, cancel_groups, benefit=2) for root in QUANTIZE_GROUPS),
    *(Pattern(root, move_quantize_up) for root in QUANTIZE),
    *(Pattern(root, move_constant, benefit=2) for root in MOVEMENTS),
    *(Pattern(root, move_dequantize_down) for root in MOVEMENTS + SELECTIONS),
    Pattern("linalg.generic", move_elementwise_up),
    *groups.PATTERNS,
    *concatenations.PATTERNS,
    *pads.PATTERNS,
    *identities.PATTERNS,
)


def run(op: ir.Operation) -> None:
    """Apply the rewrites inside `op` until none matches; operations without uses are removed on the way."""
    if report_non_finite_scales(op):
        raise PassFailure
    apply_greedily(op, PATTERNS)
