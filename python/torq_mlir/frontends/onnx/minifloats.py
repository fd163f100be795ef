# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats of 4 and 8 bits, which are stored as their bit patterns: to f32 with a table, from f32 with exact arithmetic.

Formats and rounding are those of the operator Cast of ONNX: to nearest, ties to even.
"""

import functools
import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from .graph_edits import Rewriting

_POWERS_OF_TWO = TensorProto.FLOAT8E8M0


@dataclass(frozen=True)
class Format:
    """A float format.

    Attributes:
      mantissa: bits behind the leading one.
      smallest: exponent of the smallest normal number.
      binades: how many exponents normal numbers have.
      largest: code of the largest number.
      overflow: code of what is larger, where that is not the largest number.
      nan: code of what is not a number.
      negative_zero: whether zero has a sign.
      sign: what a sign adds to a code.
    """

    dtype: np.dtype
    mantissa: int
    smallest: int
    binades: int
    largest: int
    overflow: int
    nan: int
    negative_zero: bool = True
    sign: int = 128

    @functools.cached_property
    def values(self) -> np.ndarray:
        """The value of each code, in f32."""
        codes = np.arange(2 * self.sign, dtype=np.uint8)
        return codes.view(self.dtype).astype(np.float32)


FORMATS = {
    TensorProto.FLOAT8E4M3FN: Format(ml_dtypes.float8_e4m3fn, 3, -6, 15, 0x7E, 0x7F, 0x7F),
    TensorProto.FLOAT8E5M2: Format(ml_dtypes.float8_e5m2, 2, -14, 30, 0x7B, 0x7C, 0x7E),
    TensorProto.FLOAT8E4M3FNUZ: Format(ml_dtypes.float8_e4m3fnuz, 3, -7, 15, 0x7F, 0x80, 0x80, False),
    TensorProto.FLOAT8E5M2FNUZ: Format(ml_dtypes.float8_e5m2fnuz, 2, -15, 31, 0x7F, 0x80, 0x80, False),
    TensorProto.FLOAT4E2M1: Format(ml_dtypes.float4_e2m1fn, 1, 0, 3, 0x7, 0x7, 0x8, sign=8),
    _POWERS_OF_TWO: Format(ml_dtypes.float8_e8m0fnu, 0, -127, 255, 0xFE, 0xFF, 0xFF),
}


def decode(rewriting: Rewriting, node: onnx.NodeProto, codes: str, kind: int, result: int) -> str:
    """The values of type `result` of codes of the format `kind`."""
    shape = rewriting.shape(codes)
    table = numpy_helper.from_array(FORMATS[kind].values, f"torq_mlir/{TensorProto.DataType.Name(kind)}")
    positions = rewriting.compute(node, "Cast", [codes], shape, element_type=TensorProto.INT64, to=TensorProto.INT64)
    values = rewriting.compute(node, "Gather", [rewriting.add_constant(table), positions], shape, axis=0)
    return cast(rewriting, node, values, result)


def encode(
    rewriting: Rewriting, node: onnx.NodeProto, values: str, kind: int, *, saturate: bool = True, round_mode: str = "up"
) -> str:
    """The codes, of type u8, of real values.

    Args:
      saturate: whether what is larger than the largest number, infinity with it, becomes that.
      round_mode: of powers of two: "up", "down" or "nearest".
    """
    build = _Encoder(rewriting, node, FORMATS[kind], cast(rewriting, node, values, TensorProto.FLOAT))
    code = build.power_of_two(saturate, round_mode) if kind == _POWERS_OF_TWO else build.rounded(saturate)
    return cast(rewriting, node, code, TensorProto.UINT8)


def cast(rewriting: Rewriting, node: onnx.NodeProto, name: str, element_type: int) -> str:
    """The values as another type."""
    if rewriting.type(name) == element_type:
        return name
    return rewriting.compute(node, "Cast", [name], rewriting.shape(name), element_type=element_type, to=element_type)


class _Encoder:
    """Builds the code of `values`, as an f32, which holds all of them."""

    def __init__(self, rewriting: Rewriting, node: onnx.NodeProto, form: Format, values: str) -> None:
        self._rewriting, self._node, self._form, self._values = rewriting, node, form, values
        self._shape = rewriting.shape(values)

    def _op(self, op_type: str, *inputs: str | float) -> str:
        names = [self._constant(each) if isinstance(each, float) else each for each in inputs]
        return self._rewriting.compute(self._node, op_type, names, self._shape, element_type=TensorProto.FLOAT)

    def _test(self, op_type: str, *inputs: str | float) -> str:
        names = [self._constant(each) if isinstance(each, float) else each for each in inputs]
        return self._rewriting.compute(self._node, op_type, names, self._shape, element_type=TensorProto.BOOL)

    def _constant(self, value: float) -> str:
        array = np.array(value, np.float32)
        return self._rewriting.add_constant(numpy_helper.from_array(array, f"torq_mlir/f32/{array.item().hex()}"))

    def _binade(self, magnitude: str) -> tuple[str, str]:
        """The power of two at or below a magnitude, not below the smallest normal one, and its position, by bisection.

        Comparisons with powers of two are exact, which a logarithm is not.
        """
        power, position = self._constant(2.0**self._form.smallest), self._constant(0.0)
        for step in reversed(range(math.ceil(math.log2(self._form.binades)))):
            larger = power
            for part in (2**step // 2, 2**step - 2**step // 2):  # of which the product may be beyond f32
                larger = self._op("Mul", larger, 2.0**part) if part else larger
            above = self._test("GreaterOrEqual", magnitude, larger)
            power = self._op("Where", above, larger, power)
            position = self._op("Where", above, self._op("Add", position, float(2**step)), position)
        return power, position

    def rounded(self, saturate: bool) -> str:
        """To the nearest: in units of the last place, ties to even; a carry gives the first code of the next binade."""
        form = self._form
        beyond = 2.0 ** (form.smallest + form.binades)
        magnitude = self._op("Min", self._op("Abs", self._values), beyond)
        power, position = self._binade(magnitude)
        unit = self._op("Mul", power, 2.0**-form.mantissa)
        steps = self._op("Round", self._op("Div", magnitude, unit))
        code = self._op("Add", self._op("Mul", position, float(2**form.mantissa)), steps)
        signed = self._sign(code)
        largest, overflow = self._op("Add", signed, float(form.largest)), float(form.overflow)
        if not saturate:
            largest = self._op("Add", signed, overflow) if form.negative_zero else self._constant(overflow)
        fits = self._test("LessOrEqual", code, float(form.largest))
        code = self._op("Where", fits, self._op("Add", code, signed), largest)
        return self._op("Where", self._test("IsNaN", self._values), float(form.nan), code)

    def _sign(self, code: str) -> str:
        """What the sign adds: that of zero shows in its reciprocal."""
        sign = self._op("Where", self._test("Less", self._values, 0.0), float(self._form.sign), 0.0)
        zero = self._test("Equal", code, 0.0)
        if not self._form.negative_zero:
            return self._op("Where", zero, 0.0, sign)
        negative = self._test("Less", self._op("Div", 1.0, self._values), 0.0)
        return self._op("Where", negative, float(self._form.sign), sign)

    def power_of_two(self, saturate: bool, round_mode: str) -> str:
        """The exponent of a positive number, which is not a number otherwise."""
        power, position = self._binade(self._values)
        threshold = power if round_mode == "up" else self._op("Mul", power, 1.5)
        if round_mode != "down":
            above = self._test("Greater" if round_mode == "up" else "GreaterOrEqual", self._values, threshold)
            position = self._op("Where", above, self._op("Add", position, 1.0), position)
        limit = float(self._form.largest if saturate else self._form.nan)
        code = self._op("Min", position, limit)
        defined = self._test("GreaterOrEqual", self._values, 0.0)
        return self._op("Where", defined, code, float(self._form.nan))
