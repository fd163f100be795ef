# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants behind quantization and dequantization."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from torch_mlir import ir

from torq_mlir.numerics.quantize import dequantize, quantize

from ..dialects import elements
from .accumulator import match_initial_value
from .integer_chain import MOVEMENTS, move_array, pad_amounts, pad_value
from .qparams import match_dequantize, match_quantize


def fold_integers(value: ir.Value) -> np.ndarray | None:
    """The integers that `value` is: a constant, moved or not, or the quantization of constant floats."""
    constant = elements.constant_value(value)
    if constant is not None or isinstance(value.owner, ir.Block):
        return constant
    if value.owner.operation.name in MOVEMENTS:
        source = fold_integers(value.owner.operation.operands[0])
        return None if source is None else np.ascontiguousarray(move_array(value.owner.operation, source))
    parameters = match_quantize(value.owner.operation)
    floats = None if parameters is None else fold_floats(parameters.input)
    if floats is None:
        return None
    width = ir.RankedTensorType(value.type).element_type.width
    storage = np.dtype(f"{'u' if parameters.unsigned else ''}int{width}")
    limits = np.iinfo(storage)
    low, high = max(parameters.minimum, limits.min), min(parameters.maximum, limits.max)
    scale, zero_point = parameters.scale.astype(np.float32), parameters.zero_point
    integers = quantize(floats, scale, zero_point, low, high, storage, axis=parameters.axis, divide=True)
    return integers.view(f"int{width}")


def fold_floats(value: ir.Value) -> np.ndarray | None:
    """The floats that `value` is: a constant, or the dequantization of constant integers, moved or not."""
    constant = elements.constant_value(value)
    if constant is not None or isinstance(value.owner, ir.Block):
        return constant
    if value.owner.operation.name in MOVEMENTS:
        source = fold_floats(value.owner.operation.operands[0])
        return None if source is None else np.ascontiguousarray(move_array(value.owner.operation, source))
    parameters = match_dequantize(value)
    integers = None if parameters is None else elements.constant_value(parameters.input)
    if integers is None:
        return None
    if parameters.unsigned:
        integers = integers.view(f"u{integers.dtype}")
    scale = parameters.scale.astype(np.float32)
    return dequantize(integers, scale, parameters.zero_point, axis=parameters.axis)


def fold_counts(value: ir.Value) -> np.ndarray | None:
    """The sums of constant whole numbers over windows of an image, i64."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.pooling_nchw_sum":
        return None
    pooling = value.owner.operation
    source, kernel = pooling.operands[0], ir.RankedTensorType(pooling.operands[1].type).shape
    initial = match_initial_value(pooling.operands[2])
    pad = None if isinstance(source.owner, ir.Block) else source.owner.operation
    amounts, beyond = (None, None) if pad is None or pad_value(pad) is None else (pad_amounts(pad), pad_value(pad))
    constant = elements.constant_value(source if amounts is None else pad.operands[0])
    if constant is None or initial is None or initial.bias != 0:
        return None
    if amounts is not None:
        constant = np.pad(constant, list(zip(*amounts, strict=True)), constant_values=beyond)
    strides, dilations = (elements.to_numpy(pooling.attributes[name]) for name in ("strides", "dilations"))
    extents = (np.array(kernel) - 1) * dilations + 1
    windows = sliding_window_view(constant, tuple(extents), axis=(2, 3))
    windows = windows[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    sums = windows.sum(axis=(4, 5), dtype=np.float64)
    return sums.astype(np.int64) if (sums == np.rint(sums)).all() else None


def fold_number(value: ir.Value) -> np.ndarray | None:
    """The one number that a scalar or a tensor is: constant, or dequantized from a constant."""
    number = fold_floats(value)
    return number if number is not None and number.size == 1 else None
