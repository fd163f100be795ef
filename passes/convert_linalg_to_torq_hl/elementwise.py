# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations between dequantizations and a quantization."""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.addition import add_bias, add_weights
from torq_mlir.numerics.rescale import multiplier_and_shift
from torq_mlir.rewriting.clamp import Clamped, match_clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize, match_quantize
from torq_mlir.rewriting.scalar_body import body_expression

_BITWISE_XOR = 2


def convert_requantize(operation: ir.Operation, rewriter) -> object:
    """`quantize(clamp(dequantize(x)))`: the same values in another scale or range, by an fma."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    dequantize = match_dequantize(clamped.value)
    if dequantize is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(operation), locations_of([dequantize], clamped, quantize):
        rewriter.replace_op(operation, [requantize(dequantize, quantize, clamped)])
    return None


def convert_requantize_accumulator(operation: ir.Operation, rewriter) -> object:
    """`quantize(clamp(dequantize(accumulator)))` of an i32 that a weighted operation leaves to several consumers."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    dequantize = match_dequantize(clamped.value)
    if dequantize is None or not _is_accumulator(dequantize):
        return NOT_MINE
    check_output(quantize)
    accumulator = ir.RankedTensorType(dequantize.input.type)
    if dequantize.axis not in (None, 1 if accumulator.rank > 2 else accumulator.rank - 1):
        raise NoMatch("the scales of the accumulator run along another dimension than the channels")
    factors, shift = multipliers(dequantize.scale / quantize.scale)
    pairs = np.stack(np.broadcast_arrays(np.int32(0), np.atleast_1d(factors)), axis=-1).reshape(-1)
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(operation), locations_of([dequantize], clamped, quantize):
        value = torq_hl.fma(
            constant(np.ones(len(pairs) // 2, np.int8)),
            constant(pairs),
            dequantize.input,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(operation, [value])
    return None


def _is_accumulator(dequantize: Dequantize) -> bool:
    owner = dequantize.input.owner
    element = ir.RankedTensorType(dequantize.input.type).element_type
    return (
        element.width == 32
        and not dequantize.zero_point.any()
        and not isinstance(owner, ir.Block)
        and owner.operation.name.startswith("torq_hl.")
    )


def requantize(dequantize: Dequantize, quantize: Quantize, clamped: Clamped) -> ir.Value:
    """The integers of `dequantize` in the parameters of `quantize`; the integers themselves when nothing changes."""
    low, high = clamped.integer_bounds(quantize)
    element = ir.RankedTensorType(dequantize.input.type).element_type
    full_range = element.width == 8 and (low, high) == (-128, 127)
    same = dequantize.scale == quantize.scale and dequantize.zero_point == quantize.zero_point
    if same and full_range:
        return dequantize.input
    factor, shift = multiplier(dequantize.scale / quantize.scale)
    return torq_hl.fma(
        constant(np.ones(1, np.int8)),
        constant(np.array([-int(dequantize.zero_point), factor], np.int32)),
        dequantize.input,
        output_zp=int(quantize.zero_point),
        output_min=low,
        output_max=high,
        shift_factor=shift,
        element_type=result_element(quantize),
    )


def convert_add(operation: ir.Operation, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) +- dequantize(x2)))` with a scale for each of the three."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    binary = match_binary(clamped.value, "arith.addf", "arith.subf")
    if binary is None:
        return NOT_MINE
    kind, generic, inputs = binary
    check_storage(quantize, inputs)
    signs = (1, 1) if kind == "arith.addf" else (1, -1)
    scales = [float(x.scale) * sign for x, sign in zip(inputs, signs, strict=False)]
    try:
        weights, shift = add_weights(*scales, float(quantize.scale))
    except ValueError as error:
        raise NoMatch(str(error)) from error
    bias = add_bias(weights, *(int(x.zero_point) for x in inputs))
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.add(
            constant(weights),
            constant(np.array([bias, 1], np.int32)),
            *(x.input for x in inputs),
            name="add" if kind == "arith.addf" else "sub",
            input_zp=0,
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(operation, [value])
    return None


def convert_mul(operation: ir.Operation, rewriter) -> object:
    """`quantize(clamp(dequantize(x1) * dequantize(x2)))`: zero points are removed by an fma that widens to i16."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    binary = match_binary(clamped.value, "arith.mulf")
    if binary is None:
        return NOT_MINE
    _, generic, inputs = binary
    check_storage(quantize, inputs)
    factor, shift = multiplier(inputs[0].scale * inputs[1].scale / quantize.scale)
    low, high = clamped.integer_bounds(quantize)
    with ir.InsertionPoint(operation), locations_of([], clamped, quantize, generic):
        value = torq_hl.mul(
            constant(np.array([0, factor], np.int32)),
            *(center(x.input, int(x.zero_point)) for x in inputs),
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(operation, [value])
    return None


def center(value: ir.Value, zero_point: int) -> ir.Value:
    """`value - zero_point` in i16; the value itself for zero."""
    if zero_point == 0:
        return value
    return torq_hl.fma(
        constant(np.ones(1, np.int8)),
        constant(np.array([-zero_point, 1], np.int32)),
        value,
        output_zp=0,
        output_min=-(1 << 15),
        output_max=(1 << 15) - 1,
        shift_factor=0,
        element_type=ir.IntegerType.get_signless(16),
    )


def match_binary(value: ir.Value, *names: str) -> tuple[str, ir.Operation, list[Dequantize]] | None:
    """A generic that applies one of `names` to two dequantized values, broadcast as numpy does."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    if len(generic.operands) == 2:
        return _match_square(generic, names)
    match body_expression(generic):
        case (name, ("arg", 0 | 1 as first), ("arg", 0 | 1 as second)) if name in names:
            pass
        case _:
            return None
    inputs = [match_dequantize(generic.operands[i]) for i in (first, second)]
    if any(dequantize is None for dequantize in inputs):
        raise NoMatch("an operand is not dequantized with constant parameters")
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    for index in (first, second):
        if not _broadcasts(maps[index], ir.RankedTensorType(generic.operands[index].type).shape):
            raise NoMatch("the operands do not broadcast over trailing dimensions")
    return name, generic, inputs


def _match_square(generic: ir.Operation, names) -> tuple[str, ir.Operation, list[Dequantize]] | None:
    match body_expression(generic):
        case (name, ("arg", 0), ("arg", 0)) if name in names:
            dequantize = match_dequantize(generic.operands[0])
            return dequantize and (name, generic, [dequantize, dequantize])
    return None


def _broadcasts(affine_map: ir.AffineMap, shape: list[int]) -> bool:
    """Whether operand dimensions line up with the last loops, a dimension of size 1 standing still."""
    offset = affine_map.n_dims - len(shape)
    for i, (expression, size) in enumerate(zip(affine_map.results, shape, strict=False)):
        if isinstance(expression, ir.AffineDimExpr):
            if expression.position != i + offset:
                return False
        elif size != 1:
            return False
    return True


def check_storage(quantize: Quantize, inputs: list[Dequantize]) -> None:
    """Refuses what integer operations with one signed scale per tensor cannot compute."""
    check_output(quantize)
    for dequantize in inputs:
        if not dequantize.per_tensor:
            raise NoMatch("an operand is quantized per channel")
        if dequantize.unsigned:
            raise NoMatch("an operand is unsigned; run torq-signed-storage before")
        width = ir.RankedTensorType(dequantize.input.type).element_type.width
        if width not in (8, 16):
            raise NoMatch(f"i{width} values have no elementwise operation")


def check_output(quantize: Quantize) -> None:
    """Refuses an output that is not signed with one scale, of 8 or 16 bits."""
    if not quantize.per_tensor:
        raise NoMatch("the output is quantized per channel")
    if quantize.unsigned:
        raise NoMatch("the output is unsigned; run torq-signed-storage before")
    width = result_element(quantize).width
    if width not in (8, 16):
        raise NoMatch(f"the output has {width} bits")


def check_requantizable(quantize: Quantize, inputs: list[Dequantize]) -> None:
    """Refuses scales whose ratio has no multiplier."""
    for dequantize in inputs:
        multiplier(dequantize.scale / quantize.scale)


def multiplier(real_scale) -> tuple[int, int]:
    """Multiplier and shift of one scale."""
    values, shift = multipliers(real_scale)
    return int(values), shift


def multipliers(real_scale) -> tuple[np.ndarray, int]:
    """Multipliers and their shift; a scale without any is a reason not to match."""
    try:
        return multiplier_and_shift(real_scale)
    except ValueError as error:
        raise NoMatch(str(error)) from error


def constant(array: np.ndarray) -> ir.Value:
    return arith.constant(None, elements.from_numpy(array))


def result_element(quantize: Quantize) -> ir.Type:
    return ir.RankedTensorType(quantize.operation.results[0].type).element_type


def locations_of(inputs, clamped: Clamped, quantize: Quantize, *computing: ir.Operation) -> ir.Location:
    operations = [*computing, *(x.operation for x in inputs), *clamped.operations, quantize.operation]
    return fuse_locations([operation.location for operation in operations])


def convert_bit_flip(operation: ir.Operation, rewriter) -> object:
    """Exclusive or with a constant, as it stays at the borders of a function with unsigned values."""
    if len(operation.operands) != 2 or not isinstance(operation.results[0].type.element_type, ir.IntegerType):
        return NOT_MINE
    match body_expression(operation):
        case ("arith.xori", ("arg", 0), ("const", bits)):
            pass
        case _:
            return NOT_MINE
    element = operation.results[0].type.element_type
    with ir.InsertionPoint(operation), operation.location:
        mask = constant(np.array([bits], elements.numpy_dtype(element)))
        value = torq_hl.elementwisebinary(operation.operands[0], mask, op_type=_BITWISE_XOR, element_type=element)
        rewriter.replace_op(operation, [value])
    return None
