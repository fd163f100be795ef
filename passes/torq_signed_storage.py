# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsigned storage becomes signed: the NPU computes on signed integers.

An unsigned value u of n bits is stored as u - 2^(n-1), the same bits with the highest one flipped; the zero point and
the range move along, so the float values stay what they were. Flips move through data movement, meet, and cancel;
those that stay are at the borders of the function.
"""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements
from torq_mlir.rewriting.gather import read_tensor
from torq_mlir.rewriting.integer_chain import pad_value, rebuild_movement, rebuild_pad
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern, apply_greedily
from torq_mlir.rewriting.qparams import constant_parameters
from torq_mlir.rewriting.scalar_body import body_expression
from torq_mlir.rewriting.structured import build_elementwise, empty_like

_GRANULARITIES = "per_tensor", "per_channel"
_MOVEMENTS = "tensor.collapse_shape", "tensor.expand_shape", "linalg.transpose", "tensor.extract_slice"


def run(op: ir.Operation) -> None:
    apply_greedily(
        op,
        [
            *(
                Pattern(f"quantized_decomposed.quantize_{granularity}", _sign_quantize)
                for granularity in _GRANULARITIES
            ),
            *(
                Pattern(f"quantized_decomposed.dequantize_{granularity}", _sign_dequantize)
                for granularity in _GRANULARITIES
            ),
            *(Pattern(name, _move_flip) for name in _MOVEMENTS),
            *(Pattern(name, _repeat_flip) for name in ("linalg.broadcast", "linalg.generic")),
            Pattern("tensor.concat", _concat_flips),
            Pattern("tensor.pad", _pad_flip),
            Pattern("linalg.generic", _read_flip),
            Pattern("linalg.generic", _cancel_flips),
        ],
    )


def _sign_quantize(operation: ir.Operation, rewriter) -> object:
    signed = _signed_attributes(operation)
    if signed is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        zero_point = arith.constant(None, elements.from_numpy(signed.pop("zero_point")))
        operands = [operation.operands[0], operation.operands[1], zero_point]
        quantized = ir.Operation.create(operation.name, [operation.results[0].type], operands, signed)
        rewriter.replace_op(operation, [_flip(quantized.result)])
    return None


def _sign_dequantize(operation: ir.Operation, rewriter) -> object:
    signed = _signed_attributes(operation)
    if signed is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        zero_point = arith.constant(None, elements.from_numpy(signed.pop("zero_point")))
        operands = [_flip(operation.operands[0]), operation.operands[1], zero_point]
        dequantized = ir.Operation.create(operation.name, [operation.results[0].type], operands, signed)
        rewriter.replace_op(operation, [dequantized.result])
    return None


def _signed_attributes(operation: ir.Operation) -> dict | None:
    """Attributes of the signed form, and its zero point; None when the operation is signed, or not constant."""
    dtype = ir.IntegerType(ir.TypeAttr(operation.attributes["dtype"]).value)
    parameters = constant_parameters(operation)
    if not dtype.is_unsigned or dtype.width not in (8, 16) or parameters is None:
        return None
    if "quant_min" not in operation.attributes:
        return None
    half = 1 << (dtype.width - 1)
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    attributes["dtype"] = ir.TypeAttr.get(ir.IntegerType.get_signed(dtype.width))
    for name in ("quant_min", "quant_max"):
        bound = ir.IntegerAttr(attributes[name])
        attributes[name] = ir.IntegerAttr.get(bound.type, bound.value - half)
    attributes["zero_point"] = (parameters.zero_point - half).astype(f"int{dtype.width}")
    return attributes


def _flip(value: ir.Value) -> ir.Value:
    """`value` with the highest bit of each element flipped; at once when it is a constant."""
    constant = elements.constant_value(value)
    element = ir.RankedTensorType(value.type).element_type
    if constant is not None:
        return arith.constant(None, elements.from_numpy(constant ^ np.iinfo(constant.dtype).min))
    highest = -(1 << (ir.IntegerType(element).width - 1))
    return build_elementwise(
        [value], empty_like(value, element), lambda x: arith.xori(x, arith.constant(element, highest))
    )


def _flipped(value: ir.Value) -> ir.Value | None:
    """What a flip that defines `value` flips; for a constant, the flipped constant."""
    if isinstance(value.owner, ir.Block):
        return None
    if value.owner.operation.name != "linalg.generic":
        return None
    element = ir.RankedTensorType(value.type).element_type
    if not isinstance(element, ir.IntegerType):
        return None
    match body_expression(value.owner):
        case ("arith.xori", ("arg", 0), ("const", bit)) if bit == -(1 << (element.width - 1)):
            return value.owner.operation.operands[0]
    return None


def _cancel_flips(operation: ir.Operation, rewriter) -> object:
    inner = _flipped(operation.results[0]) if len(operation.results) == 1 else None
    source = None if inner is None else _flipped(inner)
    if source is None:
        return NOT_MINE
    rewriter.replace_op(operation, [source])
    return None


def _move_flip(operation: ir.Operation, rewriter) -> object:
    source = _flipped(operation.operands[0])
    if source is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_flip(rebuild_movement(operation, source))])
    return None


def _repeat_flip(operation: ir.Operation, rewriter) -> object:
    """A tensor repeated along some dimensions."""
    if operation.name == "linalg.generic" and body_expression(operation) != ("arg", 0):
        return NOT_MINE
    source = _flipped(operation.operands[0])
    if source is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        repeated = operation.clone().operation
        repeated.operands[0] = source
        rewriter.replace_op(operation, [_flip(repeated.results[0])])
    return None


def _read_flip(operation: ir.Operation, rewriter) -> object:
    """A generic that yields elements of a tensor from outside, wherever it reads them."""
    read = read_tensor(operation)
    source = None if read is None else _flipped(read)
    if source is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        other = operation.clone().operation
        for each in (other, *(nested.operation for nested in other.regions[0].blocks[0].operations)):
            for index, operand in enumerate(each.operands):
                if operand == read:
                    each.operands[index] = source
        rewriter.replace_op(operation, [_flip(other.results[0])])
    return None


def _pad_flip(operation: ir.Operation, rewriter) -> object:
    source = _flipped(operation.operands[0])
    padding = pad_value(operation)
    if source is None or padding is None:
        return NOT_MINE
    highest = 1 << (ir.IntegerType(ir.RankedTensorType(source.type).element_type).width - 1)
    signed = padding + highest if padding < 0 else padding - highest
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_flip(rebuild_pad(operation, source, signed))])
    return None


def _concat_flips(operation: ir.Operation, rewriter) -> object:
    sources = [_flipped(value) for value in operation.operands]
    if any(source is None for source in sources):
        return NOT_MINE
    attributes = {"dim": operation.attributes["dim"]}
    with ir.InsertionPoint(operation), operation.location:
        concat = ir.Operation.create(operation.name, [operation.results[0].type], sources, attributes)
        rewriter.replace_op(operation, [_flip(concat.result)])
    return None
