# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stays in linalg, tensor and scf: contractions in their order of summation, slices, control flow."""

import numpy as np
import pytest
from modules_under_test import assert_same, constant, module_of, parse
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.backends import jit

GENERATOR = np.random.default_rng(0)


def normal(*shape):
    return GENERATOR.normal(size=shape).astype(np.float32)


def run(inputs, body):
    return jit.compile(module_of(inputs, body))(inputs)[0]


def zeros(*shape):
    return linalg.fill(arith.constant(ir.F32Type.get(), 0.0), outs=[tensor.empty(shape, ir.F32Type.get())])


def convolution_in_order(x, w, stride, dilation, total):
    """Sums in f32, in the order of the loops: input channel, row and column of the window."""
    _, _, height, width = total.shape
    for c in range(w.shape[1]):
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                rows = slice(i * dilation, i * dilation + (height - 1) * stride + 1, stride)
                columns = slice(j * dilation, j * dilation + (width - 1) * stride + 1, stride)
                total = total + x[:, c, None, rows, columns] * w[None, :, c, i, j, None, None]
    return total


@pytest.mark.parametrize("weights_are_constant", [True, False])
@pytest.mark.parametrize(("channels", "stride", "dilation"), [(20, 1, 1), (20, 2, 1), (3, 1, 2), (9, 3, 2)])
def test_convolution_sums_in_order(channels, stride, dilation, weights_are_constant):
    x, w = normal(2, 5, 20, 21), normal(channels, 5, 3, 2)
    height = (20 - 2 * dilation - 1) // stride + 1
    width = (21 - dilation - 1) // stride + 1
    bias = normal(channels)

    def body(x, *operands):
        weights = operands[0] if operands else constant(w)
        empty = tensor.empty([2, channels, height, width], ir.F32Type.get())
        init = linalg.broadcast(constant(bias), outs=[empty], dimensions=[0, 2, 3]).operation.results[0]
        return linalg.conv_2d_nchw_fchw(x, weights, outs=[init], strides=[stride] * 2, dilations=[dilation] * 2)

    init = np.broadcast_to(bias[:, None, None], (2, channels, height, width))
    expected = convolution_in_order(x, w, stride, dilation, init)
    assert_same(run([x] if weights_are_constant else [x, w], body), expected)


def test_convolution_with_several_users():
    x, w = normal(1, 2, 9, 9), normal(24, 2, 3, 3)

    def body(x):
        y = linalg.conv_2d_nchw_fchw(x, constant(w), outs=[zeros(1, 24, 7, 7)], strides=[1, 1], dilations=[1, 1])
        doubled = arith.addf(y, y)
        return y, doubled, linalg.transpose(y, outs=[zeros(1, 7, 7, 24)], permutation=[0, 2, 3, 1]).operation.results[0]

    y, doubled, transposed = jit.compile(module_of([x], body))([x])
    expected = convolution_in_order(x, w, 1, 1, np.zeros((1, 24, 7, 7), np.float32))
    assert_same(y, expected)
    assert_same(doubled, 2 * expected)
    assert_same(transposed, np.ascontiguousarray(expected.transpose(0, 2, 3, 1)))


@pytest.mark.parametrize("shape", [(3, 5, 17), (1, 64, 30), (4, 1, 4)])
def test_matmul_sums_in_order(shape):
    m, k, n = shape
    x, w = normal(m, k), normal(k, n)
    expected = np.zeros((m, n), np.float32)
    for position in range(k):
        expected = expected + x[:, position, None] * w[position]
    assert_same(run([x], lambda x: linalg.matmul(x, constant(w), outs=[zeros(m, n)])), expected)
    assert_same(run([x, w], lambda x, w: linalg.matmul(x, w, outs=[zeros(m, n)])), expected)


def test_product_and_sum_are_rounded_separately():
    x, y, z = (normal(1000) for _ in range(3))
    assert_same(run([x, y, z], lambda x, y, z: arith.addf(arith.mulf(x, y), z)), x * y + z)


def test_quantized_convolution():
    x = GENERATOR.integers(-128, 128, (1, 3, 12, 12), dtype=np.int8)
    w = GENERATOR.integers(-128, 128, (16, 3, 3, 3), dtype=np.int8)
    i32 = ir.IntegerType.get_signless

    def body(x):
        zero = arith.constant(i32(32), 0)
        init = linalg.fill(zero, outs=[tensor.empty([1, 16, 10, 10], i32(32))])
        points = arith.constant(i32(32), 5), arith.constant(i32(32), -7)
        return linalg.conv_2d_nchw_fchw_q(x, constant(w), *points, outs=[init], strides=[1, 1], dilations=[1, 1])

    expected = np.zeros((1, 16, 10, 10), np.int32)
    for i in range(3):
        for j in range(3):
            window = x[:, :, i : i + 10, j : j + 10].astype(np.int32) - 5
            expected += np.einsum("nchw,oc->nohw", window, w[:, :, i, j].astype(np.int32) + 7)
    assert_same(run([x], body), expected)


def test_weights_of_four_bits():
    module = parse(
        """func.func @main(%x: tensor<3x2xi8>) -> tensor<3x8xi32> {
          %w = arith.constant dense<[[-8, 7], [1, 2], [3, 4], [5, 6], [-1, -2], [-3, -4], [-5, -6], [-7, 0]]>
              : tensor<8x2xi4>
          %zero = arith.constant 0 : i32
          %empty = tensor.empty() : tensor<3x8xi32>
          %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<3x8xi32>) -> tensor<3x8xi32>
          %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                              affine_map<(m, n, k) -> (m, n)>]
              ins(%x, %w : tensor<3x2xi8>, tensor<8x2xi4>) outs(%init : tensor<3x8xi32>) -> tensor<3x8xi32>
          return %y : tensor<3x8xi32>
        }"""
    )
    x = np.array([[1, 2], [-3, 4], [127, -128]], np.int8)
    w = np.array([[-8, 7], [1, 2], [3, 4], [5, 6], [-1, -2], [-3, -4], [-5, -6], [-7, 0]], np.int32)
    assert_same(jit.compile(module)([x])[0], x.astype(np.int32) @ w.T)


def test_sums_and_maxima_of_windows():
    x = GENERATOR.integers(-100, 100, (1, 4, 20, 20)).astype(np.float32)

    def body(x):
        window = tensor.empty([2, 2], ir.F32Type.get())
        parameters = {"strides": [2, 2], "dilations": [1, 1]}
        summed = linalg.pooling_nchw_sum(x, window, outs=[zeros(1, 4, 10, 10)], **parameters)
        return summed, linalg.pooling_nchw_max(x, window, outs=[zeros(1, 4, 10, 10)], **parameters)

    blocks = x.reshape(1, 4, 10, 2, 10, 2)
    summed, largest = jit.compile(module_of([x], body))([x])
    assert_same(summed, blocks.sum(axis=(3, 5)))
    assert_same(largest, np.maximum(blocks.max(axis=(3, 5)), 0))


def test_strided_slices_and_concatenation():
    module = parse(
        """func.func @main(%x: tensor<4x9xi16>, %y: tensor<2x3xi16>)
              -> (tensor<2x3xi16>, tensor<4x9xi16>, tensor<4x3xi16>) {
          %slice = tensor.extract_slice %x[1, 2] [2, 3] [2, 3] : tensor<4x9xi16> to tensor<2x3xi16>
          %inserted = tensor.insert_slice %y into %x[0, 1] [2, 3] [3, 2] : tensor<2x3xi16> into tensor<4x9xi16>
          %both = tensor.concat dim(0) %slice, %y : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<4x3xi16>
          return %slice, %inserted, %both : tensor<2x3xi16>, tensor<4x9xi16>, tensor<4x3xi16>
        }"""
    )
    x, y = np.arange(36, dtype=np.int16).reshape(4, 9), -np.arange(6, dtype=np.int16).reshape(2, 3)
    inserted = x.copy()
    inserted[::3, 1:6:2] = y
    results = jit.compile(module)([x, y])
    for actual, expected in zip(results, [x[1::2, 2::3], inserted, np.concatenate([x[1::2, 2::3], y])], strict=True):
        assert_same(actual, np.ascontiguousarray(expected))


def test_reshapes_pads_and_indices():
    module = parse(
        """#map = affine_map<(d0, d1) -> (d0, d1)>
        func.func @main(%x: tensor<2x6xi32>) -> (tensor<3x4xi32>, tensor<4x8xi32>, tensor<2x6xi32>) {
          %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x6xi32> into tensor<12xi32>
          %square = tensor.expand_shape %flat [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
          %seven = arith.constant 7 : i32
          %padded = tensor.pad %x low[1, 2] high[1, 0] {
          ^bb0(%i: index, %j: index):
            tensor.yield %seven : i32
          } : tensor<2x6xi32> to tensor<4x8xi32>
          %empty = tensor.empty() : tensor<2x6xi32>
          %sum = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
              ins(%x : tensor<2x6xi32>) outs(%empty : tensor<2x6xi32>) {
          ^bb0(%in: i32, %out: i32):
            %i = linalg.index 1 : index
            %column = arith.index_cast %i : index to i32
            %value = arith.addi %in, %column : i32
            linalg.yield %value : i32
          } -> tensor<2x6xi32>
          return %square, %padded, %sum : tensor<3x4xi32>, tensor<4x8xi32>, tensor<2x6xi32>
        }"""
    )
    x = np.arange(12, dtype=np.int32).reshape(2, 6)
    square, padded, total = jit.compile(module)([x])
    assert_same(square, x.reshape(3, 4))
    assert_same(padded, np.pad(x, ((1, 1), (2, 0)), constant_values=7))
    assert_same(total, x + np.arange(6, dtype=np.int32))


def test_control_flow():
    module = parse(
        """func.func @main(%x: tensor<5xi64>, %n: index, %double: i1) -> tensor<5xi64> {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %looped = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<5xi64> {
            %next = arith.addi %t, %x : tensor<5xi64>
            scf.yield %next : tensor<5xi64>
          }
          %result = scf.if %double -> tensor<5xi64> {
            %doubled = arith.addi %looped, %looped : tensor<5xi64>
            scf.yield %doubled : tensor<5xi64>
          } else {
            scf.yield %looped : tensor<5xi64>
          }
          return %result : tensor<5xi64>
        }"""
    )
    x, compiled = np.arange(5), jit.compile(module)
    for count, double in ((0, False), (3, False), (2, True)):
        expected = x * (count + 1) * (2 if double else 1)
        assert_same(compiled([x, np.int64(count), np.bool_(double)])[0], expected)
