# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that compute each element of the output from one element of the input."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import (
    build_elementwise,
    element_type,
    extend,
    index_constant,
    integer_type,
    scalar_constant,
)

from .conversions import convert_element
from .operands import Unsupported, require_constant, require_default

Scalar = Callable[[ir.Value], ir.Value]


def lower_act(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    if op.weights is not None:
        raise Unsupported("weights")
    source, target = element_type(op.input), element_type(op.init)
    make = _ACTS.get((attributes.name, isinstance(source, ir.IntegerType), isinstance(target, ir.IntegerType)))
    if make is None:
        raise Unsupported(f'"{attributes.name}" from {source} to {target}')
    function = make(attributes)
    return build_elementwise([op.input], op.init, lambda value: convert_element(function(value), target))


def lower_convert(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    target = element_type(op.init)
    return build_elementwise([op.input], op.init, lambda value: convert_element(value, target))


def lower_table(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    """The table as 256 values of i8 ahead of the loop, and a lookup in the loop."""
    if element_type(op.input) != integer_type(8) or element_type(op.init) != integer_type(8):
        raise Unsupported(f"a table from {element_type(op.input)} to {element_type(op.init)}")
    require_default(attributes, "output_zp", "shift", "saturate_i16")
    require_constant(op.scale_bias, "scale_bias", [-128, 128])
    table = _table_values(op, attributes)
    first = index_constant(128)

    def body(value: ir.Value) -> ir.Value:
        return tensor.extract(table, [arith.addi(arith.index_cast(ir.IndexType.get(), value), first)])

    return build_elementwise([op.input], op.init, body)


def _table_values(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    if (attributes.static_table is None) == (op.dynamic_table is None):
        raise Unsupported("there must be one table, static or dynamic")
    words = attributes.static_table
    if words is None:
        words = elements.constant_value(op.dynamic_table)
    byte, short = integer_type(8), integer_type(16)
    if words is None:

        def value_of_word(word: ir.Value) -> ir.Value:
            return arith.trunci(byte, arith.shrsi(arith.trunci(short, word), scalar_constant(short, 8)))

        return build_elementwise([op.dynamic_table], tensor.empty([256], byte), value_of_word)
    words = np.array(words, np.int32)
    if ((words >> 16) & 0xFFFF).any():
        raise Unsupported("a slope is not 0")
    return arith.constant(None, elements.from_numpy((words.astype(np.int16) >> 8).astype(np.int8)))


# Activations. Each function computes in a type that holds every result; the conversion to the output comes after it.


def _clamp_integers(attributes: SimpleNamespace) -> Scalar:
    wide = integer_type(64)
    low, high = scalar_constant(wide, attributes.min_int), scalar_constant(wide, attributes.max_int)
    return lambda value: arith.minsi(arith.maxsi(extend(value, wide), low), high)


def _clamp_floats(attributes: SimpleNamespace) -> Scalar:
    single = ir.F32Type.get()
    low, high = scalar_constant(single, attributes.min_fp), scalar_constant(single, attributes.max_fp)
    return lambda value: arith.minimumf(arith.maximumf(convert_element(value, single), low), high)


def _centered(value: ir.Value, input_zp: int) -> ir.Value:
    wide = integer_type(64)
    return arith.subi(extend(value, wide), scalar_constant(wide, input_zp))


def _integer_to_float(attributes: SimpleNamespace) -> Scalar:
    return lambda value: _centered(value, attributes.input_zp)


def _negate_integers(attributes: SimpleNamespace) -> Scalar:
    offset = attributes.input_zp + attributes.output_zp
    wide = integer_type(64)
    return lambda value: arith.subi(scalar_constant(wide, offset), extend(value, wide))


def _magnitude_of_integers(attributes: SimpleNamespace) -> Scalar:
    def compute(value: ir.Value) -> ir.Value:
        wide = integer_type(64)
        value = _centered(value, attributes.input_zp)
        magnitude = arith.maxsi(value, arith.subi(scalar_constant(wide, 0), value))
        return arith.addi(magnitude, scalar_constant(wide, attributes.output_zp))

    return compute


def _tanh(attributes: SimpleNamespace) -> Scalar:
    return lambda value: math.tanh(convert_element(value, ir.F64Type.get()))


# (name, integers in, integers out)
_ACTS: dict[tuple[str, bool, bool], Callable[[SimpleNamespace], Scalar]] = {
    ("f2f", False, False): lambda attributes: lambda value: value,
    ("f2i", False, True): lambda attributes: lambda value: value,
    ("i2f", True, False): _integer_to_float,
    ("clamp", True, True): _clamp_integers,
    ("clamp", False, False): _clamp_floats,
    ("abs", True, True): _magnitude_of_integers,
    ("negate", True, True): _negate_integers,
    ("abs", False, False): lambda attributes: math.absf,
    ("negate", False, False): lambda attributes: arith.negf,
    ("tanh", False, False): _tanh,
}
