# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float poolings and means in bf16."""

import math

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.quotient import Quotient, match_quotient
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import reshape

from .bf16 import AS_IT_IS, BFLOAT16, is_f32, multiplied, narrow, widen
from .requantize import constant
from .windows import MAXIMA, SUMS, Window, as_image, match_window

_NO_BIAS = np.zeros(1, np.float32)


def convert_float_max_pool(operation: ir.Operation, rewriter) -> object:
    """The maximum over windows of images."""
    if len(operation.results) != 1 or not is_f32(operation.results[0]):
        return NOT_MINE
    window = match_window(operation.results[0], MAXIMA, -math.inf)
    if window is None:
        return NOT_MINE
    _check_image(window)
    with ir.InsertionPoint(operation), operation.location:
        pooled = torq_hl.maxpool2d(
            constant(np.ones(1, BFLOAT16)),
            constant(_NO_BIAS),
            as_image(narrow(window.source)),
            input_zp=0,
            output_min=0,
            output_max=0,
            kernel=window.image_kernel,
            **window.image,
        )
        rewriter.replace_op(operation, [widen(reshape(pooled, _shape(operation.results[0])))])
    return None


def convert_float_mean(operation: ir.Operation, rewriter) -> object:
    """A sum over windows of images, or over dimensions, divided by a number or by the size of each window."""
    quotient = match_quotient(operation.results[0]) if len(operation.results) == 1 else None
    if quotient is None or not is_f32(operation.results[0]):
        return NOT_MINE
    window = match_window(quotient.dividend, SUMS, 0.0)
    kept = None if window is not None else match_sum(quotient.dividend)
    if window is not None:
        _check_image(window)
    elif kept is None or isinstance(quotient.divisor, np.ndarray):
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        mean = _mean_over_dimensions(quotient, kept) if window is None else _mean_over_windows(window, quotient)
        rewriter.replace_op(operation, [widen(reshape(mean, _shape(operation.results[0])))])
    return None


def match_sum(value: ir.Value) -> list[int] | None:
    """The dimensions that are kept by a sum from zero of f32."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    if len(generic.operands) != 2 or not all(map(is_f32, generic.operands)):
        return None
    match body_expression(generic):
        case ("arith.addf", ("arg", 0), ("arg", 1)) | ("arith.addf", ("arg", 1), ("arg", 0)):
            pass
        case _:
            return None
    initial = match_initial_value(generic.operands[1])
    source, result = (ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"]))
    kept = [e.position for e in result.results if isinstance(e, ir.AffineDimExpr)]
    if initial is None or initial.bias != 0 or source != ir.AffineMap.get_identity(source.n_dims):
        return None
    return kept if kept == sorted(kept) and len(kept) < source.n_dims else None


def _mean_over_dimensions(quotient: Quotient, kept: list[int]) -> ir.Value:
    source = quotient.dividend.owner.operation.operands[0]
    shape = _shape(source)
    permutation = [*kept, *(d for d in range(len(shape)) if d not in kept)]
    values = narrow(source)
    if permutation != sorted(permutation):
        values = torq_hl.transpose(values, perm=permutation)
    count = math.prod(shape[d] for d in permutation[len(kept) :])
    return torq_hl.reduce_mean(
        constant(np.array([1 / quotient.divisor], np.float32)),
        constant(_NO_BIAS),
        reshape(values, [*(shape[d] for d in kept), count]),
        input_zp=0,
        shift_factor=0,
        **AS_IT_IS,
    )


def _mean_over_windows(window: Window, quotient: Quotient) -> ir.Value:
    image = as_image(narrow(window.source))
    each = isinstance(quotient.divisor, np.ndarray)
    if window.covers_input and not each:
        return torq_hl.avg_pool2d(
            constant(np.array([1 / quotient.divisor], np.float32)),
            constant(_NO_BIAS),
            torq_hl.transpose(image, perm=[0, 2, 3, 1]),
            input_zp=0,
            shift_factor=0,
            **AS_IT_IS,
        )
    channels = _shape(image)[1]
    weights = np.full((channels, 1, *window.image_kernel), 1 if each else 1 / quotient.divisor, np.float32)
    pooled = torq_hl.depthwise_conv2d(
        constant(weights.astype(BFLOAT16)),
        constant(_NO_BIAS),
        image,
        groups=channels,
        dilation=[1, 1],
        input_zp=0,
        shift_factor=0,
        **window.image,
        **AS_IT_IS,
    )
    if not each:
        return pooled
    shares = np.broadcast_to(1 / quotient.divisor, _shape(quotient.operations[-1].results[0]))
    return multiplied(pooled, constant(shares.reshape(_shape(pooled)).astype(BFLOAT16)))


def _check_image(window: Window) -> None:
    if len(window.kernel) > 2 or window.channels_last or any(step != 1 for step in window.dilation):
        raise NoMatch("bf16 is pooled over images without dilation")


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)
