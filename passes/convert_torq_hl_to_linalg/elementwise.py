# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that compute each element of the output from one element of each input."""

from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import (
    PARALLEL,
    build_elementwise,
    build_generic,
    element_type,
    extend,
    integer_type,
    projection,
    scalar_constant,
    scalar_of,
)

from .conversions import convert_element, saturate
from .operands import Rescale, Unsupported, accumulator_type, flag, pairs, weight_values


def lower_add(op: ir.OpView) -> ir.Value:
    accumulator = accumulator_type(element_type(op.input1), element_type(op.weights))
    weight1, weight2 = (extend(weight, accumulator) for weight in weight_values(op.weights, 2))
    bias, multiplier = _single_pair(op)
    rescale, target = Rescale.of(op), element_type(op.init)

    def body(x1: ir.Value, x2: ir.Value) -> ir.Value:
        product1 = arith.muli(extend(x1, accumulator), weight1)
        product2 = arith.muli(extend(x2, accumulator), weight2)
        return rescale.apply(arith.addi(product1, product2), bias, multiplier, target)

    second = scalar_of(op.input2) if flag(op, "rhs_is_scalar") else op.input2
    return _binary(op.input1, second, op.init, body)


def lower_mul(op: ir.OpView) -> ir.Value:
    accumulator = accumulator_type(element_type(op.input1), element_type(op.input2))
    bias, multiplier = _single_pair(op)
    rescale, target = Rescale.of(op, shift="shift"), element_type(op.init)

    def body(x1: ir.Value, x2: ir.Value) -> ir.Value:
        return rescale.apply(arith.muli(extend(x1, accumulator), extend(x2, accumulator)), bias, multiplier, target)

    return _binary(op.input1, op.input2, op.init, body)


def lower_fma(op: ir.OpView) -> ir.Value:
    accumulator = accumulator_type(element_type(op.input), element_type(op.weights))
    rescale, target, unsigned = Rescale.of(op), element_type(op.init), flag(op, "input_unsigned")
    rank = ir.RankedTensorType(op.init.type).rank
    channel = projection(rank, [1 if rank > 2 else rank - 1]) if rank else None
    per_channel = ir.RankedTensorType(op.weights.type).num_elements() > 1
    parameters = [op.weights if per_channel else weight_values(op.weights, 1)[0], *pairs(op.scale_bias)]
    inputs = [parameter for parameter in parameters if isinstance(parameter.type, ir.RankedTensorType)]

    def body(value: ir.Value, *elements: ir.Value) -> ir.Value:
        arguments = iter(elements)
        weight, bias, multiplier = (next(arguments) if p in inputs else p for p in parameters)
        product = arith.muli(extend(value, accumulator, unsigned), extend(weight, accumulator))
        return rescale.apply(product, bias, multiplier, target)

    identity = ir.AffineMap.get_identity(rank)
    maps = [identity, *[channel] * len(inputs), identity]
    return build_generic([op.input, *inputs], op.init, maps, [PARALLEL] * rank, body)


def lower_act(op: ir.OpView) -> ir.Value:
    name = ir.StringAttr(op.operation.attributes["name"]).value
    source, target = element_type(op.input), element_type(op.init)
    make = _ACTS.get((name, isinstance(source, ir.IntegerType), isinstance(target, ir.IntegerType)))
    if make is None:
        raise Unsupported(f'"{name}" from {source} to {target}')
    return build_elementwise([op.input], op.init, make(op, source, target))


def lower_convert(op: ir.OpView) -> ir.Value:
    target = element_type(op.init)
    return build_elementwise([op.input], op.init, lambda value: convert_element(value, target))


def lower_table(op: ir.OpView) -> ir.Value:
    if element_type(op.input) != integer_type(8) or element_type(op.init) != integer_type(8):
        raise Unsupported(f"a table from {element_type(op.input)} to {element_type(op.init)}")
    entries = _static_entries(op)
    dynamic = _dynamic_table(op) if entries is None else None
    table = dynamic if entries is None else arith.constant(None, elements.from_numpy(entries))
    index, first = ir.IndexType.get(), arith.constant(ir.IndexType.get(), 128)

    def body(value: ir.Value) -> ir.Value:
        entry = tensor.extract(table, [arith.addi(arith.index_cast(index, value), first)])
        if dynamic is None:
            return entry
        base = arith.trunci(integer_type(16), entry)
        return arith.trunci(integer_type(8), arith.shrsi(base, scalar_constant(integer_type(16), 8)))

    return build_elementwise([op.input], op.init, body)


def lower_elementwisebinary(op: ir.OpView) -> ir.Value:
    source, target = element_type(op.input1), element_type(op.init)
    kind = ir.IntegerAttr(op.operation.attributes["op_type"]).value
    is_integer = isinstance(source, ir.IntegerType)
    make = _integer_operation if is_integer else _float_operation
    body = make(kind, source, flag(op, "is_unsigned"))
    if body is None or source != element_type(op.input2):
        raise Unsupported(f"operation {kind} of {source} and {element_type(op.input2)}")
    expected = integer_type(1) if kind in _GIVES_BOOLEAN else source
    if target != expected:
        raise Unsupported(f"operation {kind} of {source} to {target}")
    return _binary(op.input1, op.input2, op.init, body)


def _binary(x1: ir.Value, x2: ir.Value, init: ir.Value, body: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    if isinstance(x2.type, ir.RankedTensorType):
        return build_elementwise([x1, x2], init, body)
    return build_elementwise([x1], init, lambda value: body(value, x2))


def _single_pair(op: ir.OpView) -> tuple[ir.Value, ir.Value]:
    parameters = pairs(op.scale_bias)
    if parameters.per_channel:
        raise Unsupported("several pairs of bias and multiplier")
    return parameters


# Tables


def _static_entries(op: ir.OpView) -> np.ndarray | None:
    """The i8 values of the table's entries; None for a table known at run time only."""
    attributes = op.operation.attributes
    if "static_table" in attributes:
        words = np.array(list(ir.DenseI32ArrayAttr(attributes["static_table"])), np.int32)
    elif op.dynamic_table is None:
        raise Unsupported("there is neither a static nor a dynamic table")
    else:
        words = elements.constant_value(op.dynamic_table)
        if words is None:
            return None
    return (words.astype(np.int16) >> 8).astype(np.int8)


def _dynamic_table(op: ir.OpView) -> ir.Value:
    return op.dynamic_table


# Activations: (operation, input element type, output element type) -> scalar function


def _clamp_integers(op: ir.OpView, source: ir.IntegerType, target: ir.IntegerType):
    wide = integer_type(64)
    low, high = scalar_constant(wide, op.min_int.value), scalar_constant(wide, op.max_int.value)
    return lambda value: saturate(arith.minsi(arith.maxsi(extend(value, wide), low), high), target)


def _clamp_floats(op: ir.OpView, source: ir.Type, target: ir.Type):
    single = ir.F32Type.get()
    low, high = scalar_constant(single, op.min_fp.value), scalar_constant(single, op.max_fp.value)

    def clamp(value: ir.Value) -> ir.Value:
        return convert_element(arith.minimumf(arith.maximumf(convert_element(value, single), low), high), target)

    return clamp


def _integers_without_zero_point(magnitude: bool):
    def make(op: ir.OpView, source: ir.IntegerType, target: ir.IntegerType):
        wide = integer_type(64)
        input_zp, output_zp = (scalar_constant(wide, zp.value) for zp in (op.input_zp, op.output_zp))

        def compute(value: ir.Value) -> ir.Value:
            value = arith.subi(extend(value, wide), input_zp)
            negated = arith.subi(scalar_constant(wide, 0), value)
            result = arith.maxsi(value, negated) if magnitude else negated
            return saturate(arith.addi(result, output_zp), target)

        return compute

    return make


def _float_function(function: Callable[[ir.Value], ir.Value]):
    def make(op: ir.OpView, source: ir.Type, target: ir.Type):
        return lambda value: convert_element(function(convert_element(value, ir.F32Type.get())), target)

    return make


def _integer_to_float(op: ir.OpView, source: ir.IntegerType, target: ir.Type):
    wide = integer_type(64)
    input_zp = scalar_constant(wide, op.input_zp.value)
    return lambda value: convert_element(arith.subi(extend(value, wide), input_zp), target)


def _convert(op: ir.OpView, source: ir.Type, target: ir.Type):
    return lambda value: convert_element(value, target)


_ACTS = {
    ("f2f", False, False): _convert,
    ("f2i", False, True): _convert,
    ("i2f", True, False): _integer_to_float,
    ("clamp", True, True): _clamp_integers,
    ("clamp", False, False): _clamp_floats,
    ("abs", True, True): _integers_without_zero_point(magnitude=True),
    ("negate", True, True): _integers_without_zero_point(magnitude=False),
    ("abs", False, False): _float_function(math.absf),
    ("negate", False, False): _float_function(arith.negf),
    ("tanh", False, False): _float_function(math.tanh),
}

# elementwisebinary

(
    _AND,
    _OR,
    _XOR,
    _NOT,
    _MINIMUM,
    _MAXIMUM,
    _GREATER,
    _GREATER_EQUAL,
    _EQUAL,
    _LOGICAL_AND,
    _LOGICAL_OR,
    _LOGICAL_XOR,
    _LOGICAL_NOT,
    _SUB,
    _ADD,
) = range(15)
_GIVES_BOOLEAN = {_GREATER, _GREATER_EQUAL, _EQUAL, _LOGICAL_AND, _LOGICAL_OR, _LOGICAL_XOR, _LOGICAL_NOT}


def _integer_operation(kind: int, source: ir.IntegerType, unsigned: bool):
    predicates = arith.CmpIPredicate
    unsigned = unsigned or source.width == 1
    comparisons = {
        _GREATER: predicates.ugt if unsigned else predicates.sgt,
        _GREATER_EQUAL: predicates.uge if unsigned else predicates.sge,
        _EQUAL: predicates.eq,
    }
    plain = {
        _AND: arith.andi,
        _OR: arith.ori,
        _XOR: arith.xori,
        _MINIMUM: arith.minui if unsigned else arith.minsi,
        _MAXIMUM: arith.maxui if unsigned else arith.maxsi,
        _SUB: arith.subi,
        _ADD: arith.addi,
    }
    logical = {_LOGICAL_AND: arith.andi, _LOGICAL_OR: arith.ori, _LOGICAL_XOR: arith.xori}
    if kind in comparisons:
        return lambda x1, x2: arith.cmpi(comparisons[kind], x1, x2)
    if kind in plain:
        return plain[kind]
    if kind in logical:
        return lambda x1, x2: logical[kind](_is_nonzero(x1), _is_nonzero(x2))
    if kind == _NOT:
        return lambda x1, _: arith.xori(x1, scalar_constant(source, -1))
    return lambda x1, _: arith.cmpi(predicates.eq, x1, scalar_constant(source, 0))


def _is_nonzero(value: ir.Value) -> ir.Value:
    if value.type == integer_type(1):
        return value
    return arith.cmpi(arith.CmpIPredicate.ne, value, scalar_constant(value.type, 0))


def _float_operation(kind: int, source: ir.Type, unsigned: bool):
    predicates = arith.CmpFPredicate
    comparisons = {_GREATER: predicates.OGT, _GREATER_EQUAL: predicates.OGE, _EQUAL: predicates.OEQ}
    if kind in comparisons:
        return lambda x1, x2: arith.cmpf(comparisons[kind], x1, x2)
    return {_MINIMUM: arith.minimumf, _MAXIMUM: arith.maximumf, _SUB: arith.subf, _ADD: arith.addf}.get(kind)
