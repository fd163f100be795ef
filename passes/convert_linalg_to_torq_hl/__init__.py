# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized linalg becomes torq_hl; what does not match stays, and says why when asked to."""

from torch_mlir import ir

from torq_mlir.passes import PassFailure
from torq_mlir.rewriting.patterns import Pattern, apply_greedily, mark_refusals

from .data_movement import convert_concat, convert_integer_repetition, convert_integer_transpose, convert_movement
from .elementwise import convert_add, convert_bit_flip, convert_extremum, convert_mul
from .fallback import convert_dequantize, convert_quantize
from .pooling import convert_average_pool, convert_integer_max_pool, convert_max_pool, convert_reduce_mean
from .requantize import convert_requantize, convert_requantize_accumulator
from .scalars import take_in_number
from .table import convert_table
from .weighted import convert_shared_accumulator, convert_weighted

# Rooted at the quantization. The more an operation takes in at once, the earlier it is tried.
_SANDWICHES = (
    (convert_weighted, 10),
    (convert_average_pool, 8),
    (convert_reduce_mean, 8),
    (convert_max_pool, 8),
    (convert_add, 6),
    (convert_mul, 6),
    (convert_extremum, 6),
    (convert_concat, 6),
    (convert_movement, 4),
    (convert_requantize_accumulator, 3),
    (convert_requantize, 2),
    (convert_table, 1),
)
_QUANTIZE = "quantized_decomposed.quantize_per_tensor", "quantized_decomposed.quantize_per_channel", "linalg.generic"

PATTERNS = (
    *(Pattern(root, rewrite, benefit) for root in _QUANTIZE for rewrite, benefit in _SANDWICHES),
    Pattern("linalg.pooling_nchw_max", convert_integer_max_pool),
    Pattern("linalg.pooling_ncw_max", convert_integer_max_pool),
    Pattern("linalg.generic", convert_shared_accumulator),
    Pattern("linalg.generic", convert_bit_flip),
    Pattern("linalg.transpose", convert_integer_transpose),
    Pattern("linalg.generic", convert_integer_repetition),
    Pattern("linalg.broadcast", convert_integer_repetition),
    Pattern("linalg.generic", take_in_number, benefit=20),
)

# After all others have been tried everywhere: what they could take in must not be converted on its own before.
_FALLBACKS = (
    *(Pattern(root, convert_quantize) for root in _QUANTIZE),
    Pattern("quantized_decomposed.dequantize_per_tensor", convert_dequantize),
    Pattern("linalg.generic", convert_dequantize),
)


def run(op: ir.Operation, explain: bool = False, float: str = "host") -> None:
    if float not in ("host", "bf16"):
        op.location.emit_error(f"convert-linalg-to-torq-hl: float is 'host' or 'bf16', not '{float}'")
        raise PassFailure
    apply_greedily(op, PATTERNS)
    if float == "bf16":
        apply_greedily(op, _FALLBACKS)
    if explain:
        mark_refusals(op, PATTERNS)
