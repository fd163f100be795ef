# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer contractions as weighted operations, with all that follows up to the quantization of the result."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.bias import add_correction
from torq_mlir.numerics.rescale import multiplier_and_shift
from torq_mlir.numerics.zero_points import fold_weight_zero_point, input_zero_point_correction
from torq_mlir.rewriting.accumulator import match_bias_add
from torq_mlir.rewriting.clamp import match_clamped
from torq_mlir.rewriting.contraction import QuantizedContraction, match_quantized_contraction
from torq_mlir.rewriting.integer_chain import pad_amounts, pad_value
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Quantize, match_dequantize, match_quantize
from torq_mlir.rewriting.uses import only_user, users


@dataclass(frozen=True)
class _Output:
    """What becomes of the accumulator.

    Attributes:
      real_scale: f64, one or one for each channel; None to leave the accumulator as it is.
      attributes: output_zp, output_min and output_max.
      element: element type of the result.
    """

    real_scale: np.ndarray | None
    attributes: dict[str, int]
    element: ir.Type

    def multiplier_and_shift(self) -> tuple[np.ndarray | int, int]:
        return (1, 0) if self.real_scale is None else multiplier_and_shift(self.real_scale)


@dataclass(frozen=True)
class _Weighted:
    """A contraction with the bias and the collapse of groups that follow it, and its output."""

    contraction: QuantizedContraction
    collapse: ir.Operation | None
    bias: np.ndarray | None
    output: _Output


@dataclass(frozen=True)
class _Accumulation:
    """The i32 `value` that a contraction, a collapse of its groups and a bias addition compute."""

    value: ir.Value
    contraction: QuantizedContraction
    collapse: ir.Operation | None
    bias: np.ndarray | None

    def values(self) -> list[ir.Value]:
        collapsed = [] if self.collapse is None else [self.collapse.results[0]]
        return [self.contraction.result, *collapsed, self.value]


def convert_weighted(operation: ir.Operation, rewriter) -> object:
    """contraction -> [bias] -> dequantize -> [clamp] -> quantize, all with one consumer."""
    quantize = match_quantize(operation)
    if quantize is None:
        return NOT_MINE
    clamped = match_clamped(quantize.input)
    dequantize = match_dequantize(clamped.value)
    accumulation = None if dequantize is None else _match_accumulation(dequantize.input)
    if accumulation is None:
        return NOT_MINE
    _check(quantize)
    if any(only_user(value) is None for value in [*accumulation.values(), clamped.value, quantize.input]):
        raise NoMatch("an intermediate result has several consumers")
    low, high = clamped.integer_bounds(quantize)
    output = _Output(
        dequantize.scale / quantize.scale,
        {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high},
        ir.RankedTensorType(operation.results[0].type).element_type,
    )
    build = _match_build(accumulation, output)
    sources = [accumulation.contraction.operation, dequantize.operation, *clamped.operations, operation]
    with ir.InsertionPoint(operation), fuse_locations([source.location for source in sources]):
        rewriter.replace_op(operation, [build()])
    return None


def convert_shared_accumulator(operation: ir.Operation, rewriter) -> object:
    """A dequantization whose accumulator or result has several consumers: the contraction gives i32, once."""
    dequantize = match_dequantize(operation.results[0]) if len(operation.results) == 1 else None
    accumulation = None if dequantize is None else _match_accumulation(dequantize.input)
    if accumulation is None or not _is_shared(operation.results[0], accumulation):
        return NOT_MINE
    limits = np.iinfo(np.int32)
    attributes = {"output_zp": 0, "output_min": int(limits.min), "output_max": int(limits.max)}
    build = _match_build(accumulation, _Output(None, attributes, ir.IntegerType.get_signless(32)))
    last = accumulation.value.owner.operation
    with ir.InsertionPoint(last), accumulation.contraction.operation.location:
        rewriter.replace_op(last, [build()])
    return None


def _is_shared(value: ir.Value, accumulation: _Accumulation) -> bool:
    """Whether convert_weighted refuses for several consumers, on the way from the contraction to the quantization."""
    chain = [*accumulation.values(), value]
    while (user := only_user(chain[-1])) is not None and len(user.results) == 1 and match_quantize(user) is None:
        if match_clamped(user.results[0]).value == user.results[0]:
            return False
        chain.append(user.results[0])
    return any(len(users(value)) > 1 for value in chain)


def _match_build(accumulation: _Accumulation, output: _Output) -> Callable[[], ir.Value]:
    weighted = _Weighted(accumulation.contraction, accumulation.collapse, accumulation.bias, output)
    window = linalg.infer_convolution_dimensions_from_maps(list(accumulation.contraction.maps))
    if window is not None and list(window.output_image):
        return _match_convolution(weighted, window)
    return _match_product(weighted)


def _match_accumulation(value: ir.Value) -> _Accumulation | None:
    accumulator, bias, collapse = value, None, None
    added = match_bias_add(accumulator)
    if added is not None:
        accumulator = added[0]
    if not isinstance(accumulator.owner, ir.Block) and accumulator.owner.operation.name == "tensor.collapse_shape":
        collapse = accumulator.owner.operation
        accumulator = collapse.operands[0]
    contraction = match_quantized_contraction(accumulator)
    if contraction is None:
        return None
    if not isinstance(contraction.input_zp, int) or not isinstance(contraction.weight_zp, int):
        raise NoMatch("a zero point is not constant")
    if added is not None:
        bias = elements.constant_value(added[1])
        if bias is None:
            raise NoMatch("the bias is not constant")
    return _Accumulation(value, contraction, collapse, bias)


def _check(quantize: Quantize) -> None:
    if not quantize.per_tensor:
        raise NoMatch("the output is quantized per channel")
    if quantize.unsigned:
        raise NoMatch("the output is unsigned; run torq-signed-storage before")


def _scale_bias(weighted: _Weighted, correction: np.ndarray, channels: int) -> tuple[Callable[[], ir.Value], int]:
    """A builder of the interleaved (bias, multiplier) pairs, and the shift.

    Args:
      correction: i64 of shape (channels,), the correction of the input zero point.
    """
    try:
        bias = add_correction(0 if weighted.bias is None else weighted.bias.reshape(-1), correction)
        multiplier, shift = weighted.output.multiplier_and_shift()
    except (ValueError, OverflowError) as error:
        raise NoMatch(str(error)) from error
    pairs = np.empty((channels, 2), np.int32)
    pairs[:, 0], pairs[:, 1] = bias, multiplier
    return lambda: arith.constant(None, elements.from_numpy(pairs.reshape(-1))), shift


def _constant_weights(contraction: QuantizedContraction) -> np.ndarray:
    weights = elements.constant_value(contraction.weights)
    if weights is None:
        raise NoMatch("the weights are not constant")
    return fold_weight_zero_point(weights, contraction.weight_zp, None)


# Convolution


def _match_convolution(weighted: _Weighted, window):
    """A builder of the convolution; raises NoMatch where the NPU has none."""
    contraction = weighted.contraction
    image, depth = list(window.output_image), list(window.depth)
    out_channels, in_channels = list(window.output_channel), list(window.input_channel)
    if len(image) > 2:
        raise NoMatch("the NPU has no convolution over three dimensions")
    if max(map(len, (window.batch, depth, out_channels, in_channels))) > 1 or len(window.batch) != 1:
        raise NoMatch("the convolution has several batch, group or channel loops")
    weights = _constant_weights(contraction)
    correction = input_zero_point_correction(weights, contraction.input_zp, contraction.reduced_weight_dims)
    correction, axes = contraction.per_output_channel(correction)
    if list(axes) != sorted(contraction.dims(2).index(loop) for loop in depth + out_channels):
        raise NoMatch("the weights do not run over the output channels")
    weights = _oihw(contraction, weights, depth, out_channels, in_channels, list(window.filter_loop))
    channels = weights.shape[0]
    scale_bias, shift = _scale_bias(weighted, correction.reshape(-1), channels)
    source, padding = _channels_first(weighted, image, depth, in_channels)
    result_is_first = _result_is_channels_first(weighted, image, depth, out_channels)
    groups = ir.RankedTensorType(source.type).shape[1] // weights.shape[1]
    attributes = {
        "input_zp": contraction.input_zp,
        "shift_factor": shift,
        "groups": groups,
        "pad": padding,
        "stride": list(window.strides),
        "dilation": list(window.dilations),
        **weighted.output.attributes,
    }
    if not result_is_first:
        raise NoMatch("the result of the convolution is not channels-first")
    depthwise = groups > 1 and weights.shape[1] == 1
    builder = torq_hl.conv1d if len(image) == 1 else torq_hl.depthwise_conv2d if depthwise else torq_hl.conv2d

    def build() -> ir.Value:
        constant = arith.constant(None, elements.from_numpy(weights))
        return builder(constant, scale_bias(), source, element_type=weighted.output.element, **attributes)

    return build


def _oihw(contraction, weights, depth, out_channels, in_channels, window) -> np.ndarray:
    """Weights as [output channels, input channels of a group, window...]."""
    order = [contraction.dims(1).index(loop) for loop in depth + out_channels + in_channels + window]
    weights = weights.transpose(order)
    outputs = int(np.prod(weights.shape[: len(depth + out_channels)]))
    inputs = int(np.prod(weights.shape[len(depth + out_channels) :][: len(in_channels)]))
    return np.ascontiguousarray(weights.reshape(outputs, inputs, *weights.shape[len(weights.shape) - len(window) :]))


def _channels_first(weighted: _Weighted, image, depth, in_channels) -> tuple[ir.Value, list[int]]:
    """The unpadded input as [N, C, spatial...], and the padding taken from a tensor.pad with the zero point."""
    contraction = weighted.contraction
    spatial = len(image)
    rank = ir.RankedTensorType(contraction.input.type).rank
    leading = 1 + len(depth) + len(in_channels)
    if contraction.dims(0)[1:leading] != depth + in_channels or rank != leading + spatial:
        raise NoMatch("the input of the convolution is not channels-first")
    value = contraction.input
    if len(depth + in_channels) == 2:
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tensor.expand_shape":
            raise NoMatch("the channels of the input are not a split dimension")
        value = value.owner.operation.operands[0]
        if ir.RankedTensorType(value.type).rank != 2 + spatial:
            raise NoMatch("more than the channels of the input are split")
    return _fold_padding(value, contraction.input_zp, spatial)


def _fold_padding(value: ir.Value, zero_point: int, spatial: int) -> tuple[ir.Value, list[int]]:
    none = [0] * (2 * spatial)
    if isinstance(value.owner, ir.Block) or pad_value(value.owner.operation) != zero_point:
        return value, none
    amounts = pad_amounts(value.owner.operation)
    if amounts is None or any(amounts[0][:2] + amounts[1][:2]):
        return value, none
    low, high = amounts
    # [left, right, top, bottom]: the innermost dimension first.
    return value.owner.operation.operands[0], [p for d in range(1 + spatial, 1, -1) for p in (low[d], high[d])]


def _result_is_channels_first(weighted: _Weighted, image, depth, out_channels) -> bool:
    dims = weighted.contraction.dims(2)
    split = len(depth + out_channels) == 2
    if dims[1:] != depth + out_channels + image or split != (weighted.collapse is not None):
        return False
    return not split or ir.RankedTensorType(weighted.collapse.results[0].type).rank == 2 + len(image)


# Matrix product


def _match_product(weighted: _Weighted):
    contraction = weighted.contraction
    dims = linalg.infer_contraction_dimensions_from_maps(list(contraction.maps))
    if dims is None or (len(dims.n), len(dims.k)) != (1, 1) or weighted.collapse is not None:
        raise NoMatch("the contraction is neither a convolution nor a matrix product")
    if list(dims.batch) or contraction.dims(0) != [*dims.m, *dims.k] or contraction.dims(2) != [*dims.m, *dims.n]:
        raise NoMatch("the matrix product has batch or transposed operands")
    weights = _constant_weights(contraction)
    correction = input_zero_point_correction(weights, contraction.input_zp, contraction.reduced_weight_dims)
    weights = np.ascontiguousarray(weights if contraction.dims(1) == [*dims.k, *dims.n] else weights.T)
    scale_bias, shift = _scale_bias(weighted, correction.reshape(-1), weights.shape[1])

    def build() -> ir.Value:
        constant = arith.constant(None, elements.from_numpy(weights))
        return torq_hl.fully_connected(
            constant,
            scale_bias(),
            contraction.input,
            input_zp=contraction.input_zp,
            shift_factor=shift,
            element_type=weighted.output.element,
            **weighted.output.attributes,
        )

    return build
