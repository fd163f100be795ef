# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one tensor, element by element."""

import ml_dtypes
import numpy as np

from .accumulator import require_default, require_integers, shaped_like

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def act(
    init: np.ndarray,
    input: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    name: str,
    input_zp: int,
    output_zp: int,
    min_int: int,
    max_int: int,
    min_fp: float,
    max_fp: float,
) -> np.ndarray:
    """`y = f(x)` with `f` given by `name`.

    * "f2f": conversion between f32 and bf16, round half to even;
    * "f2i": `round_half_even(x)`, saturated; NaN gives 0;
    * "i2f": `x - input_zp`, rounded to f32 and then to the type of the result;
    * "clamp": `clamp(x, min_int, max_int)` of integers, `clamp(x, min_fp, max_fp)` of floats;
    * "abs", "negate": `|x - input_zp| + output_zp` and `-(x - input_zp) + output_zp` of integers, saturated; of floats
      without zero points;
    * "tanh" of floats, computed in f64 and rounded.
    """
    if weights is not None:
        raise ValueError("act with weights is not defined")
    kind = (name, _is_integer(input), _is_integer(init))
    match kind:
        case ("f2f", False, False) | ("f2i", False, True):
            output = _converted(input, init.dtype)
        case ("i2f", True, False):
            output = _converted(input.astype(np.int64) - input_zp, init.dtype)
        case ("clamp", True, True):
            output = _saturated(np.clip(input.astype(np.int64), min_int, max_int), init.dtype)
        case ("clamp", False, False):
            low, high = np.float32(min_fp), np.float32(max_fp)
            output = _converted(np.clip(input.astype(np.float32), low, high), init.dtype)
        case ("abs" | "negate", True, True):
            centered = input.astype(np.int64) - input_zp
            output = _saturated((np.abs(centered) if name == "abs" else -centered) + output_zp, init.dtype)
        case ("abs" | "negate", False, False):
            output = _converted(np.abs(input) if name == "abs" else -input, init.dtype)
        case ("tanh", False, False):
            output = _converted(np.tanh(input.astype(np.float64)), init.dtype)
        case _:
            raise TypeError(f'act "{name}" from {input.dtype} to {init.dtype} is not defined')
    return shaped_like(init, output)


def convert(init: np.ndarray, input: np.ndarray) -> np.ndarray:
    """`y = x` in the element type of the result; integers saturate, floats round half to even, NaN gives integer 0."""
    if init.dtype == np.bool_ and input.dtype != np.bool_:
        raise TypeError(f"convert from {input.dtype} to i1 is not defined")
    return shaped_like(init, _converted(input, init.dtype))


def table(
    init: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    dynamic_table: np.ndarray | None = None,
    *,
    static_table: np.ndarray | None = None,
    output_zp: int = 0,
    shift: int = 0,
    saturate_i16: bool = False,
) -> np.ndarray:
    """A function of 256 entries `(slope << 16) | (base & 0xffff)`.

    * i8 to i8: `y = base[x + 128] / 2^8`; i8 to i16: `y = base[x + 128]`, both with slope 0;
    * i16 to i16: `y = clamp(base[i] + floor((slope[i] * f + 2^7) / 2^8), -2^15, 2^15 - 1)` with
      `i = floor(x / 2^8) + 128` and `f = x mod 2^8`.

    `scale_bias` is `[-128, 128]`, which maps an i8 input to the entries 0 to 255, or `[-32768, 1]` for i16.
    """
    require_integers(input=input, init=init)
    index = _TABLE_INDEX.get((input.dtype, init.dtype))
    if index is None:
        raise TypeError(f"table from {input.dtype} to {init.dtype} is not defined")
    if scale_bias.tolist() != index:
        raise ValueError(f"scale_bias {scale_bias.tolist()} is not {index}, which indexes a table with {input.dtype}")
    require_default("not defined", output_zp=output_zp, shift=shift, saturate_i16=saturate_i16)
    if (static_table is None) == (dynamic_table is None):
        raise ValueError("there must be one table, static or dynamic")
    words = np.asarray(dynamic_table if static_table is None else static_table, dtype=np.int32)
    slopes, bases = words >> 16, words.astype(np.int16)
    if input.dtype == np.int16:
        entry, fraction = (input.astype(np.intp) >> 8) + 128, input.astype(np.int32) & 0xFF
        return shaped_like(init, _saturated(bases[entry] + ((slopes[entry] * fraction + 128) >> 8), init.dtype))
    if slopes.any():
        raise ValueError("a slope is not 0: between values of i8 nothing is interpolated")
    values = (bases >> 8).astype(np.int8) if init.dtype == np.int8 else bases
    return shaped_like(init, values[input.astype(np.intp) + 128])


# scale_bias by the types of the input and the result.
_TABLE_INDEX = {
    (np.dtype(np.int8), np.dtype(np.int8)): [-128, 128],
    (np.dtype(np.int8), np.dtype(np.int16)): [-128, 128],
    (np.dtype(np.int16), np.dtype(np.int16)): [-32768, 1],
}


def _is_integer(array: np.ndarray) -> bool:
    return array.dtype.kind in "ib"


def _converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values in another type: to integers with rounding and saturation, to bf16 by way of f32."""
    if dtype.kind == "b":
        return values
    if dtype.kind == "i":
        return _saturated(values if values.dtype.kind in "ib" else _rounded(values), dtype)
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(dtype)


def _rounded(values: np.ndarray) -> np.ndarray:
    """The nearest integers within int32, ties to even; NaN gives 0."""
    limits = np.iinfo(np.int32)
    rounded = np.rint(values.astype(np.float64))
    return np.clip(np.where(np.isnan(rounded), 0.0, rounded), limits.min, limits.max).astype(np.int64)


def _saturated(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.clip(values.astype(np.int64), limits.min, limits.max).astype(dtype)
