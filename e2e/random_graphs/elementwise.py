# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of two tensors, and functions of one."""

from collections.abc import Callable, Sequence

import numpy as np

from e2e.random_graphs.builder import Builder, Tensor
from e2e.random_graphs.qparams import Computed

RANKS = (4, 3, 2, 1, 5)
# The weights of an addition have 16 bits: beyond this ratio of scales they have less than 1/16 of a step to give.
_GREATEST_RATIO = 7.9
_GREATEST_EXPONENT = 20.0
# ONNX Runtime's functions have an absolute error of about 1e-7, which is to be less than 1/64 of a step.
_LEAST_SCALE = 2.0**-17


def addition(b: Builder) -> Computed:
    """Addition and subtraction of tensors that broadcast, or of a tensor and a constant."""
    op_type = b.pick(("Add", "Add", "Sub"))
    x = b.source(*RANKS)
    other, qparams = _other(b, x)
    operands = [b.dequantize(x), other]
    scales = [q.scale for q in (x.qparams, *qparams)]
    y = b.node(op_type, *(operands[::-1] if b.one_in(3) else operands))
    return Computed(y, float(x.qparams.scale), float(max(scales)) / _GREATEST_RATIO, [x.qparams, *qparams])


def product(b: Builder) -> Computed:
    x = b.source(*RANKS)
    other, qparams = _other(b, x)
    operands = [b.dequantize(x), other]
    y = b.node("Mul", *(operands[::-1] if b.one_in(3) else operands))
    unit = float(x.qparams.scale) * float(qparams[0].scale) if qparams else None
    return Computed(y, unit, 0.0, [x.qparams, *qparams])


def extremum(b: Builder) -> Computed:
    x = b.source(*RANKS)
    other, qparams = _other(b, x)
    y = b.node(b.pick(("Max", "Min")), b.dequantize(x), other)
    return Computed(y, float(x.qparams.scale), 0.0, [x.qparams, *qparams])


_COMPARISONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal")


def selection(b: Builder) -> Computed:
    """One of two tensors, or of a tensor and constants, by how they compare."""
    x = b.source(*RANKS)
    other, qparams = _other(b, x)
    real = b.dequantize(x)
    operands = [real, other] if b.one_in(2) else [other, real]
    condition = b.node(b.pick(_COMPARISONS), *operands)
    kind = b.pick(("plain", "inverted", "combined", "combined"))
    if kind == "inverted":
        condition = b.node("Not", condition)
    elif kind == "combined":
        number = b.constant(np.float32(b.rng.uniform(-1.0, 1.0) * np.abs(x.real).max()))
        condition = b.node(b.pick(("And", "Or", "Xor")), condition, b.node(b.pick(_COMPARISONS), real, number))
    y = b.node("Where", condition, *([real, other] if b.one_in(2) else [other, real]))
    return Computed(y, float(x.qparams.scale), 0.0, [x.qparams, *qparams])


def quotient(b: Builder) -> Computed:
    """Division by constants that are not zero."""
    x = b.source(*RANKS)
    shape = _broadcast_shape(b, x.shape)
    divisor = b.rng.uniform(0.5, 3.0, shape) * b.rng.choice((-1.0, 1.0), shape)
    y = b.node("Div", b.dequantize(x), b.constant(divisor.astype(np.float32)))
    return Computed(y, None, 0.0, [x.qparams])


def _other(b: Builder, x: Tensor) -> tuple[str, list]:
    """The second operand: a tensor, the same one, quantized constants or floats; parameters if it has them."""
    kind = b.pick(("tensor", "tensor", "same", "constant", "floats"))
    if kind == "same":
        return b.dequantize(x), [x.qparams]
    shape = _broadcast_shape(b, x.shape)
    if kind == "tensor":
        other = b.operand(shape)
        return b.dequantize(other), [other.qparams]
    values = b.rng.normal(0, 0.5 * np.abs(x.real).max() + 1e-3, shape)
    if kind == "floats":
        return b.constant(values.astype(np.float32)), []
    scale = np.float32(np.abs(values).max() / 127 + 1e-6)
    integers = np.rint(values / np.float64(scale)).astype(np.int8)
    return b.dequantized_constant(integers, scale, np.int8(0) if b.one_in(2) else None), []


def _broadcast_shape(b: Builder, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: the same, a number, channels, or with some dimensions of 1 or left out."""
    kind = b.pick(("same", "number", "channels", "some"))
    if kind == "number":
        return b.pick(((), (1,), (1,) * len(shape)))
    if kind == "channels" and len(shape) > 2:
        return b.pick(((1, shape[1]), (shape[1],))) + (1,) * (len(shape) - 2)
    if kind == "some":
        kept = tuple(1 if b.one_in(3) else size for size in shape)
        return kept[b.integer(0, len(shape) - 1) :]
    return tuple(shape)


# Functions of one tensor; each takes the name of a float tensor and returns that of its result.


def _plain(op_type: str) -> Callable[[Builder, str], str]:
    return lambda b, x: b.node(op_type, x)


def _clip(b: Builder, x: str) -> str:
    greatest = float(np.abs(b.real[x]).max()) + 1e-3
    low, high = sorted(b.rng.uniform(-1.2, 1.2, 2) * greatest)
    kind = b.pick(("both", "six", "low", "high"))
    if kind == "six":
        low, high = 0.0, 6.0
    bounds = [b.constant(np.float32(value)) for value in (low, high)]
    if kind == "low":
        return b.node("Clip", x, bounds[0])
    return b.node("Clip", x, "" if kind == "high" else bounds[0], bounds[1])


def _leaky_relu(b: Builder, x: str) -> str:
    return b.node("LeakyRelu", x, alpha=b.pick((0.1, 0.01, 1.5, -0.5)))


def _elu(b: Builder, x: str) -> str:
    return b.node("Elu", x, alpha=b.pick((1.0, 0.5, 2.0)))


def _prelu(b: Builder, x: str) -> str:
    shape = b.real[x].shape
    channels = (shape[1],) + (1,) * (len(shape) - 2) if len(shape) > 1 else ()
    number = (1,) if shape else ()
    slope = np.asarray(b.rng.uniform(-0.5, b.pick((0.5, 1.5)), b.pick((channels, number))))
    if b.one_in(2):
        return b.node("PRelu", x, b.constant(slope.astype(np.float32)))
    scale = np.float32(1.5 / 127)
    integers = np.rint(slope / np.float64(scale)).astype(np.int8)
    return b.node("PRelu", x, b.dequantized_constant(integers, scale, np.int8(0)))


def _hard_sigmoid(b: Builder, x: str) -> str:
    return b.node("HardSigmoid", x, **({"alpha": 1 / 6, "beta": 0.5} if b.one_in(2) else {}))


def _gelu(b: Builder, x: str) -> str:
    return b.node("Gelu", x, approximate=b.pick(("none", "tanh")))


def _exp(b: Builder, x: str) -> str:
    if b.real[x].max(initial=0.0) > _GREATEST_EXPONENT:
        x = b.node("Clip", x, "", b.constant(np.float32(_GREATEST_EXPONENT)))
    return b.node("Exp", x)


def _sqrt(b: Builder, x: str) -> str:
    if b.real[x].min(initial=0.0) < 0:
        x = b.node(b.pick(("Relu", "Abs")), x)
    return b.node("Sqrt", x)


CLAMPS = (_plain("Relu"), _clip)
FUNCTIONS = (
    *CLAMPS,
    _plain("Sigmoid"),
    _plain("Tanh"),
    _plain("HardSwish"),
    _hard_sigmoid,
    _leaky_relu,
    _prelu,
    _elu,
    _gelu,
    _exp,
    _sqrt,
    _plain("Abs"),
    _plain("Neg"),
    _plain("Erf"),
)


def function(b: Builder) -> Computed:
    """One function, or a composition of several."""
    x = b.source(*RANKS)
    y = b.pick(FUNCTIONS)(b, b.dequantize(x))
    while b.one_in(4):
        y = b.pick(FUNCTIONS)(b, y)
    return Computed(y, float(x.qparams.scale), _LEAST_SCALE, [x.qparams])


def gate(b: Builder) -> Computed:
    """`x * f(x)`, as SiLU and HardSwish are written."""
    x = b.source(*RANKS)
    real = b.dequantize(x)
    y = b.node("Mul", real, b.pick((_plain("Sigmoid"), _hard_sigmoid, _plain("Tanh")))(b, real))
    return Computed(y, None, _LEAST_SCALE, [x.qparams])


def softmax(b: Builder) -> Computed:
    x = b.source(2, 3, 4)
    axis = b.integer(-1, len(x.shape) - 1)
    return Computed(b.node("Softmax", b.dequantize(x), axis=axis), None, _LEAST_SCALE)


OPERATIONS = (addition, product, extremum, selection, quotient, function, function, gate, softmax)
