# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that combine two tensors, element by element, and the product with a weight."""

from collections.abc import Callable
from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import arith

from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    convert_float,
    element_type,
    extend,
    integer_type,
    projection,
    scalar_constant,
    scalar_of,
)

from .operands import Rescale, Unsupported, accumulator_type, pairs, require_default, weight_values

Scalar2 = Callable[[ir.Value, ir.Value], ir.Value]


def lower_add(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_default(attributes, "input_zp", "segment_output")
    if isinstance(element_type(op.init), ir.FloatType):
        return _lower_add_bf16(op, attributes)
    accumulator = accumulator_type(element_type(op.input1), element_type(op.input2), weight=element_type(op.weights))
    weight1, weight2 = (extend(weight, accumulator) for weight in weight_values(op.weights, 2))
    bias, multiplier = _single_pair(op)
    rescale, target = Rescale.of(attributes, attributes.shift_factor), element_type(op.init)

    def body(x1: ir.Value, x2: ir.Value) -> ir.Value:
        product1 = arith.muli(extend(x1, accumulator), weight1)
        product2 = arith.muli(extend(x2, accumulator), weight2)
        return rescale.apply(arith.addi(product1, product2), bias, multiplier, target)

    if attributes.rhs_is_scalar:
        scalar = scalar_of(op.input2)
        return build_elementwise([op.input1], op.init, lambda x1: body(x1, scalar))
    return build_elementwise([op.input1, op.input2], op.init, body)


def lower_mul(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    if isinstance(element_type(op.init), ir.FloatType):
        return _lower_mul_bf16(op)
    accumulator = accumulator_type(element_type(op.input1), weight=element_type(op.input2))
    bias, multiplier = _single_pair(op)
    rescale, target = Rescale.of(attributes, attributes.shift), element_type(op.init)

    def body(x1: ir.Value, x2: ir.Value) -> ir.Value:
        return rescale.apply(arith.muli(extend(x1, accumulator), extend(x2, accumulator)), bias, multiplier, target)

    return build_elementwise([op.input1, op.input2], op.init, body)


def lower_fma(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    accumulator = accumulator_type(element_type(op.input), weight=element_type(op.weights))
    rescale, target = Rescale.of(attributes, attributes.shift_factor), element_type(op.init)
    per_channel = ir.RankedTensorType(op.weights.type).shape != [1]
    parameters = [op.weights if per_channel else weight_values(op.weights, 1)[0], *pairs(op.scale_bias)]
    tensors = [parameter for parameter in parameters if isinstance(parameter.type, ir.RankedTensorType)]

    def body(value: ir.Value, *elements: ir.Value) -> ir.Value:
        arguments = iter(elements)
        weight, bias, multiplier = (next(arguments) if parameter in tensors else parameter for parameter in parameters)
        product = arith.muli(extend(value, accumulator, attributes.input_unsigned), extend(weight, accumulator))
        return rescale.apply(product, bias, multiplier, target)

    rank = ir.RankedTensorType(op.init.type).rank
    identity = ir.AffineMap.get_identity(rank)
    channel = [projection(rank, [1 if rank > 2 else rank - 1])] * len(tensors) if tensors else []
    return build_generic([op.input, *tensors], op.init, [identity, *channel, identity], [PARALLEL] * rank, body)


def lower_elementwisebinary(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    source, target, kind = element_type(op.input1), element_type(op.init), attributes.op_type
    operations = _integer_operations if isinstance(source, ir.IntegerType) else _float_operations
    body = operations(source, attributes.is_unsigned).get(kind)
    expected = integer_type(1) if kind in _GIVES_BOOLEAN else source
    if body is None or element_type(op.input2) != source or target != expected:
        raise Unsupported(f"op_type {kind} of {source} and {element_type(op.input2)} to {target}")
    return build_elementwise([op.input1, op.input2], op.init, body)


def lower_select(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    return build_elementwise([op.input1, op.input2, op.input3], op.init, arith.select)


def _lower_add_bf16(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    single, half = ir.F32Type.get(), ir.BF16Type.get()
    operands = [element_type(value) for value in (op.init, op.weights, op.input1, op.input2)]
    if operands != [half] * 4 or element_type(op.scale_bias) != single:
        raise Unsupported("a sum of floats takes two of bf16 with weights of bf16, and one bias of f32")
    weights = weight_values(op.weights, 2)
    bias = weight_values(op.scale_bias, 1)[0]

    def body(*inputs: ir.Value) -> ir.Value:
        first, second = (
            arith.mulf(convert_float(x, single), convert_float(weight, single))
            for x, weight in zip(inputs, weights, strict=True)
        )
        return convert_float(arith.addf(arith.addf(first, second), bias), half)

    if attributes.rhs_is_scalar:
        scalar = scalar_of(op.input2)
        return build_elementwise([op.input1], op.init, lambda x1: body(x1, scalar))
    return build_elementwise([op.input1, op.input2], op.init, body)


def _lower_mul_bf16(op: ir.OpView) -> ir.Value:
    single, half = ir.F32Type.get(), ir.BF16Type.get()
    operands = [element_type(value) for value in (op.init, op.input1, op.input2)]
    if operands != [half] * 3 or element_type(op.scale_bias) != single:
        raise Unsupported("a product of floats takes two of bf16 and one bias of f32")
    bias = weight_values(op.scale_bias, 1)[0]

    def body(x1: ir.Value, x2: ir.Value) -> ir.Value:
        product = arith.mulf(convert_float(x1, single), convert_float(x2, single))
        return convert_float(arith.addf(product, bias), half)

    return build_elementwise([op.input1, op.input2], op.init, body)


def _single_pair(op: ir.OpView) -> tuple[ir.Value, ir.Value]:
    parameters = pairs(op.scale_bias)
    if parameters.per_channel:
        raise Unsupported("several pairs of bias and multiplier")
    return parameters


# op_type of elementwisebinary; 3 and 12 are operations of one operand
_AND, _OR, _XOR, _MINIMUM, _MAXIMUM, _GREATER, _GREATER_EQUAL, _EQUAL = 0, 1, 2, 4, 5, 6, 7, 8
_LOGICAL_AND, _LOGICAL_OR, _LOGICAL_XOR, _SUB, _ADD = 9, 10, 11, 13, 14
_GIVES_BOOLEAN = {_GREATER, _GREATER_EQUAL, _EQUAL, _LOGICAL_AND, _LOGICAL_OR, _LOGICAL_XOR}


def _integer_operations(source: ir.IntegerType, unsigned: bool) -> dict[int, Scalar2]:
    predicates = arith.CmpIPredicate
    is_boolean = source.width == 1
    unsigned = unsigned or is_boolean
    operations = {
        _AND: arith.andi,
        _OR: arith.ori,
        _XOR: arith.xori,
        _MINIMUM: arith.minui if unsigned else arith.minsi,
        _MAXIMUM: arith.maxui if unsigned else arith.maxsi,
        _GREATER: _comparison(arith.cmpi, predicates.ugt if unsigned else predicates.sgt),
        _GREATER_EQUAL: _comparison(arith.cmpi, predicates.uge if unsigned else predicates.sge),
        _EQUAL: _comparison(arith.cmpi, predicates.eq),
        **_logical_operations(),
    }
    return operations if is_boolean else operations | {_SUB: arith.subi, _ADD: arith.addi}


def _float_operations(source: ir.FloatType, unsigned: bool) -> dict[int, Scalar2]:
    predicates = arith.CmpFPredicate
    return {
        _MINIMUM: arith.minimumf,
        _MAXIMUM: arith.maximumf,
        _GREATER: _comparison(arith.cmpf, predicates.OGT),
        _GREATER_EQUAL: _comparison(arith.cmpf, predicates.OGE),
        _EQUAL: _comparison(arith.cmpf, predicates.OEQ),
        _SUB: arith.subf,
        _ADD: arith.addf,
        **_logical_operations(),
    }


def _comparison(compare: Callable[..., ir.Value], predicate: object) -> Scalar2:
    return lambda x1, x2: compare(predicate, x1, x2)


def _logical_operations() -> dict[int, Scalar2]:
    def of_truth(combine: Scalar2) -> Scalar2:
        return lambda x1, x2: combine(_is_nonzero(x1), _is_nonzero(x2))

    return {_LOGICAL_AND: of_truth(arith.andi), _LOGICAL_OR: of_truth(arith.ori), _LOGICAL_XOR: of_truth(arith.xori)}


def _is_nonzero(value: ir.Value) -> ir.Value:
    if value.type == integer_type(1):
        return value
    if isinstance(value.type, ir.IntegerType):
        return arith.cmpi(arith.CmpIPredicate.ne, value, scalar_constant(value.type, 0))
    return arith.cmpf(arith.CmpFPredicate.UNE, value, scalar_constant(value.type, 0))
