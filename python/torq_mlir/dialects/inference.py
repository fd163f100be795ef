# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which function of `shapes` gives the result shape of which operation."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torq_mlir.dialects import shapes
from torq_mlir.dialects.tensor_types import Shape

_FUNCTIONS: dict[str, Callable[..., Shape]] = {
    "torq_hl.act": shapes.same_as_input,
    "torq_hl.add": shapes.broadcast_inputs,
    "torq_hl.argmax": shapes.without_axis,
    "torq_hl.avg_pool2d": shapes.avg_pool2d,
    "torq_hl.broadcast": shapes.broadcast,
    "torq_hl.conv1d": shapes.conv1d,
    "torq_hl.conv2d": shapes.conv2d,
    "torq_hl.convert": shapes.same_as_input,
    "torq_hl.DepthToSpace": shapes.depth_to_space,
    "torq_hl.ResizeNearestNeighbor": shapes.resize_nearest_neighbor,
    "torq_hl.depthwise_conv2d": shapes.depthwise_conv2d,
    "torq_hl.elementwisebinary": shapes.broadcast_inputs,
    "torq_hl.fill": shapes.fill,
    "torq_hl.fma": shapes.same_as_input,
    "torq_hl.fully_connected": shapes.fully_connected,
    "torq_hl.gather": shapes.gather,
    "torq_hl.identity": shapes.same_as_input,
    "torq_hl.matmul": shapes.matmul,
    "torq_hl.maxpool2d": shapes.maxpool2d,
    "torq_hl.mul": shapes.broadcast_inputs,
    "torq_hl.reduce": shapes.without_axis,
    "torq_hl.reduce_mean": shapes.reduce_mean,
    "torq_hl.select": shapes.select,
    "torq_hl.table": shapes.same_as_input,
    "torq_hl.transpose": shapes.transpose,
    **{
        f"quantized_decomposed.{direction}_per_{granularity}": shapes.same_as_input
        for direction in ("quantize", "dequantize")
        for granularity in ("tensor", "channel", "token", "channel_group")
    },
    "quantized_decomposed.choose_qparams": shapes.one_element,
    "quantized_decomposed.choose_qparams_symmetric": shapes.one_element,
    "quantized_decomposed.choose_qparams_per_token": shapes.tokens,
    "quantized_decomposed.choose_qparams_per_token_asymmetric": shapes.tokens,
    "quantized_decomposed._choose_qparams_per_token_asymmetric_impl": shapes.tokens,
    "quantized_decomposed.fake_quant_per_channel": shapes.same_as_input,
    "quantized_decomposed.convert_element_type": shapes.same_as_input,
}

_PARAMETERS = {function: tuple(inspect.signature(function).parameters) for function in set(_FUNCTIONS.values())}


def needs_init(name: str) -> bool:
    """Whether the shape of the result is known from init alone."""
    return "init" in _PARAMETERS[_FUNCTIONS[name]]


def result_shape(name: str, operands: Mapping[str, Shape | None], attributes: Mapping[str, Any]) -> Shape | None:
    """The shape of every result of the operation `name`; None when an operand it depends on has no rank.

    Raises:
      ShapeError: operands and attributes do not fit together.
    """
    function = _FUNCTIONS[name]
    arguments = {
        parameter: attributes[parameter] if parameter in attributes else operands[parameter]
        for parameter in _PARAMETERS[function]
    }
    if any(value is None for value in arguments.values()):
        return None
    return function(**arguments)
