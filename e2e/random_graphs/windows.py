# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling and means."""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from e2e.random_graphs.builder import Builder
from e2e.random_graphs.elementwise import RANKS
from e2e.random_graphs.exclusions import auto_pad_runs, ceil_mode_is_clear
from e2e.random_graphs.qparams import Computed


def pooling(b: Builder) -> Computed:
    op_type = b.pick(("MaxPool", "AveragePool"))
    x = b.source(4, 3, 5)
    spatial = x.shape[2:]
    kernel = [b.integer(1, min(3, size)) for size in spatial]
    attributes: dict = {"kernel_shape": kernel}
    if b.one_in(8):
        attributes["kernel_shape"] = kernel = list(spatial)
    elif b.one_in(6):
        attributes["dilations"] = [
            b.integer(1, 2 if 2 * size - 1 <= n else 1) for size, n in zip(kernel, spatial, strict=True)
        ]
    if not b.one_in(3):
        attributes["strides"] = [b.integer(1, 3) for _ in spatial]
    if b.one_in(3):
        attributes["pads"] = [b.integer(0, size - 1) for size in (*kernel, *kernel)]
    elif b.one_in(8) and auto_pad_runs(kernel, attributes.get("strides", kernel), attributes.get("dilations", [1])):
        attributes["auto_pad"] = b.pick(("SAME_UPPER", "SAME_LOWER"))
    if b.one_in(6) and "auto_pad" not in attributes and _ceil_mode_is_clear(attributes, spatial):
        attributes["ceil_mode"] = 1
    if op_type == "AveragePool" and b.one_in(2):
        attributes["count_include_pad"] = 1
    y = b.node(op_type, b.dequantize(x), **attributes)
    unit = float(x.qparams.scale) / (1 if op_type == "MaxPool" else math.prod(kernel))
    return Computed(y, unit, 0.0, [x.qparams])


def _ceil_mode_is_clear(attributes: dict, spatial: Sequence[int]) -> bool:
    rank = len(spatial)
    strides, pads = attributes.get("strides", [1] * rank), attributes.get("pads", [0] * 2 * rank)
    return ceil_mode_is_clear(spatial, attributes["kernel_shape"], strides, pads)


def global_pooling(b: Builder) -> Computed:
    x = b.source(4, 3, 5)
    y = b.node(b.pick(("GlobalAveragePool", "GlobalMaxPool")), b.dequantize(x))
    return Computed(y, float(x.qparams.scale) / math.prod(x.shape[2:]), 0.0, [x.qparams])


def reduction(b: Builder) -> Computed:
    x = b.source(*RANKS)
    rank = len(x.shape)
    if b.one_in(2):  # the last dimensions, as images and sequences are averaged
        axes = list(range(b.integer(0, rank - 1), rank))
    else:
        axes = sorted(b.permutation(rank)[: b.integer(1, rank)])
    op_type = b.pick(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"))
    y = b.node(op_type, b.dequantize(x), b.constant(np.array(axes, np.int64)), keepdims=b.integer(0, 1))
    count = math.prod(x.shape[axis] for axis in axes) if op_type == "ReduceMean" else 1
    return Computed(y, float(x.qparams.scale) / count, 0.0, [x.qparams])


def position(b: Builder) -> Computed:
    """Where the extremum is along a dimension, as a number."""
    x = b.source(*RANKS)
    attributes = {name: b.integer(0, 1) for name in ("keepdims", "select_last_index")}
    axis = b.integer(0, len(x.shape) - 1)
    index = b.node(b.pick(("ArgMax", "ArgMin")), b.dequantize(x), axis=axis, **attributes)
    return Computed(b.node("Cast", index, to=onnx.TensorProto.FLOAT), 1.0)


OPERATIONS = (pooling, pooling, global_pooling, reduction, position)
