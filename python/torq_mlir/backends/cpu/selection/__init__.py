# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of each operation of torq_hl, where there is one for its sizes and types.

A handler plans an operation and returns True, or returns False and leaves no trace.
"""

from torq_mlir.backends.cpu.planning import Handler

from . import elementwise, generic, grouped, movement, pooling, weighted


def _first(*handlers: Handler) -> Handler:
    """The first one that plans the operation."""
    return lambda planner, operation: any(handler(planner, operation) for handler in handlers)


HANDLERS: dict[str, Handler] = {
    "linalg.batch_matmul": generic.product,
    "linalg.fill": generic.fill,
    "linalg.generic": _first(grouped.product, generic.generic),
    "linalg.matmul": generic.product,
    "linalg.transpose": generic.transpose,
    "scf.for": grouped.scaled_product,
    "tensor.collapse_shape": movement.reshape,
    "tensor.concat": movement.concatenate,
    "tensor.expand_shape": movement.reshape,
    "tensor.extract_slice": movement.slice_,
    "torq_hl.add": elementwise.add,
    "torq_hl.avg_pool2d": pooling.global_average,
    "torq_hl.broadcast": movement.broadcast,
    "torq_hl.conv1d": weighted.convolution,
    "torq_hl.conv2d": weighted.convolution,
    "torq_hl.depthwise_conv2d": weighted.depthwise,
    "torq_hl.fma": elementwise.multiply_add,
    "torq_hl.fully_connected": weighted.fully_connected,
    "torq_hl.matmul": weighted.matmul,
    "torq_hl.maxpool2d": pooling.max_pool,
    "torq_hl.mul": elementwise.multiply,
    "torq_hl.table": elementwise.table,
    "torq_hl.transpose": movement.transpose,
}
