# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized linalg becomes torq_hl; what does not match stays, and says why when asked to."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.assignment import respecting
from torq_mlir.rewriting.patterns import Pattern, apply_greedily, mark_refusals

from .approximation import APPROXIMATIONS, approximation_rewrites
from .comparison import convert_comparison, convert_logic, convert_select
from .constants import fold_constant_concat, fold_constant_gather, fold_constant_integers, fold_constant_number
from .data_movement import convert_concat, convert_integer_repetition, convert_integer_transpose, convert_movement
from .depth_to_space import convert_depth_to_space
from .elementwise import convert_add, convert_bit_flip, convert_extremum, convert_mul
from .fallback import convert_dequantize, convert_quantize
from .islands import island_patterns
from .per_channel import convert_affine, convert_prelu
from .picking import convert_gather, convert_integer_gather, convert_moved, convert_moved_integers
from .pooling import convert_average_pool, convert_integer_max_pool, convert_max_pool, quantize_before_max_pool
from .reduction import convert_argmax, convert_reduce_extremum, convert_reduce_mean, convert_reduce_sum
from .requantize import convert_requantize, convert_requantize_accumulator
from .resampling import convert_interpolation
from .scalars import take_in_number
from .table import convert_table
from .weighted import convert_shared_accumulator, convert_weighted

# Rooted at the quantization. The more an operation takes in at once, the earlier it is tried.
_SANDWICHES = (
    (convert_weighted, 10),
    (convert_average_pool, 8),
    (convert_reduce_mean, 8),
    (convert_reduce_sum, 8),
    (convert_reduce_extremum, 8),
    (convert_max_pool, 8),
    (quantize_before_max_pool, 8),
    (convert_affine, 7),
    (convert_prelu, 7),
    (convert_select, 6),
    (convert_add, 6),
    (convert_mul, 6),
    (convert_extremum, 6),
    (convert_concat, 6),
    (convert_movement, 4),
    (convert_requantize_accumulator, 3),
    (convert_requantize, 2),
    (convert_table, 1),
    (convert_moved, 1),
    (convert_interpolation, 0),
    (convert_gather, 0),
)
_QUANTIZE = "quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel", "linalg.generic"

PATTERNS = (
    *(Pattern(root, rewrite, benefit) for root in _QUANTIZE for rewrite, benefit in _SANDWICHES),
    Pattern("linalg.pooling_nchw_max", convert_integer_max_pool),
    Pattern("linalg.pooling_ncw_max", convert_integer_max_pool),
    Pattern("linalg.generic", convert_argmax),
    Pattern("linalg.generic", fold_constant_integers, benefit=0),
    Pattern("tensor.concat", fold_constant_concat),
    Pattern("linalg.generic", convert_shared_accumulator),
    Pattern("linalg.generic", convert_bit_flip),
    Pattern("linalg.transpose", convert_integer_transpose),
    Pattern("linalg.generic", convert_integer_repetition),
    Pattern("linalg.generic", convert_moved_integers),
    Pattern("tensor.collapse_shape", convert_depth_to_space),
    Pattern("linalg.generic", convert_integer_gather, benefit=0),
    Pattern("linalg.broadcast", convert_integer_repetition),
    Pattern("linalg.generic", take_in_number, benefit=20),
)

# Before all others: what pads has to be known, and that moved weights are constant.
_CONSTANTS = (Pattern("arith.fptosi", fold_constant_number), Pattern("linalg.generic", fold_constant_gather))

# After all others have been tried everywhere: a table could have taken them in.
_ON_CONDITIONS = (Pattern("linalg.generic", convert_comparison), Pattern("linalg.generic", convert_logic))

# After all others have been tried everywhere: what they could take in must not be converted on its own before.
_FALLBACKS = (
    *(Pattern(root, convert_quantize) for root in _QUANTIZE),
    Pattern("quantized_decomposed.dequantize_per_tensor", convert_dequantize),
    Pattern("linalg.generic", convert_dequantize),
)

# What is assigned to these stays in linalg.
_OTHER_EXECUTORS = ("css", "host")


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # scales of 0 and beyond f32 are refused as results
def run(op: ir.Operation, explain: bool = False, float: str = "host", approximate: Sequence[str] = ()) -> None:
    if float not in ("host", "bf16"):
        op.location.emit_error(f"convert-linalg-to-torq-hl: float is 'host' or 'bf16', not '{float}'")
        raise PassFailure
    for name in approximate:
        if name not in APPROXIMATIONS:
            known = ", ".join(APPROXIMATIONS)
            op.location.emit_error(f"convert-linalg-to-torq-hl: approximate takes {known}, not '{name}'")
            raise PassFailure
    rewrites = approximation_rewrites(approximate)
    patterns = (*PATTERNS, *(Pattern(root, rewrite, 9) for root in _QUANTIZE for rewrite in rewrites))
    patterns = respecting(patterns, _OTHER_EXECUTORS, op)
    apply_greedily(op, _CONSTANTS)
    apply_greedily(op, patterns)
    on_conditions = respecting(_ON_CONDITIONS, _OTHER_EXECUTORS, op)
    apply_greedily(op, on_conditions)
    in_bf16: list[Pattern] = []
    if float == "bf16":
        *first, last = island_patterns(op)
        for stage in (*first, (*last, *_FALLBACKS)):
            stage = respecting(stage, _OTHER_EXECUTORS, op)
            apply_greedily(op, stage)
            in_bf16 += stage
    if explain:
        mark_refusals(op, (*patterns, *on_conditions, *in_bf16))
