# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchao's quantize_affine and dequantize_affine: one operator for all granularities, which the block size tells."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, quantized_decomposed, tensor_types

from .calls import Call, reshaped, signed_as, tensor_constant
from .decomposed import Operator

# Types whose differences of two values bf16 holds, the narrowest type that a dequantization is computed in.
_EXACT_WIDTH = 8


class Blocks(NamedTuple):
    """How blocks of elements that share their parameters divide a tensor.

    Attributes:
      granularity: "tensor", "channel", "token" or "channel_group".
      axis: that of the channels or of the groups; None for the others.
      size: number of elements in a group; 0 for the others.
      shape: of the parameters.
    """

    granularity: str
    axis: int | None
    size: int
    shape: tuple[int, ...]


def divide(shape: Sequence[int], block: Sequence[int], prefer_tokens: bool) -> Blocks | None:
    """The granularity that a block size stands for; None if it is no one that there are operations for.

    Rows of a matrix are channels as much as tokens; `prefer_tokens` tells which.
    """
    if len(shape) != len(block) or any(b < 1 or size % b for size, b in zip(shape, block, strict=True)):
        return None
    counts = [size // b for size, b in zip(shape, block, strict=True)]
    divided = [axis for axis, count in enumerate(counts) if count > 1]
    if not divided:
        return Blocks("tensor", None, 0, ())
    if shape[-1] == block[-1] and all(b == 1 for b in block[:-1]) and (prefer_tokens or divided != [0]):
        return Blocks("token", None, 0, (*shape[:-1], 1))
    if len(divided) == 1 and block[divided[0]] == 1:
        return Blocks("channel", divided[0], 0, (shape[divided[0]],))
    grouped = [axis for axis, b in enumerate(block) if b > 1]
    if len(grouped) == 1:
        return Blocks("channel_group", grouped[0], block[grouped[0]], tuple(counts))
    return None


def read_blocks(call: Call, prefer_tokens: bool) -> Blocks:
    """The granularity of a call, of its input and block size.

    Raises:
      PassFailure: there is none, or the shape of the input is not static; the error has been emitted.
    """
    shape, block = call.shape("input"), call.integers("block_size")
    if None in shape:
        raise call.failure(f"'input' has type {call.value('input').type}; a static shape is needed")
    blocks = divide(shape, block, prefer_tokens)
    if blocks is None:
        raise call.failure(
            f"the block size {block} of an input of shape {list(shape)} is neither per tensor, nor per channel, nor "
            "per token, nor in groups along one dimension"
        )
    return blocks


def read_range(call: Call, dtype: ir.IntegerType) -> dict[str, int]:
    """The bounds of a call; by default, those of the storage type."""
    least = 0 if dtype.is_unsigned else -(1 << (dtype.width - 1))
    defaults = {"quant_min": least, "quant_max": least + (1 << dtype.width) - 1}
    return {name: call.integer(name) if call.has(name) else default for name, default in defaults.items()}


def _parameters(call: Call, blocks: Blocks, dtype: ir.IntegerType) -> tuple[ir.Value, ir.Value]:
    """Scale and zero point in the shape that the operation of the granularity wants."""
    scale = _shaped(call, "scale", blocks)
    zero_point = call.optional_value("zero_point")
    if zero_point is None or 0 in call.shape("zero_point"):
        element = ir.IntegerType.get_signed(64)
        return scale, tensor_constant(np.zeros(blocks.shape, np.int64), element)
    return scale, _integral(call, signed_as(_shaped(call, "zero_point", blocks), dtype))


def _shaped(call: Call, parameter: str, blocks: Blocks) -> ir.Value:
    shape = call.shape(parameter)
    if None in shape or math.prod(shape) != math.prod(blocks.shape):
        raise call.failure(
            f"'{parameter}' has type {call.value(parameter).type}; {math.prod(blocks.shape)} values are needed, one "
            f"for each block of {call.integers('block_size')}"
        )
    return reshaped(call.value(parameter), blocks.shape) if blocks.shape else call.value(parameter)


def _integral(call: Call, zero_point: ir.Value) -> ir.Value:
    """Zero points as integers, which constants that are stored as floats are too."""
    element = tensor_types.element_type(zero_point.type)
    if isinstance(element, ir.IntegerType):
        return zero_point
    constant = elements.constant_value(zero_point)
    if constant is None or not np.array_equal(np.rint(constant), constant):
        raise call.failure(f"'zero_point' has element type {element}; integers are needed")
    return tensor_constant(constant.astype(np.int64), ir.IntegerType.get_signed(64))


def _quantize_affine(call: Call) -> tuple[ir.Value, ...]:
    dtype = call.storage_type("output_dtype")
    blocks = read_blocks(call, prefer_tokens=elements.constant_value(call.value("scale")) is None)
    attributes: dict[str, Any] = read_range(call, dtype) | {"dtype": dtype}
    operands = (call.value("input"), *_parameters(call, blocks, dtype))
    if blocks.granularity in ("token", "channel_group"):
        attributes["round_first"] = True
    return (_build("quantize", blocks, operands, attributes),)


def _dequantize_affine(call: Call) -> tuple[ir.Value, ...]:
    dtype, result = call.storage_type("input_dtype"), call.element_type("output_dtype")
    if dtype.width > _EXACT_WIDTH and not isinstance(result, ir.F32Type):
        raise call.failure(f"values of {dtype} are not converted to {result} exactly")
    blocks = read_blocks(call, prefer_tokens=elements.constant_value(call.value("scale")) is None)
    attributes = read_range(call, dtype) | {"dtype": dtype, "result_element_type": result}
    operands = (call.value("input"), *_parameters(call, blocks, dtype))
    return (_build("dequantize", blocks, operands, attributes),)


def _build(direction: str, blocks: Blocks, operands: Sequence[ir.Value], attributes: dict[str, Any]) -> ir.Value:
    if blocks.axis is not None:
        attributes = attributes | {"axis": blocks.axis}
    if blocks.size:
        attributes = attributes | {"group_size": blocks.size}
    return getattr(quantized_decomposed, f"{direction}_per_{blocks.granularity}")(*operands, **attributes)


_QUANTIZE = ("input", "block_size", "scale", "zero_point", "output_dtype", "quant_min", "quant_max")
_DEQUANTIZE = ("input", "block_size", "scale", "zero_point", "input_dtype", "quant_min", "quant_max", "output_dtype")

OPERATORS: dict[str, Operator] = {
    "torchao.quantize_affine": Operator(_QUANTIZE, _quantize_affine),
    "torchao.dequantize_affine": Operator(_DEQUANTIZE, _dequantize_affine),
}
