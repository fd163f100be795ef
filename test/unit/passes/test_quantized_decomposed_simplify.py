# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass changes no value: modules are run before and after."""

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.dialects import arith, func, linalg, tensor

from torq_mlir import dialects, pipelines
from torq_mlir.backends import jit
from torq_mlir.dialects import elements, quantized_decomposed

BOUNDS = {"si8": (-128, 127), "ui8": (0, 255)}


class Builder:
    """A function `main` of one f32 argument, built step by step."""

    def __init__(self, shape, dtype, channels):
        self.dtype, self.generator = dtype, np.random.default_rng(len(shape))
        self.scale = self.generator.uniform(0.01, 0.1, channels).astype(np.float32)
        low, high = BOUNDS[dtype]
        self.zero_point = self.generator.integers(low, high, channels).astype(np.int64).astype(np.int8)
        self.value = None

    def constant(self, array):
        return arith.constant(None, elements.from_numpy(array))

    def qdq(self, function, axis):
        low, high = BOUNDS[self.dtype]
        arguments = {"quant_min": low, "quant_max": high, "dtype": ir.Type.parse(self.dtype)}
        if axis is not None:
            arguments["axis"] = axis
        granularity = "tensor" if axis is None else "channel"
        build = getattr(quantized_decomposed, f"{function}_per_{granularity}")
        self.value = build(self.value, self.constant(self.scale), self.constant(self.zero_point), **arguments)

    def transpose(self, *permutation):
        source = ir.RankedTensorType(self.value.type)
        init = tensor.empty([source.shape[d] for d in permutation], source.element_type)
        self.value = linalg.transpose(self.value, outs=[init], permutation=permutation).operation.results[0]

    def collapse(self, shape, *groups):
        result = ir.RankedTensorType.get(shape, ir.RankedTensorType(self.value.type).element_type)
        self.value = tensor.collapse_shape(result, self.value, groups)

    def expand(self, shape, *groups):
        result = ir.RankedTensorType.get(shape, ir.RankedTensorType(self.value.type).element_type)
        self.value = tensor.expand_shape(result, self.value, groups, [], shape)


def per_tensor(builder):
    builder.qdq("quantize", None)
    builder.qdq("dequantize", None)
    builder.collapse([2, 12], [0], [1, 2])
    builder.transpose(1, 0)
    builder.qdq("quantize", None)
    builder.qdq("dequantize", None)


def channels_follow(builder):
    builder.transpose(2, 0, 1)
    builder.qdq("quantize", 2)
    builder.qdq("dequantize", 2)
    builder.expand([2, 2, 2, 3], [0, 1], [2], [3])
    builder.transpose(3, 0, 1, 2)
    builder.qdq("quantize", 0)


def channels_are_split(builder):
    builder.qdq("quantize", 2)
    builder.qdq("dequantize", 2)
    builder.expand([2, 3, 2, 2], [0], [1], [2, 3])
    builder.transpose(3, 1, 0, 2)


def channels_are_merged(builder):
    builder.qdq("quantize", 1)
    builder.qdq("dequantize", 1)
    builder.collapse([6, 4], [0, 1], [2])


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize(
    ("build", "channels"), [(per_tensor, ()), (channels_follow, 3), (channels_are_split, 4), (channels_are_merged, 3)]
)
def test_values_are_the_same(build, channels, dtype):
    shape = (2, 3, 4)
    context = ir.Context()
    dialects.register(context)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        builder = Builder(shape, dtype, channels)
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ([ir.RankedTensorType.get(shape, ir.F32Type.get())], []))
        with ir.InsertionPoint(main.add_entry_block()):
            builder.value = main.arguments[0]
            build(builder)
            func.ReturnOp([builder.value])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(main.type.inputs, [builder.value.type]))
    values = np.random.default_rng(7).normal(scale=3, size=shape).astype(np.float32)
    (expected,) = jit.compile(module)([values])
    pipelines.run(module, "builtin.module(quantized-decomposed-simplify)")
    (found,) = jit.compile(module)([values])
    np.testing.assert_array_equal(found, expected)
    once = str(module)
    pipelines.run(module, "builtin.module(quantized-decomposed-simplify)")
    assert str(module) == once
