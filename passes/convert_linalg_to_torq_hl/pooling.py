# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling between a dequantization and a quantization.

A window over a volume is one over images, then one along the depth: a maximum or a sum of those of its slices.
"""

import dataclasses
import math

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.quotient import Quotient, match_quotient
from torq_mlir.rewriting.structured import element_type, integer_type, pad_with, reshape
from torq_mlir.rewriting.uses import only_user

from .requantize import (
    at_quantize,
    check_output,
    check_requantizable,
    check_storage,
    check_sum,
    constant,
    locations_of,
    multiplier,
    requantize,
    result_element,
)
from .windows import MAXIMA, SUMS, Window, as_image, match_window, merged_depth, merged_image, without_padding

_MAXIMUM = 5


@at_quantize
def quantize_before_max_pool(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(max_pool(x))` of computed floats as the maximum of integers: a quantization never reverses an order."""
    window = match_window(quantize.input, MAXIMA, -math.inf)
    if window is None or match_dequantize(window.source) is not None:
        return NOT_MINE
    check_output(quantize)
    if not quantize.scale > 0 or quantize.operation.name == "linalg.generic":
        raise NoMatch("the quantization after the pooling has no positive scale that is an operand")
    if only_user(quantize.input) is None:
        raise NoMatch("the result of the pooling has several consumers")
    operation = quantize.operation
    shape = ir.RankedTensorType(window.source.type).shape
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    with ir.InsertionPoint(operation):
        with operation.location:
            integers = ir.RankedTensorType.get(shape, result_element(quantize))
            parameters = list(operation.operands)[1:]
            before = ir.Operation.create(operation.name, [integers], [window.source, *parameters], attributes).result
        with locations_of([], clamped, quantize, window.operation):
            rewriter.replace_op(operation, [_max_pool(before, window)])
    return None


@at_quantize
def convert_max_pool(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(max_pool(dequantize(x)))`; the maximum commutes with both, another scale is a requantization after."""
    window = match_window(clamped.value, MAXIMA, -math.inf)
    if window is None:
        return NOT_MINE
    dequantize = match_dequantize(window.source)
    if dequantize is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, window.operation):
        pooled = _max_pool(dequantize.input, window)
        moved = dataclasses.replace(dequantize, input=pooled)
        rewriter.replace_op(quantize.operation, [requantize(moved, quantize, clamped)])
    return None


def convert_integer_max_pool(operation: ir.Operation, rewriter) -> object:
    """Maximum of integers that nothing dequantizes."""
    element = element_type(operation.operands[0])
    if len(operation.results) != 1 or not isinstance(element, ir.IntegerType):
        return NOT_MINE
    window = match_window(operation.results[0], MAXIMA, -(1 << (element.width - 1)))
    if window is None:
        return NOT_MINE
    if element.width not in (8, 16):
        raise NoMatch(f"the NPU has no pooling of {element}")
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_max_pool(window.source, window)])
    return None


def _max_pool(value: ir.Value, window: Window) -> ir.Value:
    """The maximum over the dilated dimensions one by one, then over the others at once."""
    window = _without_dilation(window)
    for d in range(len(window.kernel)):
        if window.dilation[d] > 1:
            value, window = _dilated_maximum(value, window, d)
    if len(window.kernel) < 3:
        value = _max_pool_2d(as_image(value), window)
    else:
        shape = list(ir.RankedTensorType(value.type).shape)
        value = _max_pool_2d(reshape(value, merged_depth(shape)), window.over([1, 2]))
        shape = [*shape[:3], *ir.RankedTensorType(value.type).shape[2:]]
        value = _max_pool_2d(reshape(value, merged_image(shape)), _along_depth(window))
    return reshape(value, ir.RankedTensorType(window.operation.results[0].type).shape)


def _max_pool_2d(value: ir.Value, window: Window) -> ir.Value:
    low, high = _range(value)
    if set(window.kernel) == {1} and set(window.stride) == {1} and not any(window.low + window.high):
        return value
    return torq_hl.maxpool2d(
        constant(np.ones(1, np.int8)),
        constant(np.array([0, 1], np.int32)),
        value,
        input_zp=low,
        output_min=low,
        output_max=high,
        kernel=window.image_kernel,
        **window.image,
    )


def _range(value: ir.Value) -> tuple[int, int]:
    width = element_type(value).width
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _without_dilation(window: Window) -> Window:
    """Without dilation where the window has one element."""
    pairs = zip(window.dilation, window.kernel, strict=True)
    return dataclasses.replace(window, dilation=[dilation if kernel > 1 else 1 for dilation, kernel in pairs])


def _dilated_maximum(value: ir.Value, window: Window, d: int) -> tuple[ir.Value, Window]:
    """The maximum over dimension `d` of the window, of slices; and what the window is after that."""
    axis, positions = 2 + d, window.positions[d]
    shape = list(ir.RankedTensorType(value.type).shape)
    if window.low[d] or window.high[d]:
        low, high = [0] * len(shape), [0] * len(shape)
        low[axis], high[axis] = window.low[d], window.high[d]
        value = pad_with(value, low, high, _range(value)[0])
    sizes, strides = list(shape), [1] * len(shape)
    sizes[axis], strides[axis] = positions, window.stride[d]
    result = ir.RankedTensorType.get(sizes, element_type(value))
    slices = []
    for index in range(window.kernel[d]):
        offsets = [0] * len(shape)
        offsets[axis] = index * window.dilation[d]
        slices.append(tensor.extract_slice(result, value, [], [], [], offsets, sizes, strides))
    value, *others = slices
    for other in others:
        value = torq_hl.elementwisebinary(value, other, op_type=_MAXIMUM, element_type=element_type(value))
    done = {"low": 0, "high": 0, "kernel": 1, "stride": 1, "dilation": 1}
    fields = {name: [*getattr(window, name)[:d], one, *getattr(window, name)[d + 1 :]] for name, one in done.items()}
    return value, dataclasses.replace(window, **fields)


def _along_depth(window: Window) -> Window:
    """The window over a [depth, height * width] image."""
    return dataclasses.replace(
        window,
        low=[window.low[0], 0],
        high=[window.high[0], 0],
        kernel=[window.kernel[0], 1],
        stride=[window.stride[0], 1],
        dilation=[window.dilation[0], 1],
    )


@at_quantize
def convert_average_pool(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(sum_pool(dequantize(x)) / K)`: the whole image by avg_pool2d, windows by a convolution with ones.

    A division by 1, where every window has one element besides padding, has been folded.
    """
    quotient = match_quotient(clamped.value) or Quotient(1.0, clamped.value, ())
    window = _match_sum(quotient.dividend)
    if window is None:
        return NOT_MINE
    divisor = quotient.divisor
    dequantize = match_dequantize(window.source)
    if dequantize is None or not dequantize.per_tensor:
        raise NoMatch("the input of the pooling is not dequantized with constant parameters")
    window = _with_integer_padding(window, dequantize)
    dequantize = dataclasses.replace(dequantize, input=window.source)
    check_storage(quantize, [dequantize])
    if 0 in window.shape:
        raise NoMatch("the input of the pooling is empty")
    build = _global_average if window.covers_input and len(window.kernel) < 3 else _windowed_average
    if isinstance(divisor, np.ndarray):
        build = _uncounted_average
    _check_mean(dequantize, quantize, divisor, math.prod(window.kernel))
    with (
        ir.InsertionPoint(quantize.operation),
        locations_of([], clamped, quantize, window.operation, *quotient.operations),
    ):
        mean = build(window, dequantize, quantize, clamped, divisor)
        shape = ir.RankedTensorType(quantize.operation.results[0].type).shape
        rewriter.replace_op(quantize.operation, [reshape(mean, shape)])
    return None


def _match_sum(value: ir.Value) -> Window | None:
    """A sum over windows; that over a volume has its channels last, and is transposed."""
    window = match_window(value, SUMS, 0.0)
    if window is not None or isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.transpose":
        return None if window is not None and window.channels_last else window
    transpose = value.owner.operation
    window = match_window(transpose.operands[0], SUMS, 0.0)
    rank = ir.RankedTensorType(value.type).rank
    to_first = [0, rank - 1, *range(1, rank - 1)]
    moved = list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"])) == to_first
    return window if window is not None and window.channels_last and moved else None


def _with_integer_padding(window: Window, dequantize: Dequantize) -> Window:
    """The window with a padding of the integers with their zero point as part of it."""
    return without_padding(dataclasses.replace(window, source=dequantize.input), int(dequantize.zero_point))


def _global_average(window: Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    count = math.prod(window.kernel)
    factor, _ = multiplier(dequantize.scale / (quantize.scale * divisor))
    return torq_hl.avg_pool2d(
        constant(np.ones(1, np.int8)),
        constant(np.array([-count * int(dequantize.zero_point), factor], np.int32)),
        torq_hl.transpose(as_image(dequantize.input), perm=[0, 2, 3, 1]),
        input_zp=int(dequantize.zero_point),
        element_type=result_element(quantize),
        **_mean_attributes(dequantize, quantize, clamped, divisor),
    )


def _windowed_average(window: Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    factor, _ = multiplier(dequantize.scale / (quantize.scale * divisor))
    attributes = _mean_attributes(dequantize, quantize, clamped, divisor)
    return _window_sum(window, dequantize, factor, result_element(quantize), attributes)


def _uncounted_average(window: Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    """Padding that is not counted: the sum of each window times `least common multiple / count`, both exact."""
    common = _common_multiple(divisor)
    element = _sum_element(window.kernel, dequantize)
    low, high = -(1 << (element.width - 1)), (1 << (element.width - 1)) - 1
    output = {"output_zp": 0, "output_min": low, "output_max": high, "shift_factor": 0}
    total = _window_sum(window, dequantize, 1, element, output)
    total = reshape(total, ir.RankedTensorType(quantize.operation.results[0].type).shape)
    attributes = _mean_attributes(dequantize, quantize, clamped, common)
    factor, shift = multiplier(dequantize.scale / (quantize.scale * common))
    del attributes["shift_factor"]
    return torq_hl.mul(
        constant(np.array([0, factor], np.int32)),
        total,
        constant((common // divisor).astype(np.int16)),
        shift=shift,
        element_type=result_element(quantize),
        **attributes,
    )


def _sum_element(kernel: list[int], dequantize: Dequantize) -> ir.IntegerType:
    """i16 where sums over the window fit."""
    limit = math.prod(kernel) << element_type(dequantize.input).width
    return integer_type(16 if limit < 1 << 15 else 32)


def _window_sum(
    window: Window, dequantize: Dequantize, factor: int, element: ir.Type, output: dict[str, int]
) -> ir.Value:
    """`rescale(sum over the window of x - zx)`; padding counts as zx, that is as zero."""
    value, zero_point = window.channels_first(dequantize.input), int(dequantize.zero_point)
    if len(window.kernel) < 3:
        return _sum_2d(as_image(value), window, zero_point, factor, element, output)
    shape = window.shape
    image = window.over([1, 2])
    between = _sum_element(image.kernel, dequantize)
    low, high = -(1 << (between.width - 1)), (1 << (between.width - 1)) - 1
    exact = {"output_zp": 0, "output_min": low, "output_max": high, "shift_factor": 0}
    value = _sum_2d(reshape(value, merged_depth(shape)), image, zero_point, 1, between, exact)
    shape = [*shape[:3], *ir.RankedTensorType(value.type).shape[2:]]
    return _sum_2d(reshape(value, merged_image(shape)), _along_depth(window), 0, factor, element, output)


def _sum_2d(
    value: ir.Value, window: Window, zero_point: int, factor: int, element: ir.Type, output: dict[str, int]
) -> ir.Value:
    channels = ir.RankedTensorType(value.type).shape[1]
    kernel = window.image_kernel
    return torq_hl.depthwise_conv2d(
        constant(np.ones((channels, 1, *kernel), np.int8)),
        constant(np.tile(np.array([-math.prod(kernel) * zero_point, factor], np.int32), channels)),
        value,
        input_zp=zero_point,
        groups=channels,
        dilation=[1, *window.dilation][-2:],
        element_type=element,
        **window.image,
        **output,
    )


def _check_mean(dequantize: Dequantize, quantize: Quantize, divisor: float | np.ndarray, count: int) -> None:
    """Refuses sums that overflow, a mean whose scale has no multiplier, and counts whose quotients are too large."""
    check_sum(dequantize, count)
    if not isinstance(divisor, np.ndarray):
        multiplier(dequantize.scale / (quantize.scale * divisor))
        return
    common = _common_multiple(divisor)
    _, shift = multiplier(dequantize.scale / (quantize.scale * common))
    if shift > np.iinfo(np.int8).max:
        raise NoMatch(f"the shift {shift} of the product does not fit in i8")
    greatest = common // int(divisor.min())
    if greatest > np.iinfo(np.int16).max:
        raise NoMatch("the least common multiple of the counts of the windows does not fit in i16")
    check_sum(dequantize, count * greatest)


def _common_multiple(counts: np.ndarray) -> int:
    return math.lcm(*np.unique(counts).tolist())


def _mean_attributes(dequantize: Dequantize, quantize: Quantize, clamped: Clamped, divisor: float) -> dict[str, int]:
    low, high = clamped.integer_bounds(quantize)
    _, shift = multiplier(dequantize.scale / (quantize.scale * divisor))
    return {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high, "shift_factor": shift}
