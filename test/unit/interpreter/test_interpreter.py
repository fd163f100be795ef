# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter: values, inputs, the on_result hook, and what it refuses."""

import numpy as np
import pytest
from torch_mlir import ir

from torq_mlir.backends.interpreter import Interpreter, InterpreterError, kernels, run
from torq_mlir.dialects import register
from torq_mlir.errors import CompileError, InputError
from torq_mlir.numerics.quantize import dequantize, quantize


def parse(text):
    context = ir.Context()
    register(context)
    with context:
        return ir.Module.parse(text)


LAYER = """
func.func @main(%x: tensor<1x2x3x3xi8> {torq_hl.name = "image"}) -> tensor<1x2x3x3xi8> {
  %weights = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[-4]]]]> : tensor<2x2x1x1xi8>
  %scale_bias = arith.constant dense<[10, 1, -10, 3]> : tensor<4xi32>
  %init = tensor.empty() : tensor<1x2x3x3xi8>
  %conv = "torq_hl.conv2d"(%init, %weights, %scale_bias, %x) {
      input_zp = 1 : i32, weight_zp = 0 : i32, output_zp = 2 : i32, output_min = -100 : i32, output_max = 100 : i32,
      shift_factor = 1 : i32, groups = 1 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>,
      dilation = array<i64: 1, 1>, vectorization_mode = 0 : i32}
    : (tensor<1x2x3x3xi8>, tensor<2x2x1x1xi8>, tensor<4xi32>, tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> loc("conv1")
  %identity_weights = arith.constant dense<1> : tensor<1xi8>
  %identity = arith.constant dense<[0, 1]> : tensor<2xi32>
  %negated = "torq_hl.fma"(%init, %identity_weights, %identity, %conv) {
      output_zp = -1 : i32, output_min = 0 : i32, output_max = 127 : i32, shift_factor = 0 : i32,
      "torq-executor" = "nss"}
    : (tensor<1x2x3x3xi8>, tensor<1xi8>, tensor<2xi32>, tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  return %negated : tensor<1x2x3x3xi8>
}
"""
IMAGE = np.arange(-9, 9, dtype=np.int8).reshape(1, 2, 3, 3)


def expected_layer(x):
    sums = [x[0, 0].astype(int) + 2 * x[0, 1] + 10, (3 * x[0, 0].astype(int) - 4 * x[0, 1] - 10) * 3]
    conv = np.clip([(value + 1) // 2 + 2 for value in sums], -100, 100)
    return conv, np.clip(conv - 1, 0, 127)


def test_values_of_a_layer():
    module = parse(LAYER)
    (y,) = run(module, [IMAGE])
    assert y.dtype == np.int8
    np.testing.assert_array_equal(y[0], expected_layer(IMAGE)[1])


def test_every_operation_has_a_kernel():
    from torq_mlir.dialects import torq_hl

    assert kernels.KERNELS.keys() == torq_hl.OPERATIONS.keys()


def test_prepared_once_and_called_often():
    interpreter = Interpreter(parse(LAYER))
    for offset in range(3):
        x = IMAGE + np.int8(offset)
        before = x.copy()
        np.testing.assert_array_equal(interpreter([x])[0][0], expected_layer(x)[1])
        np.testing.assert_array_equal(x, before)


def test_results_are_new_arrays():
    module = parse("""
        func.func @f(%x: tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi8>, tensor<1x2xi8>) {
          %c = arith.constant dense<[1, 2]> : tensor<2xi8>
          %r = tensor.expand_shape %x [[0, 1]] output_shape [1, 2] : tensor<2xi8> into tensor<1x2xi8>
          return %x, %c, %r : tensor<2xi8>, tensor<2xi8>, tensor<1x2xi8>
        }""")
    interpreter, x = Interpreter(module), np.int8([5, 6])
    results = interpreter([x])
    for result in results:
        result += 1
    assert x.tolist() == [5, 6]
    assert [result.tolist() for result in interpreter([x])] == [[5, 6], [1, 2], [[5, 6]]]


# What is left in linalg


FLOAT_HEAD = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) {
  %zp = arith.constant dense<3> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %zp)
      {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide}
      : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %d = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %zp)
      {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8}
      : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %scalar = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%d : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %scalar : f32
      linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %q, %d, %m : tensor<4xi8>, tensor<4xf32>, tensor<4xf32>
}
"""


def test_operations_that_are_compiled():
    x, scale = np.float32([1.0, -20.0, 0.05, 3.3]), np.float32(0.1)
    q, d, m = run(parse(FLOAT_HEAD), [x, np.asarray(scale)])
    np.testing.assert_array_equal(q, quantize(x, scale, 3, -128, 127, np.int8, divide=True))
    np.testing.assert_array_equal(d, dequantize(q, scale, 3))
    np.testing.assert_array_equal(m, d * scale)


def test_a_region_may_use_values_and_constants_from_outside():
    module = parse("""
        #map = affine_map<(d0) -> (d0)>
        func.func @main(%x: tensor<3xi32>, %t: tensor<2xi32>, %n: i32) -> (tensor<3xi32>, tensor<3xi32>) {
          %c1 = arith.constant 1 : index
          %five = arith.constant 5 : i32
          %e = tensor.empty() : tensor<3xi32>
          %y:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
              ins(%x : tensor<3xi32>) outs(%e, %e : tensor<3xi32>, tensor<3xi32>) {
            ^bb0(%in: i32, %a: i32, %b: i32):
              %u = tensor.extract %t[%c1] : tensor<2xi32>
              %0 = arith.addi %in, %u : i32
              %1 = arith.muli %0, %five : i32
              %2 = arith.subi %0, %n : i32
              linalg.yield %1, %2 : i32, i32
          } -> (tensor<3xi32>, tensor<3xi32>)
          return %y#0, %y#1 : tensor<3xi32>, tensor<3xi32>
        }""")
    first, second = run(module, [np.int32([1, 2, 3]), np.int32([10, 20]), np.int32(7)])
    assert first.tolist() == [105, 110, 115]
    assert second.tolist() == [14, 15, 16]


def test_equal_operations_are_compiled_once():
    module = parse("""
        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %e = tensor.empty() : tensor<2xf32>
          %a = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
          %b = linalg.add ins(%a, %a : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
          %c = linalg.add ins(%b, %b : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
          return %c : tensor<2xf32>
        }""")
    interpreter = Interpreter(module)
    assert interpreter([np.float32([1, 2])])[0].tolist() == [8, 16]
    assert interpreter.compiled_operations == 1


def test_module_is_not_modified():
    module = parse(FLOAT_HEAD)
    before = str(module)
    run(module, [np.zeros(4, np.float32), np.asarray(np.float32(1))])
    assert str(module) == before


# on_result


def test_on_result_sees_every_operation_with_its_arrays():
    seen = []

    def on_result(operation, operands, results):
        seen.append((operation.name, [(a.shape, str(a.dtype)) for a in operands], results[0].tolist()))

    run(parse(LAYER), [IMAGE], on_result=on_result)
    conv, last = expected_layer(IMAGE)
    image = ((1, 2, 3, 3), "int8")
    assert seen == [
        ("torq_hl.conv2d", [image, ((2, 2, 1, 1), "int8"), ((4,), "int32"), image], [conv.tolist()]),
        ("torq_hl.fma", [image, ((1,), "int8"), ((2,), "int32"), image], [last.tolist()]),
    ]


def test_on_result_sees_the_operands_of_compiled_operations_in_order():
    seen = {}
    module = parse(FLOAT_HEAD)
    x = np.float32([1, 2, 3, 4])
    run(module, [x, np.asarray(np.float32(0.5))], on_result=lambda op, args, _: seen.update({op.name: args}))
    operands = seen["quantized_decomposed.quantize_per_tensor"]
    assert [operand.tolist() for operand in operands] == [x.tolist(), 0.5, 3]


def test_on_result_replaces_results():
    replacement = np.full((1, 2, 3, 3), 50, np.int8)

    def on_result(operation, operands, results):
        return [replacement] if operation.name == "torq_hl.conv2d" else None

    (y,) = run(parse(LAYER), [IMAGE], on_result=on_result)
    assert (y == 49).all()


@pytest.mark.parametrize("replacement", [[], [np.zeros((1, 2, 3, 3), np.int16)], [np.zeros((2, 3, 3), np.int8)]])
def test_on_result_must_return_the_same_shapes_and_dtypes(replacement):
    with pytest.raises(ValueError, match="cannot replace"):
        run(parse(LAYER), [IMAGE], on_result=lambda *_: replacement)


# Errors


def test_inputs_that_do_not_fit():
    interpreter = Interpreter(parse(LAYER))
    with pytest.raises(InputError, match=r"expected 1 inputs \('image'\), got 2"):
        interpreter([IMAGE, IMAGE])
    with pytest.raises(InputError, match="input 'image' is uint8, expected int8"):
        interpreter([IMAGE.astype(np.uint8)])
    with pytest.raises(InputError, match=r"input 'image' has shape \(2, 3, 3\), expected 1x2x3x3"):
        interpreter([IMAGE[0]])
    with pytest.raises(InputError, match=r"input 1 has shape \(1,\), expected a scalar"):
        run(parse(FLOAT_HEAD), [np.zeros(4, np.float32), np.zeros(1, np.float32)])


def test_accumulator_overflow_names_the_operation():
    module = parse(LAYER.replace("dense<[10, 1, -10, 3]>", "dense<[2147483647, 1, 0, 3]>"))
    with pytest.raises(
        InterpreterError, match=r"^conv1: 'torq_hl\.conv2d' op failed: accumulator \d+ does not fit in int32"
    ):
        run(module, [np.full((1, 2, 3, 3), 100, np.int8)])


def test_unsupported_operation_is_named():
    module = parse("""
        func.func private @callee(tensor<2xi8>) -> tensor<2xi8>
        func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {
          %y = call @callee(%x) : (tensor<2xi8>) -> tensor<2xi8> loc("layer7")
          return %y : tensor<2xi8>
        }""")
    with pytest.raises(InterpreterError, match=r"^layer7: 'func\.call' op is not supported: calls of functions"):
        Interpreter(module)


def test_operation_of_an_unknown_dialect():
    context = ir.Context()
    register(context)
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse("""
            func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {
              %y = "mystery.op"(%x) : (tensor<2xi8>) -> tensor<2xi8> loc("file.py":3:4)
              return %y : tensor<2xi8>
            }""")
    with pytest.raises(InterpreterError, match=r"file\.py.*'mystery\.op' op is not supported"):
        Interpreter(module)


def test_constant_without_data():
    module = parse("""
        func.func @main() -> tensor<2xi8> {
          %c = arith.constant dense_resource<__elided__> : tensor<2xi8> loc("weights")
          return %c : tensor<2xi8>
        }""")
    with pytest.raises(InterpreterError, match=r"^weights: 'arith\.constant' op has no value: .*elided"):
        Interpreter(module)


def test_module_without_an_entry():
    with pytest.raises(CompileError, match="public functions: @a, @b"):
        Interpreter(parse("func.func @a() { return }\nfunc.func @b() { return }"))
