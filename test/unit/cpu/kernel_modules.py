# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of many operations of torq_hl at once, each of sizes of its own: one compilation serves all."""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, func, tensor

from torq_mlir import dialects
from torq_mlir.dialects import elements, torq_hl

CONTEXT = ir.Context()
dialects.register(CONTEXT)

# An operation from the arguments of the function.
Build = Callable[..., ir.Value]
RNG = np.random.default_rng(0)


class Cases:
    """Collects operations, and the inputs that they take."""

    def __init__(self) -> None:
        self.inputs: list[np.ndarray] = []
        self._builds: list[tuple[range, Build]] = []

    def add(self, inputs: Sequence[np.ndarray], build: Build) -> None:
        start = len(self.inputs)
        self.inputs += inputs
        self._builds.append((range(start, start + len(inputs)), build))

    def module(self) -> ir.Module:
        """A function `main` of all inputs, with one result for each operation."""
        with CONTEXT, ir.Location.unknown():
            module = ir.Module.create()
            types = [ir.RankedTensorType.get(array.shape, elements.element_type(array.dtype)) for array in self.inputs]

            def main(*arguments: ir.Value) -> list[ir.Value]:
                return [build(*(arguments[position] for position in positions)) for positions, build in self._builds]

            with ir.InsertionPoint(module.body):
                func.FuncOp.from_py_func(*types, name="main")(main)
            assert module.operation.verify()
        return module


def integers(*shape: int, dtype: type = np.int8) -> np.ndarray:
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def constant(array: np.ndarray) -> ir.Value:
    return arith.constant(None, elements.from_numpy(np.asarray(array)))


def pairs(channels: int, depth: int, shift: int = 40) -> np.ndarray:
    """Biases, and multipliers that bring sums of so many products to the range of 8 bits."""
    bias = RNG.integers(-4000, 4000, channels)
    multiplier = RNG.uniform(0.5, 2, channels) * 2.0**shift * 100 / (5500 * np.sqrt(depth))
    return np.stack([bias, np.minimum(multiplier, 2**31 - 1)], 1).astype(np.int32).reshape(-1)


def output(shift: int = 40, low: int = -128, high: int = 127) -> dict[str, int]:
    return {"output_zp": int(RNG.integers(-20, 20)), "output_min": low, "output_max": high, "shift_factor": shift}


def convolution(
    cases: Cases,
    channels: int,
    outputs: int,
    size: tuple[int, int],
    window: tuple[int, int] = (1, 1),
    *,
    images: int = 1,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    pad: tuple[int, int, int, int] = (0, 0, 0, 0),
    groups: int = 1,
    shift: int = 40,
    low: int = -128,
) -> None:
    """A convolution; a depthwise one where each group has one channel."""
    w = integers(outputs, channels // groups, *window)
    scale_bias = pairs(outputs, channels // groups * window[0] * window[1], shift)
    attributes = {**output(shift, low), "input_zp": int(RNG.integers(-20, 20)), "groups": groups}
    attributes |= {"pad": list(pad), "stride": list(stride), "dilation": list(dilation)}
    builder = torq_hl.depthwise_conv2d if groups == channels > 1 else torq_hl.conv2d
    cases.add(
        [integers(images, channels, *size)], lambda x: builder(constant(w), constant(scale_bias), x, **attributes)
    )


def convolution1d(cases: Cases, channels: int, outputs: int, size: int, window: int, pad: int, groups: int = 1) -> None:
    w, scale_bias = integers(outputs, channels // groups, window), pairs(outputs, channels // groups * window)
    attributes = {**output(), "input_zp": -7, "groups": groups, "pad": [pad, pad], "stride": [2], "dilation": [1]}
    x = integers(2, channels, size)
    cases.add([x], lambda x: torq_hl.conv1d(constant(w), constant(scale_bias), x, **attributes))


def layer(x: ir.Value, outputs: int, window: int = 1) -> ir.Value:
    """A convolution of what was computed."""
    channels = ir.RankedTensorType(x.type).shape[1]
    attributes = {**output(), "input_zp": 1, "groups": 1, "pad": [window // 2] * 4}
    attributes |= {"stride": [1, 1], "dilation": [1, 1]}
    scale_bias = pairs(outputs, channels * window * window)
    w = integers(outputs, channels, window, window)
    return torq_hl.conv2d(constant(w), constant(scale_bias), x, **attributes)


def padded(x: ir.Value, amount: int) -> ir.Value:
    """A value that has room in memory on every side: a slice of a larger one."""
    shape = ir.RankedTensorType(x.type).shape
    offsets, sizes = [0, 0, amount, amount], [*shape[:2], shape[2] - 2 * amount, shape[3] - 2 * amount]
    result = ir.RankedTensorType.get(sizes, ir.RankedTensorType(x.type).element_type)
    return tensor.extract_slice(result, x, [], [], [], offsets, sizes, [1] * 4)


def joined(a: ir.Value, b: ir.Value) -> ir.Value:
    """Two images, one behind the other along the channels."""
    first, second = (ir.RankedTensorType(value.type) for value in (a, b))
    shape = [first.shape[0], first.shape[1] + second.shape[1], *first.shape[2:]]
    return tensor.concat(ir.RankedTensorType.get(shape, first.element_type), 1, [a, b])


def without(x: ir.Value, zero_point: int) -> ir.Value:
    """x - zero_point, in 16 bits."""
    limits = {"output_zp": 0, "output_min": -255, "output_max": 255, "shift_factor": 0}
    parameters = constant(np.int32([-zero_point, 1]))
    return torq_hl.fma(constant(np.int8([1])), parameters, x, element_type=ir.IntegerType.get_signless(16), **limits)
