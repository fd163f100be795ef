# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement in numpy against the same module compiled."""

import numpy as np
import pytest
from torch_mlir import ir

from torq_mlir.backends import jit
from torq_mlir.backends.interpreter import Interpreter
from torq_mlir.dialects import register

# name -> argument types, result type, body (arguments are %0, %1, ..., the result %r), compiled operations
CASES = {
    "collapse_shape": (
        "tensor<2x3x4xi8>",
        "tensor<6x4xi8>",
        "%r = tensor.collapse_shape %0 [[0, 1], [2]] : {0} into {r}",
        0,
    ),
    "expand_shape": (
        "tensor<6x4xi16>",
        "tensor<2x3x4xi16>",
        "%r = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 3, 4] : {0} into {r}",
        0,
    ),
    "extract_slice": (
        "tensor<4x5x6xi8>",
        "tensor<2x3xi8>",
        "%r = tensor.extract_slice %0[1, 0, 2] [1, 2, 3] [1, 3, 1] : {0} to {r}",
        0,
    ),
    "extract_slice of nothing": (
        "tensor<4x5xi8>",
        "tensor<0x5xi8>",
        "%r = tensor.extract_slice %0[3, 0] [0, 5] [1, 1] : {0} to {r}",
        0,
    ),
    "extract_slice at a run-time offset": (
        "tensor<4x5xi8>, index",
        "tensor<2x5xi8>",
        "%r = tensor.extract_slice %0[%1, 0] [2, 5] [1, 1] : {0} to {r}",
        1,
    ),
    "insert_slice": (
        "tensor<2x3xi8>, tensor<4x5x6xi8>",
        "tensor<4x5x6xi8>",
        "%r = tensor.insert_slice %0 into %1[1, 0, 2] [1, 2, 3] [1, 3, 1] : {0} into {1}",
        0,
    ),
    "pad": (
        "tensor<2x3xi8>",
        "tensor<4x3xi8>",
        """%v = arith.constant -7 : i8
           %r = tensor.pad %0 low[2, 0] high[0, 0] {{
           ^bb0(%i: index, %j: index): tensor.yield %v : i8 }} : {0} to {r}""",
        0,
    ),
    "pad with a constant inside": (
        "tensor<2x3xf32>",
        "tensor<2x5xf32>",
        """%r = tensor.pad %0 low[0, 1] high[0, 1] {{
           ^bb0(%i: index, %j: index): %v = arith.constant 0.5 : f32 tensor.yield %v : f32 }} : {0} to {r}""",
        0,
    ),
    "pad with a value known at run time": (
        "tensor<2x3xi8>, i8",
        "tensor<2x5xi8>",
        "%r = tensor.pad %0 low[0, 1] high[0, 1] {{ ^bb0(%i: index, %j: index): tensor.yield %1 : i8 }} : {0} to {r}",
        1,
    ),
    "concat": (
        "tensor<2x3xi8>, tensor<2x1xi8>",
        "tensor<2x7xi8>",
        "%r = tensor.concat dim(1) %0, %1, %0 : ({0}, {1}, {0}) -> {r}",
        0,
    ),
    "reshape": (
        "tensor<2x3xi8>",
        "tensor<3x2xi8>",
        "%s = arith.constant dense<[3, 2]> : tensor<2xi64> %r = tensor.reshape %0(%s) : ({0}, tensor<2xi64>) -> {r}",
        0,
    ),
    "splat": ("tensor<2xi8>", "tensor<2x2xi16>", "%v = arith.constant -3 : i16 %r = tensor.splat %v : {r}", 0),
    "transpose": (
        "tensor<2x3x4xi8>",
        "tensor<4x2x3xi8>",
        "%e = tensor.empty() : {r} %r = linalg.transpose ins(%0 : {0}) outs(%e : {r}) permutation = [2, 0, 1]",
        0,
    ),
    "broadcast": (
        "tensor<3xbf16>",
        "tensor<2x3x2xbf16>",
        "%e = tensor.empty() : {r} %r = linalg.broadcast ins(%0 : {0}) outs(%e : {r}) dimensions = [0, 2]",
        0,
    ),
    "fill": (
        "tensor<2xi8>",
        "tensor<2x3xi32>",
        "%v = arith.constant -9 : i32 %e = tensor.empty() : {r} %r = linalg.fill ins(%v : i32) outs(%e : {r}) -> {r}",
        0,
    ),
    "copy": (
        "tensor<2xi8>",
        "tensor<2xi8>",
        "%e = tensor.empty() : {r} %r = linalg.copy ins(%0 : {0}) outs(%e : {r}) -> {r}",
        0,
    ),
    "copy to another type": (
        "tensor<2xi8>",
        "tensor<2xi32>",
        "%e = tensor.empty() : {r} %r = linalg.copy ins(%0 : {0}) outs(%e : {r}) -> {r}",
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_compiled_code_agree(name):
    arguments, result, body, compiled = CASES[name]
    types = arguments.split(", ")
    signature = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(types))
    for operation in ("%e =", "%r =", "%s ="):
        body = body.replace(f" {operation}", f"\n{operation}")
    body = body.format(*types, r=result)
    context = ir.Context()
    register(context)
    with context:
        module = ir.Module.parse(f"func.func @main({signature}) -> {result} {{\n{body}\nreturn %r : {result}\n}}")
    executable, interpreter = jit.compile(module), Interpreter(module)
    random = np.random.default_rng(0)
    shapes = [(spec.shape, spec.dtype) for spec in executable.inputs]
    inputs = [
        random.integers(-100, 100, shape).astype(dtype) if shape else np.array(1, dtype) for shape, dtype in shapes
    ]
    (interpreted,), (expected,) = interpreter(inputs), executable(inputs)
    assert interpreted.dtype == expected.dtype
    np.testing.assert_array_equal(interpreted, expected)
    assert interpreter.compiled_operations == compiled
