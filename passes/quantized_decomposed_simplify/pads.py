# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize change places with a pad, whose value becomes an integer."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith, tensor

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.numerics.quantize import dequantize, quantize
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern

from .movements import constant_ints, float_constant, int_constant, int_list
from .operations import DEQUANTIZE, DEQUANTIZE_GROUPS, QUANTIZE, QuantizationOp, defining_op

PADS = "tensor.pad", "torch.aten.constant_pad_nd"
# Operations that read a padded image: its padding is theirs, and conversions look for it there.
_PER_CHANNEL, _PER_TOKEN = (f"quantized_decomposed.dequantize_per_{each}" for each in ("channel", "token"))
# Elements that are added before and after each dimension.
_Amounts = tuple[list[int], list[int]]
_WINDOWS = "linalg.conv_", "linalg.depthwise_conv", "linalg.pooling_"


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`pad(dequantize(x), v)` becomes `dequantize(pad(x, i))` where the integer i stands for exactly v."""
    producer = defining_op(operation.operands[0], DEQUANTIZE)
    if producer is None or _pads_a_window(operation):
        return NOT_MINE
    dequantization = QuantizationOp(producer)
    integer = _integer(operation, dequantization, exact=True)
    if integer is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        padded = _pad(dequantization.input, *_amounts_of(operation), integer)
        rewriter.replace_op(operation, [dequantization.rebuild(padded, dequantization.axis)])
    return None


def move_quantize_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(pad(x, v))` becomes `pad(quantize(x), quantize(v))`, unless the real values are needed elsewhere."""
    quantization = QuantizationOp(operation)
    pad = defining_op(quantization.input, PADS)
    if pad is None or len(list(pad.results[0].uses)) != 1:
        return NOT_MINE
    integer = _integer(pad, quantization, exact=False)
    if integer is None:
        return NOT_MINE
    with ir.InsertionPoint(operation):
        quantized = quantization.rebuild(pad.operands[0], quantization.axis)
        with pad.location:
            rewriter.replace_op(operation, [_pad(quantized, *_amounts_of(pad), integer)])
    return None


def _pads_a_window(pad: ir.Operation) -> bool:
    return any(use.owner.operation.name.startswith(_WINDOWS) for use in pad.results[0].uses)


def _integer(pad: ir.Operation, quantization: QuantizationOp, *, exact: bool) -> int | None:
    """What the pad value is quantized to, the same in all channels; None if there is no such integer.

    Args:
      exact: whether it has to stand for the value itself, not only for what it is rounded to.
    """
    value, parameters, bounds = pad_value(pad), quantization.constants(), quantization.bounds
    shape, axis = tensor_types.shape(pad.operands[0].type), quantization.axis
    if value is None or parameters is None or bounds is None or shape is None or not np.isfinite(value):
        return None
    amounts = pad_amounts(pad, len(shape))
    if amounts is None or (axis is not None and (amounts[0][axis] or amounts[1][axis])):
        return None
    scale, zero_point = (array.reshape(-1) for array in parameters)
    with np.errstate(over="ignore"):  # torch pads f32 with an f64, such as the least one ahead of a maximum
        real = np.full(scale.shape, value, np.float32)
    dtype = elements.numpy_dtype(quantization.storage)
    divide = exact or "divide" in quantization.operation.attributes
    integers = quantize(real, scale, zero_point, *bounds, dtype, axis=0, divide=divide)
    if exact and not np.array_equal(dequantize(integers, scale, zero_point, axis=0), real):
        return None
    return int(integers[0]) if np.all(integers == integers[0]) else None


def move_parameters_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`pad(dequantize(x), 0)` becomes a dequantize of padded integers, whose parameters are padded too.

    What is added along a dimension that the parameters vary along, of channels, tokens or groups, gets parameters of
    its own; what is added to a token has those of the token.
    """
    producer = defining_op(operation.operands[0], (_PER_CHANNEL, *DEQUANTIZE_GROUPS))
    shape = tensor_types.shape(operation.operands[0].type)
    if producer is None or shape is None or None in shape or pad_value(operation) != 0.0 or _pads_a_window(operation):
        return NOT_MINE
    dequantization, amounts = QuantizationOp(producer), pad_amounts(operation, len(shape))
    if amounts is None:
        return NOT_MINE
    own = _parameter_amounts(dequantization, shape, amounts)
    zero = _zero(dequantization, amounts) if own is not None else None
    if zero is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        parameters = dequantization.parameters
        if any(own[0] + own[1]):
            parameters = [_pad(each, *own, number) for each, number in zip(parameters, (1, zero), strict=False)]
        padded = _pad(dequantization.input, *amounts, zero)
        rewriter.replace_op(operation, [dequantization.rebuild(padded, dequantization.axis, parameters)])
    return None


def _parameter_amounts(dequantization: QuantizationOp, shape: Sequence[int], amounts: _Amounts) -> _Amounts | None:
    """What is added to the parameters; None where that would be part of a group, or is nothing, of channels."""
    axis, size = dequantization.axis, dequantization.group_size
    if dequantization.operation.name == _PER_CHANNEL:
        low, high = ([each[axis]] for each in amounts)
        return (low, high) if low[0] or high[0] else None
    if size is None:
        return tuple([*each[:-1], 0] for each in amounts)
    added = [each[axis] for each in amounts]
    if any(each % size for each in added) or (any(added) and shape[axis] % size):
        return None
    return tuple([*each[:axis], each[axis] // size, *each[axis + 1 :]] for each in amounts)


def _zero(dequantization: QuantizationOp, amounts: _Amounts) -> int | None:
    """The integer to pad with: 0, unless tokens get longer, whose zero points have to be one constant."""
    if dequantization.operation.name != _PER_TOKEN or not (amounts[0][-1] or amounts[1][-1]):
        return 0
    constants = dequantization.constants()
    if constants is None or not np.all(np.isfinite(constants[0])):  # 0 times infinity is none
        return None
    zero_points = np.unique(constants[1])
    return int(zero_points[0]) if zero_points.size == 1 and zero_points.dtype.kind in "iu" else None


def _amounts_of(pad: ir.Operation) -> _Amounts:
    return pad_amounts(pad, len(tensor_types.shape(pad.operands[0].type)))


def _pad(value: ir.Value, low: Sequence[int], high: Sequence[int], number: int) -> ir.Value:
    """A pad of `value` with a number of its element type, at the current insertion point."""
    shape, element = tensor_types.shape(value.type), tensor_types.element_type(value.type)
    padded = tuple(
        None if size is None else size + before + after for size, before, after in zip(shape, low, high, strict=True)
    )
    result = tensor_types.with_shape(value.type, padded, element)
    is_float = isinstance(element, ir.FloatType)
    if tensor_types.is_torch_tensor(value.type):
        pairs = [amount for pair in zip(reversed(low), reversed(high), strict=True) for amount in pair]
        fill = float_constant(number) if is_float else int_constant(number)
        operands = [value, int_list(pairs), fill]
        return ir.Operation.create("torch.aten.constant_pad_nd", [result], operands).result
    if is_float:
        attribute = ir.FloatAttr.get(element, number)
    else:
        signed = number - (1 << element.width) if number >= 1 << (element.width - 1) else number
        attribute = ir.IntegerAttr.get(element, signed)
    fill = arith.constant(element, attribute)
    pad = tensor.PadOp(result, value, [], [], low, high)
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * len(shape))
    with ir.InsertionPoint(block):
        tensor.yield_(fill)
    return pad.result


def pad_amounts(operation: ir.Operation, rank: int) -> tuple[list[int], list[int]] | None:
    """Elements that are added before and after each dimension; None when they are not known, or negative."""
    if operation.name == "tensor.pad":
        low, high = (list(ir.DenseI64ArrayAttr(operation.attributes[f"static_{side}"])) for side in ("low", "high"))
    else:
        pairs = constant_ints(operation.operands[1])
        if pairs is None:
            return None
        low, high = [0] * rank, [0] * rank
        for index in range(len(pairs) // 2):
            low[rank - 1 - index], high[rank - 1 - index] = pairs[2 * index : 2 * index + 2]
    return None if min(low + high, default=0) < 0 else (low, high)


def pad_value(operation: ir.Operation) -> float | None:
    """The number that is padded with, if it is constant."""
    if operation.name == "torch.aten.constant_pad_nd":
        owner = operation.operands[2].owner
        known = ("torch.constant.float", "torch.constant.int")
        if isinstance(owner, ir.Block) or owner.operation.name not in known:
            return None
        return float(owner.operation.attributes["value"].value)
    yielded = operation.regions[0].blocks[0].operations[-1].operation.operands[0]
    constant = elements.constant_value(yielded)
    return None if constant is None else float(constant)


PATTERNS = (
    *(Pattern(root, move_dequantize_down) for root in PADS),
    *(Pattern(root, move_parameters_down) for root in PADS),
    *(Pattern(root, move_quantize_up) for root in QUANTIZE),
)
