# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`dequantize -> [pad] -> contraction -> [bias]` with constant parameters, on its way to a quantize.

The float contraction of dequantized operands is replaced by the same contraction of the integers with their zero
points, plus the bias in units of `input scale * weight scale`, and one dequantization of the accumulator.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import fuse as fuse_locations
from torq_mlir.numerics.bias import is_accumulator_scale, requantize_bias
from torq_mlir.numerics.zero_points import INT32_MAX, accumulator_bound, fold_weight_zero_point
from torq_mlir.rewriting.accumulator import (
    add_bias,
    dequantize_accumulator,
    match_bias_add,
    match_initial_value,
)
from torq_mlir.rewriting.contraction import (
    Contraction,
    build_quantized_contraction,
)
from torq_mlir.rewriting.integer_chain import IntegerChain, match_integer_chain
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import match_dequantize
from torq_mlir.rewriting.structured import reassociation
from torq_mlir.rewriting.uses import only_user, reaches_quantize


@dataclass(frozen=True)
class _Tail:
    """What follows a contraction: an optional collapse of its groups and an optional bias along `axis`.

    The bias is a value, or the number that MLIR made of a bias whose elements are all equal.
    """

    collapse: ir.Operation | None
    bias: ir.Value | float | None
    axis: int | None
    result: ir.Value


class BiasOverflow(Exception):
    """A bias does not fit the accumulator; the message says where."""


def fuse(contraction: Contraction, rewriter: rewrite.PatternRewriter) -> object:
    """A pattern for contractions of floats.

    Raises:
      BiasOverflow: the bias in units of the accumulator is beyond i32.
    """
    operation = contraction.operation
    input, weights = (match_integer_chain(value) for value in (contraction.input, contraction.weights))
    if input is None and weights is None:
        return NOT_MINE
    if input is None or weights is None:
        missing = f"the input of {operation.name} is" if input is None else f"the weights of {operation.name} are"
        raise NoMatch(f"{missing} not dequantized with constant parameters")
    if not input.dequantize.per_tensor:
        raise NoMatch(f"the input of {operation.name} is quantized per channel")
    for chain in (input, weights):
        if chain.dequantize.unsigned:
            raise NoMatch(f"an operand of {operation.name} is unsigned; run torq-signed-storage before")
    tail = _match_tail(contraction)
    if not reaches_quantize(tail.result):
        raise NoMatch(f"the result of {operation.name} is used in float and not quantized")
    scale, axes = weight_scales(contraction, weights)
    scale = input.dequantize.scale * scale
    axis = _scale_axis(tail, scale, axes)
    try:
        bias = _accumulator_bias(contraction, tail, scale, axes)
    except OverflowError as error:
        raise BiasOverflow(f"the bias does not fit the accumulator: {error}") from error
    except ValueError as error:
        raise NoMatch(f"the bias has no integers: {error}") from error
    _check_accumulator(contraction, input, weights, bias)
    last = tail.result.owner.operation
    with ir.InsertionPoint(last), fuse_locations([operation.location, last.location]):
        accumulator = contract(contraction, input.build(), weights, int(input.dequantize.zero_point))
        if tail.collapse is not None:
            accumulator = collapse_like(tail.collapse, accumulator)
        if bias is not None:
            accumulator = add_bias(accumulator, arith.constant(None, elements.from_numpy(bias)), tail.axis)
        result = dequantize_accumulator(accumulator, scale.reshape(() if axis is None else -1), axis)
    rewriter.replace_op(last, [result])
    return None


def _check_accumulator(contraction: Contraction, input: IntegerChain, weights: IntegerChain, bias) -> None:
    """Refuses a contraction whose i32 accumulator could overflow."""
    input_type = ir.IntegerType(ir.RankedTensorType(input.dequantize.input.type).element_type)
    zero_point = int(input.dequantize.zero_point)
    low, high = -(1 << (input_type.width - 1)) - zero_point, (1 << (input_type.width - 1)) - 1 - zero_point
    values = weights.constant()
    if values is None:
        weight_type = ir.IntegerType(ir.RankedTensorType(weights.dequantize.input.type).element_type)
        shape = ir.RankedTensorType(contraction.weights.type).shape
        terms = math.prod(shape[d] for d in contraction.reduced_weight_dims)
        bound = terms * max(-low, high) << weight_type.width
    else:
        centered = values.astype(np.int32) - weights.parameter(weights.dequantize.zero_point).astype(np.int32)
        bound = int(accumulator_bound(centered, low, high, 0, contraction.reduced_weight_dims).max(initial=0))
        bound += 0 if bias is None else int(np.abs(bias.astype(np.int64)).max(initial=0))
    if bound > INT32_MAX:
        raise NoMatch(f"the i32 accumulator of {contraction.operation.name} could reach {bound}")


def contract(contraction: Contraction, input: ir.Value, weights: IntegerChain, input_zp: int | ir.Value) -> ir.Value:
    """The integer contraction; a weight zero point that differs between channels is folded into the weights."""
    zero_points = weights.dequantize.zero_point
    if np.all(zero_points == zero_points.flat[0]):
        return build_quantized_contraction(contraction, input, weights.build(), input_zp, int(zero_points.flat[0]))
    source = elements.constant_value(weights.dequantize.input)
    if source is None:
        raise NoMatch(f"{contraction.operation.name} has run-time weights with a zero point for each channel")
    folded = weights.move(fold_weight_zero_point(source, zero_points, weights.dequantize.axis))
    value = arith.constant(None, elements.from_numpy(folded))
    return build_quantized_contraction(contraction, input, value, input_zp, 0)


def _match_tail(contraction: Contraction) -> _Tail:
    initial = match_initial_value(contraction.init)
    if initial is None:
        raise NoMatch(f"the initial value of {contraction.operation.name} is neither zero nor a per-channel bias")
    result, collapse = contraction.result, only_user(contraction.result)
    if collapse is None or collapse.name != "tensor.collapse_shape":
        collapse = None
        if initial.expanded and initial.bias != 0:
            raise NoMatch(f"the result of {contraction.operation.name} is not collapsed as its bias is expanded")
    else:
        result = collapse.results[0]
    if isinstance(initial.bias, ir.Value):
        if collapse is not None and not initial.expanded:
            collapse, result = None, contraction.result
        return _Tail(collapse, initial.bias, initial.axis, result)
    if initial.bias != 0:
        return _Tail(collapse, float(initial.bias), _channel_axis(contraction, collapse), result)
    user = only_user(result)
    added_bias = match_bias_add(user.results[0]) if user is not None and len(user.results) == 1 else None
    if added_bias is not None and added_bias[0] == result:
        return _Tail(collapse, added_bias[1], added_bias[2], user.results[0])
    return _Tail(collapse, None, None, result)


def weight_scales(contraction: Contraction, weights: IntegerChain) -> tuple[np.ndarray, tuple[int, ...]]:
    """The scales of the weights in f64, 0-d or over the output dimensions that the weights index."""
    weight_scale = weights.parameter(weights.dequantize.scale)
    if weight_scale.ndim == 0:
        return weight_scale, ()
    reduced = contraction.reduced_weight_dims
    first = weight_scale[tuple(slice(0, 1) if d in reduced else slice(None) for d in range(weight_scale.ndim))]
    if not np.array_equal(np.broadcast_to(first, weight_scale.shape), weight_scale):
        raise NoMatch(f"the weight scales of {contraction.operation.name} vary along a summed dimension")
    scale, axes = contraction.per_output_channel(first.squeeze(reduced))
    if all(size == 1 for size in scale.shape):
        return scale.reshape(()), ()
    return scale, axes


def _scale_axis(tail: _Tail, scale: np.ndarray, axes: tuple[int, ...]) -> int | None:
    """The one dimension of the tail's result that the scales run along."""
    if not axes:
        return None
    if tail.collapse is None:
        varying = [axis for axis, size in zip(axes, scale.shape, strict=False) if size > 1]
    else:
        groups = reassociation(tail.collapse)
        varying = list({next(i for i, group in enumerate(groups) if axis in group) for axis in axes})
        if len(varying) == 1 and len(groups[varying[0]]) != len(axes):
            varying = []
    if len(varying) != 1:
        raise NoMatch("the weight scales vary along several dimensions of the result")
    return varying[0]


def _accumulator_bias(contraction: Contraction, tail: _Tail, scale, axes) -> np.ndarray | None:
    """The constant bias in units of the accumulator, i32 of one element per channel."""
    if tail.bias is None:
        return None
    channels = ir.RankedTensorType(tail.result.type).shape[tail.axis]
    scales = np.broadcast_to(scale.reshape(-1), (channels,)) if scale.size in (1, channels) else None
    if scales is None:
        raise NoMatch(f"the bias of {contraction.operation.name} has other channels than the weight scales")
    if isinstance(tail.bias, float):
        return requantize_bias(np.full(channels, tail.bias), scales)
    dequantize = match_dequantize(tail.bias)
    values = elements.constant_value(tail.bias if dequantize is None else dequantize.input)
    if values is None:
        raise NoMatch(f"the bias of {contraction.operation.name} is not constant")
    values = np.broadcast_to(values.reshape(-1), (channels,))
    if dequantize is None:
        return requantize_bias(values, scales)
    if dequantize.zero_point.any():
        values = values.astype(np.int64) - dequantize.zero_point
    if is_accumulator_scale(dequantize.scale, scales) and values.dtype == np.int32:
        return np.ascontiguousarray(values)
    return requantize_bias(values, scales, bias_scale=dequantize.scale)


def collapse_like(collapse: ir.Operation, value: ir.Value) -> ir.Value:
    """The tensor.collapse_shape on another tensor of the shape of its operand."""
    shape = ir.RankedTensorType(collapse.results[0].type).shape
    result_type = ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)
    attributes = {"reassociation": collapse.attributes["reassociation"]}
    return ir.Operation.create("tensor.collapse_shape", [result_type], [value], attributes).result


def _channel_axis(contraction: Contraction, collapse: ir.Operation | None) -> int:
    """The dimension of the tail's result that the output channels are in."""
    kept = [d for d in range(len(contraction.dims(1))) if d not in contraction.reduced_weight_dims]
    axis = contraction.output_dim_of_weight_dim(kept[-1])
    if collapse is None:
        return axis
    return next(i for i, group in enumerate(reassociation(collapse)) if axis in group)
