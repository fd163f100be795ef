# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of each operation of torq_hl, where there is one for its sizes and types.

A handler plans an operation and returns True, or returns False and leaves no trace.
"""

from torq_mlir.backends.cpu.planning import Handler

from . import elementwise, movement, pooling, weighted

HANDLERS: dict[str, Handler] = {
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
