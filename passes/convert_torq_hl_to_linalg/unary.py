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

from .conversions import convert_element, saturate
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
    """The bases, and the slopes for i16, as tensors of 256 values ahead of the loop, and a lookup in the loop."""
    source, target = element_type(op.input), element_type(op.init)
    byte, short = integer_type(8), integer_type(16)
    if (source, target) not in ((byte, byte), (byte, short), (short, short)):
        raise Unsupported(f"a table from {source} to {target}")
    require_default(attributes, "output_zp", "shift", "saturate_i16")
    require_constant(op.scale_bias, "scale_bias", [-128, 128] if source == byte else [-32768, 1])
    words = _table_words(op, attributes)
    if source == short:
        return _lower_interpolation(op, words)
    if isinstance(words, np.ndarray) and (words >> 16).any():
        raise Unsupported("a slope is not 0")
    values = _entries(words, target, 8 if target == byte else 0)
    first = index_constant(128)

    def body(value: ir.Value) -> ir.Value:
        return tensor.extract(values, [arith.addi(arith.index_cast(ir.IndexType.get(), value), first)])

    return build_elementwise([op.input], op.init, body)


def _lower_interpolation(op: ir.OpView, words: np.ndarray | ir.Value) -> ir.Value:
    short, wide = integer_type(16), integer_type(32)
    bases, slopes = _entries(words, short), _entries(words, short, 16)
    first = index_constant(128)

    def body(value: ir.Value) -> ir.Value:
        value = extend(value, wide)
        entry = arith.index_cast(ir.IndexType.get(), arith.shrsi(value, scalar_constant(wide, 8)))
        entry = arith.addi(entry, first)
        base, slope = (extend(tensor.extract(values, [entry]), wide) for values in (bases, slopes))
        rise = arith.muli(slope, arith.andi(value, scalar_constant(wide, 0xFF)))
        rise = arith.shrsi(arith.addi(rise, scalar_constant(wide, 1 << 7)), scalar_constant(wide, 8))
        return saturate(arith.addi(base, rise), short)

    return build_elementwise([op.input], op.init, body)


def _table_words(op: ir.OpView, attributes: SimpleNamespace) -> np.ndarray | ir.Value:
    """The entries: int32 when they are constant."""
    if (attributes.static_table is None) == (op.dynamic_table is None):
        raise Unsupported("there must be one table, static or dynamic")
    if attributes.static_table is not None:
        return np.array(attributes.static_table, np.int32)
    words = elements.constant_value(op.dynamic_table)
    return op.dynamic_table if words is None else words


def _entries(words: np.ndarray | ir.Value, target: ir.IntegerType, shift: int = 0) -> ir.Value:
    """The low 16 bits of entries, or with a shift of 16 the high ones, divided by two to the power of the shift."""
    if isinstance(words, np.ndarray):
        halves = words if shift == 16 else words.astype(np.int16)
        return arith.constant(None, elements.from_numpy((halves >> shift).astype(f"int{target.width}")))

    def half_of_word(word: ir.Value) -> ir.Value:
        half = word if shift == 16 else arith.trunci(integer_type(16), word)
        shifted = arith.shrsi(half, scalar_constant(half.type, shift)) if shift else half
        return shifted if shifted.type == target else arith.trunci(target, shifted)

    return build_elementwise([words], tensor.empty([256], target), half_of_word)


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
