# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products of dequantized operands on builtin tensors, fused and compiled."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from modules_under_test import constant, module_of
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir import pipelines
from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects import elements, quantized_decomposed
from torq_mlir.rewriting.structured import build_elementwise, sizes

FUSE = "builtin.module(torq-signed-storage,torq-fuse-quantized-ops{explain=true},canonicalize,cse)"


def fused(inputs: Sequence[np.ndarray], body: Callable[..., ir.Value], dynamic: bool = False) -> ir.Module:
    """A module whose function `body` builds, after the fusion."""
    module = module_of(inputs, body, dynamic)
    pipelines.run(module, FUSE)
    return module


def run(module: ir.Module, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """The result of the JIT, which is that of the interpreter."""
    inputs = [each.view(np.int8) if each.dtype == np.uint8 else each for each in inputs]
    (result,) = jit.compile(module, opt_level=0)(inputs)
    if all(ir.RankedTensorType(each).has_static_shape for each in module.body.operations[0].type.inputs):
        np.testing.assert_array_equal(interpreter.run(module, inputs)[0], result)
    return result


def matmul(x: ir.Value, w: ir.Value, init: ir.Value | None = None) -> ir.Value:
    """The float product, of matrices or of batches of them."""
    batched = ir.RankedTensorType(x.type).rank == 3
    if init is None:
        extents = [*sizes(x)[:-1], sizes(w)[-1]]
        zero = arith.constant(ir.F32Type.get(), 0.0)
        init = linalg.fill(zero, outs=[tensor.empty(extents, ir.F32Type.get())])
    operation = linalg.batch_matmul if batched else linalg.matmul
    return operation(x, w, outs=[init])


def transposed(w: ir.Value) -> ir.Value:
    rows, columns = ir.RankedTensorType(w.type).shape
    empty = tensor.empty([columns, rows], ir.F32Type.get())
    return linalg.transpose(w, outs=[empty], permutation=[1, 0]).operation.results[0]


def repeated(w: ir.Value, x: ir.Value) -> ir.Value:
    """A matrix for each batch of the input, as torch-mlir writes it."""
    rows, columns = ir.RankedTensorType(w.type).shape
    empty = tensor.empty([sizes(x)[0], rows, columns], ir.F32Type.get())
    return build_elementwise([w], empty, lambda value: value)


def storage(dtype: np.dtype, bits: int = 8, low: int | None = None, high: int | None = None) -> dict:
    """Range and type of stored integers."""
    unsigned = np.dtype(dtype).kind == "u"
    least = 0 if unsigned else -(1 << bits - 1)
    type_ = ir.IntegerType.get_unsigned(bits) if unsigned else ir.IntegerType.get_signed(bits)
    bounds = {
        "quant_min": least if low is None else low,
        "quant_max": least + (1 << bits) - 1 if high is None else high,
    }
    return bounds | {"dtype": type_}


def group_dequantized(
    w: np.ndarray, scales: np.ndarray, zero_points: np.ndarray | None, size: int, axis: int, bits: int = 8
) -> ir.Value:
    """Constant weights in groups; those of 4 bits are i4 or, with `bits` of 8, in bytes."""
    narrow = ir.IntegerType.get_signless(bits)
    value = _constant(w, narrow)
    values = [constant(scales), *([] if zero_points is None else [_parameter(zero_points, narrow)])]
    form = storage(w.dtype, bits) | {"group_size": size, "axis": axis}
    return quantized_decomposed.dequantize_per_channel_group(value, *values, **form)


def _parameter(zero_points: np.ndarray, narrow: ir.IntegerType) -> ir.Value:
    return constant(zero_points) if zero_points.dtype.itemsize > 1 else _constant(zero_points, narrow)


def _constant(values: np.ndarray, element: ir.Type) -> ir.Value:
    return arith.constant(None, elements.from_numpy(np.ascontiguousarray(values).view(np.int8), element))


def largest_tensor(module: ir.Module) -> int:
    """The number of bytes of the largest tensor that an operation of a module makes or takes."""
    found = 0

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal found
        for value in [*operation.operands, *operation.results]:
            if isinstance(value.type, ir.RankedTensorType):
                found = max(found, math.prod(value.type.shape) * max(8, value.type.element_type.width) // 8)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found
