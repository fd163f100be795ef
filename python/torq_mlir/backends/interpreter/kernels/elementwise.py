# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations that combine two operands, and the product with a weight."""

import numpy as np

from .accumulator import (
    BFLOAT16,
    as_unsigned,
    requantized,
    require_default,
    require_integers,
    require_numbers,
    shaped_like,
)


def add(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input1: np.ndarray,
    input2: np.ndarray,
    *,
    name: str,
    input_zp: int,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
    segment_output: bool = False,
    rhs_is_scalar: bool = False,
) -> np.ndarray:
    """`y = clamp(rescale(x1 * w[0] + x2 * w[1] + bias, multiplier, shift_factor) + output_zp, ...)`.

    The inputs broadcast. `name`, "add" or "sub", says where the operation comes from: the sign of a subtraction is in
    the second weight. `rhs_is_scalar` says that `input2` has one element.
    bf16: `y = bf16(x1 * w[0] + x2 * w[1] + bias)`, with the sums in f32.
    """
    if name not in ("add", "sub"):
        raise ValueError(f'add named "{name}" is not defined')
    if rhs_is_scalar:
        input2 = input2.reshape(())
    require_default("the zero points of integers are in the bias", input_zp=input_zp)
    require_default("the layout of hardware is not interpreted", segment_output=segment_output)
    is_float = require_numbers(weights=weights, input1=input1, input2=input2)
    compute = np.float32 if is_float else np.int64
    first, second = weights.astype(compute)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total = input1.astype(compute) * first + input2.astype(compute) * second
    return requantized(
        init,
        total,
        scale_bias,
        shift=shift_factor,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def mul(
    init: np.ndarray,
    scale_bias: np.ndarray,
    input1: np.ndarray,
    input2: np.ndarray,
    *,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift: int,
) -> np.ndarray:
    """Integers: `y = clamp(rescale(x1 * x2 + bias, multiplier, shift) + output_zp, ...)`.

    bf16: `y = x1 * x2 + bias`, where `scale_bias` is one f32 bias. Product and sum are those of f32, where the product
    is exact unless it underflows, and the sum is rounded to bf16. The inputs broadcast.
    """
    if init.dtype == BFLOAT16:
        return _mul_bfloat16(init, scale_bias, input1, input2)
    require_integers(input1=input1, input2=input2)
    return requantized(
        init,
        input1.astype(np.int64) * input2,
        scale_bias,
        shift=shift,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def fma(
    init: np.ndarray,
    weights: np.ndarray,
    scale_bias: np.ndarray,
    input: np.ndarray,
    *,
    output_zp: int,
    output_min: int,
    output_max: int,
    shift_factor: int,
    input_unsigned: bool = False,
) -> np.ndarray:
    """`y = clamp(rescale(x * w + bias, multiplier, shift_factor) + output_zp, ...)`.

    One weight, or one for each channel: dimension 1 of the input, or the last of an input of rank below 3. So
    `scale_bias`. The output may be wider than the input.
    """
    require_integers(weights=weights, input=input)
    x = as_unsigned(input) if input_unsigned else input
    channel_axis = 1 if x.ndim > 2 else -1
    shape = [1] * x.ndim
    if x.ndim:
        shape[channel_axis] = weights.size
    return requantized(
        init,
        x.astype(np.int64) * weights.reshape(shape),
        scale_bias,
        channel_axis=channel_axis,
        shift=shift_factor,
        output_zp=output_zp,
        output_min=output_min,
        output_max=output_max,
    )


def elementwisebinary(
    init: np.ndarray, input1: np.ndarray, input2: np.ndarray, *, op_type: int, is_unsigned: bool = False
) -> np.ndarray:
    """`y = op(x1, x2)`; comparisons and logical operations give i1, integer "add" and "sub" wrap.

    `is_unsigned` orders integers as unsigned. Minimum and maximum of a NaN are NaN. The inputs broadcast.
    """
    if op_type not in _BINARY:
        raise ValueError(f"op_type {op_type} is not a binary operation")
    if input1.dtype != input2.dtype:
        raise TypeError(f"input1 is {input1.dtype}, input2 {input2.dtype}")
    if op_type in _BITWISE and input1.dtype.kind not in "ib":
        raise TypeError(f"op_type {op_type} is bitwise, on integers; the inputs are {input1.dtype}")
    if op_type in _ARITHMETIC and input1.dtype == np.bool_:
        raise TypeError(f"op_type {op_type} is arithmetic, which i1 does not have")
    if is_unsigned and input1.dtype.kind == "i":
        input1, input2 = as_unsigned(input1), as_unsigned(input2)
    with np.errstate(invalid="ignore", over="ignore"):
        return shaped_like(init, _BINARY[op_type](input1, input2).astype(init.dtype))


def select(init: np.ndarray, input1: np.ndarray, input2: np.ndarray, input3: np.ndarray) -> np.ndarray:
    """`y = input1 ? input2 : input3`; the inputs broadcast."""
    return shaped_like(init, np.where(input1, input2, input3))


_BITWISE = (0, 1, 2)
_ARITHMETIC = (13, 14)
_BINARY = {
    0: np.bitwise_and,
    1: np.bitwise_or,
    2: np.bitwise_xor,
    4: np.minimum,
    5: np.maximum,
    6: np.greater,
    7: np.greater_equal,
    8: np.equal,
    9: np.logical_and,
    10: np.logical_or,
    11: np.logical_xor,
    13: np.subtract,
    14: np.add,
}


def _mul_bfloat16(init: np.ndarray, scale_bias: np.ndarray, input1: np.ndarray, input2: np.ndarray) -> np.ndarray:
    if not input1.dtype == input2.dtype == BFLOAT16 or scale_bias.dtype != np.float32 or scale_bias.size != 1:
        raise TypeError(
            f"mul of {input1.dtype} and {input2.dtype} with {scale_bias.size} biases of {scale_bias.dtype} to bf16"
            " is not defined; it takes two of bf16 and one bias of f32"
        )
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        product = input1.astype(np.float32) * input2.astype(np.float32)
        return shaped_like(init, (product + scale_bias.reshape(())).astype(BFLOAT16))
