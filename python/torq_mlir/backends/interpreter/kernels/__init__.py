# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The semantics of the torq_hl operations: one numpy function for each.

A kernel takes the operands in the order of the operation and its attributes by keyword. `init` gives the shape and
dtype of the result and is neither read nor written. Arrays of signless integers are signed; bf16 is
`ml_dtypes.bfloat16`. Integer arithmetic is exact: an accumulator that leaves int32, which the hardware has, raises
OverflowError. What an operation does not define (a type, an attribute that describes a hardware layout) raises
TypeError or ValueError.
"""

from collections.abc import Callable

import numpy as np

from .contraction import conv1d, conv2d, depthwise_conv2d, fully_connected, matmul
from .data_movement import (
    broadcast,
    depth_to_space,
    fill,
    gather,
    identity,
    resize_nearest_neighbor,
    transpose,
)
from .elementwise import add, elementwisebinary, fma, mul, select
from .pooling import argmax, avg_pool2d, maxpool2d, reduce, reduce_mean
from .unary import act, convert, table

KERNELS: dict[str, Callable[..., np.ndarray]] = {
    f"torq_hl.{kernel.__name__}": kernel
    for kernel in (
        act,
        add,
        argmax,
        avg_pool2d,
        broadcast,
        conv1d,
        conv2d,
        convert,
        depthwise_conv2d,
        elementwisebinary,
        fill,
        fma,
        fully_connected,
        gather,
        identity,
        matmul,
        maxpool2d,
        mul,
        reduce,
        reduce_mean,
        select,
        table,
        transpose,
    )
} | {"torq_hl.DepthToSpace": depth_to_space, "torq_hl.ResizeNearestNeighbor": resize_nearest_neighbor}
