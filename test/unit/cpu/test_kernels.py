# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel on every processor gives the bits of the interpreter, at sizes that fill no vector."""

from functools import partial

import numpy as np
import pytest
from kernel_modules import (
    Cases,
    constant,
    convolution,
    convolution1d,
    integers,
    joined,
    layer,
    output,
    padded,
    pairs,
    without,
)
from torch_mlir import ir

from torq_mlir.backends import cpu, interpreter
from torq_mlir.backends.cpu import machine
from torq_mlir.dialects import torq_hl

PROCESSORS = [each.name for each in machine.available()]
# All of them have code of their own, and share most of it: the best one, and one without special instructions.
EVERY = [
    pytest.param(name, marks=[] if name in (PROCESSORS[0], "generic") else [pytest.mark.slow], id=name)
    for name in PROCESSORS
]
AWKWARD = (1, 3, 7, 15, 17, 33)


def check(cases: Cases, name: str, **options) -> cpu.CpuExecutable:
    module = cases.module()
    compiled = cpu.compile(module, cpu=name, **{"num_threads": 1, "opt_level": 1, **options})
    expected = interpreter.run(module, cases.inputs)
    for number, (actual, reference) in enumerate(zip(compiled(cases.inputs), expected, strict=True)):
        assert actual.dtype == reference.dtype
        np.testing.assert_array_equal(actual, reference, f"operation {number}")
        assert reference.size < 9 or np.unique(reference).size > 1, f"operation {number} proves nothing"
    return compiled


@pytest.mark.parametrize("name", EVERY)
def test_channels_of_convolutions(name):
    cases = Cases()
    for channels in AWKWARD:
        convolution(cases, channels, 17, (5, 6), (3, 3), pad=(1, 1, 1, 1))
    for outputs in AWKWARD:
        convolution(cases, 5, outputs, (3, 4))
    for outputs, low in ((50, -128), (64, -128), (128, 3)):  # of which four vectors become one
        convolution(cases, 5, outputs, (3, 4), low=low)
    for width in AWKWARD:
        convolution(cases, 4, 33, (2, width), low=0)
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_windows_of_convolutions(name):
    cases = Cases()
    convolution(cases, 3, 18, (9, 11), (3, 3), stride=(2, 2), pad=(1, 0, 0, 1))
    convolution(cases, 4, 18, (9, 11), (2, 2), stride=(3, 4))  # a stride beyond the window
    convolution(cases, 4, 18, (2, 3), (5, 4), pad=(2, 1, 2, 2))  # a window beyond the image
    convolution(cases, 6, 18, (9, 11), (3, 2), dilation=(2, 3), pad=(3, 3, 2, 2))
    convolution(cases, 16, 40, (4, 5), (3, 3), groups=2, pad=(1, 1, 1, 1))
    convolution(cases, 24, 6, (4, 5), (1, 3), groups=3, images=2)
    convolution(cases, 6, 8, (4, 5), (3, 3), groups=2, pad=(1, 1, 1, 1))  # channels of a group that fill no word
    convolution(cases, 8, 20, (6, 7), (7, 7), images=3, pad=(3, 3, 3, 3))
    convolution1d(cases, 6, 18, 11, 3, 1)
    convolution1d(cases, 6, 18, 9, 4, 2, groups=2)
    for shift in (20, 28, 31, 32, 33, 38):
        convolution(cases, 5, 9, (3, 3), shift=shift)
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_depthwise_convolutions(name):
    cases = Cases()
    for channels in AWKWARD[1:]:
        convolution(cases, channels, channels, (5, 6), (3, 3), groups=channels, pad=(1, 1, 1, 1))
    convolution(cases, 20, 20, (9, 11), (5, 5), groups=20, stride=(2, 2), pad=(2, 2, 2, 2), images=2)
    convolution(cases, 20, 20, (9, 11), (3, 2), groups=20, dilation=(2, 3), pad=(0, 3, 1, 0))
    convolution(cases, 8, 8, (9, 9), (7, 7), groups=8, pad=(3, 3, 3, 3))
    convolution(cases, 8, 16, (5, 5), (3, 3), groups=8)  # two outputs of each channel
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_matrix_products(name):
    cases = Cases()
    for rows, inner, columns in [(1, 3, 1), (1, 64, 33), (7, 15, 17), (33, 17, 3), (40, 8, 70)]:
        w, scale_bias, attributes = integers(inner, columns), pairs(columns, inner), output()
        attributes["input_zp"] = 3
        cases.add(
            [integers(rows, inner)],
            lambda x, w=w, s=scale_bias, a=attributes: torq_hl.fully_connected(constant(w), constant(s), x, **a),
        )
        attributes = output()
        attributes["shift"] = attributes.pop("shift_factor")
        scale_bias = pairs(1, inner)
        cases.add(
            [integers(2, 3, rows, inner), integers(2, 3, inner, columns)],
            lambda x, y, s=scale_bias, a=attributes: torq_hl.matmul(constant(s), x, y, **a),
        )
        # Zero points are removed by an fma to 16 bits.
        cases.add(
            [integers(2, rows, inner), integers(2, inner, columns)],
            lambda x, y, s=scale_bias, a=attributes: torq_hl.matmul(constant(s), without(x, 7), without(y, -9), **a),
        )
    for bits, rows, inner, columns in [(32, 7, 15, 17), (16, 33, 17, 3)]:  # accumulators that have several readers
        limits, element = np.iinfo(f"i{bits // 8}"), partial(ir.IntegerType.get_signless, bits)
        w, scale_bias = integers(inner, columns), pairs(columns, inner)
        wide = {**output(low=int(limits.min), high=int(limits.max)), "input_zp": 3}
        cases.add(
            [integers(rows, inner)],
            lambda x, w=w, s=scale_bias, a=wide, e=element: torq_hl.fully_connected(
                constant(w), constant(s), x, element_type=e(), **a
            ),
        )
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_pooling(name):
    cases = Cases()
    for channels in AWKWARD:
        attributes = {"input_zp": -128, "output_min": -128, "output_max": 127}
        attributes |= {"stride": [2, 2], "pad": [1, 1, 1, 0], "kernel": [3, 3]}
        cases.add(
            [integers(2, channels, 7, 6)],
            lambda x, a=attributes: torq_hl.maxpool2d(constant(np.int8([1])), constant(np.int32([0, 1])), x, **a),
        )
        attributes, scale_bias = {**output(), "input_zp": 4}, pairs(1, 35)
        cases.add(
            [integers(2, 5, 7, channels)],
            lambda x, s=scale_bias, a=attributes: torq_hl.avg_pool2d(constant(np.int8([1])), constant(s), x, **a),
        )
    attributes = {"input_zp": 5, "output_min": -3, "output_max": 60}  # padding that can be the maximum
    attributes |= {"stride": [1, 1], "pad": [2, 2, 2, 2], "kernel": [3, 4]}
    cases.add(
        [integers(1, 70, 3, 3)],
        lambda x: torq_hl.maxpool2d(constant(np.int8([1])), constant(np.int32([0, 1])), x, **attributes),
    )
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_elementwise(name):
    cases = Cases()
    words = ((integers(256).astype(np.int32) << 8) & 0xFFFF).tolist()
    add, multiply_add, per_channel, product = output(12), output(28), output(), output(32)
    product["shift"] = product.pop("shift_factor")
    add |= {"name": "add", "input_zp": 0}
    for size in AWKWARD:
        shape, weights, scale_bias = (2, size, 3, 5), integers(size), pairs(size, 1)
        cases.add(
            [integers(*shape), integers(*shape)],
            lambda x, y: torq_hl.add(constant(np.int16([3413, 2731])), constant(np.int32([3416, 1])), x, y, **add),
        )
        cases.add(
            [integers(*shape)],
            lambda x: torq_hl.fma(constant(np.int8([1])), constant(np.int32([4, 3 << 26])), x, **multiply_add),
        )
        cases.add(
            [integers(*shape)],
            lambda x, w=weights, s=scale_bias: torq_hl.fma(constant(w), constant(s), x, **per_channel),
        )
        cases.add(
            [integers(*shape, dtype=np.int16), integers(*shape, dtype=np.int16)],
            lambda x, y: torq_hl.mul(constant(np.int32([0, 1 << 10])), x, y, **product),
        )
        cases.add([integers(*shape)], lambda x: torq_hl.table(constant(np.int32([-128, 128])), x, static_table=words))
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_sums_of_layers(name):
    """Both operands are stored as kernels exchange them."""
    cases = Cases()
    for number, channels in enumerate((*AWKWARD, 64)):
        for weights in (np.int16([3413, 2731]), np.int16([4000, -32768])):
            attributes = {**output(12, low=(-128, -5)[number % 2]), "name": "add", "input_zp": 0}
            cases.add(
                [integers(1, 3, 4, 5), integers(1, 3, 4 if number else 1, 5)],
                lambda x, y, w=weights, a=attributes, c=channels: torq_hl.add(
                    constant(w), constant(np.int32([-70_000, 1])), layer(x, c), layer(y, c), **a
                ),
            )
    check(cases, name)


@pytest.mark.parametrize("name", EVERY)
def test_movement(name):
    """What convolutions read and write is moved, so that it is in the layout of kernels."""
    cases = Cases()
    cases.add([integers(1, 3, 4, 5)], lambda x: torq_hl.transpose(layer(x, 6), perm=[0, 2, 3, 1]))
    cases.add([integers(1, 3, 4, 5)], lambda x: layer(torq_hl.transpose(layer(x, 6), perm=[0, 1, 3, 2]), 5, 3))
    cases.add([integers(1, 3, 4, 5)], lambda x: layer(joined(layer(x, 5, 3), layer(x, 6)), 7, 3))
    cases.add([integers(1, 3, 8, 9)], lambda x: layer(padded(layer(x, 5), 1), 7, 3))
    check(cases, name)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same(threads):
    cases = Cases()
    convolution(cases, 8, 20, (9, 7), (3, 3), pad=(1, 1, 1, 1))
    convolution(cases, 20, 20, (5, 6), (3, 3), groups=20, pad=(1, 1, 1, 1))
    convolution(cases, 4, 200, (1, 1))
    compiled = check(cases, PROCESSORS[0], num_threads=threads)
    first = compiled(cases.inputs)
    for _ in range(20):
        for a, b in zip(first, compiled(cases.inputs), strict=True):
            np.testing.assert_array_equal(a, b)
