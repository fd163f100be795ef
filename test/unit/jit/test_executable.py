# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments, results and errors of compiled functions."""

import gc
import resource
import threading

import ml_dtypes
import numpy as np
import pytest
from modules_under_test import assert_same, constant, module_of, parse
from torch_mlir import ir

from torq_mlir import dialects
from torq_mlir.backends import jit
from torq_mlir.dialects import elements
from torq_mlir.errors import CompileError, InputError
from torq_mlir.rewriting.structured import build_elementwise, empty_like

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


def copy(value):
    return build_elementwise([value], empty_like(value, value.type.element_type), lambda element: element)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(dtype, shape):
    x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    (same,) = jit.compile(module_of([x], copy))([x])
    assert_same(same, x)
    assert not np.shares_memory(same, x)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (2, 3, 4)])
def test_dynamic_shapes(shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    compiled = jit.compile(module_of([x], lambda x: [x, copy(x), x], dynamic=True))
    for rows in (shape[0], 7):
        x = np.resize(np.float32(3), (rows, *shape[1:]))
        for same in compiled([x]):
            assert_same(same, x)


def test_static_and_dynamic_results():
    module = parse(
        """func.func @main(%x: tensor<?xi32>, %y: tensor<2xi8>) -> (tensor<2xi8>, tensor<?xi32>, tensor<2xi8>) {
          return %y, %x, %y : tensor<2xi8>, tensor<?xi32>, tensor<2xi8>
        }"""
    )
    x, y = np.arange(5, dtype=np.int32), np.array([1, 2], np.int8)
    for actual, expected in zip(jit.compile(module)([x, y]), [y, x, y], strict=True):
        assert_same(actual, expected)


def test_scalars_are_arrays_of_rank_0():
    module = parse(
        """func.func @main(%x: f32, %y: index, %z: i1) -> (f32, index, i1) {
          %two = arith.constant 2.0 : f32
          %product = arith.mulf %x, %two : f32
          return %product, %y, %z : f32, index, i1
        }"""
    )
    product, y, z = jit.compile(module)([np.float32(1.5), np.int64(-4), np.bool_(True)])
    assert_same(product, np.array(3, np.float32))
    assert_same(y, np.array(-4))
    assert_same(z, np.array(True))


def test_integers_of_four_bits():
    module = parse(
        """func.func @main(%x: tensor<4xi4>) -> (tensor<4xi4>, tensor<4xi8>, tensor<16xi4>) {
          %weights = arith.constant dense<[-8, 7, -1, 0, 1, 2, 3, 4, 5, 6, -7, -6, -5, -4, -3, -2]> : tensor<16xi4>
          %wide = arith.extsi %x : tensor<4xi4> to tensor<4xi8>
          return %x, %wide, %weights : tensor<4xi4>, tensor<4xi8>, tensor<16xi4>
        }"""
    )
    x = np.array([-8, -1, 0, 7], np.int8)
    same, wide, weights = jit.compile(module)([x])
    assert_same(same, x)
    assert_same(wide, x)
    np.testing.assert_array_equal(weights[:3], [-8, 7, -1])


def test_memory_layouts():
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    compiled = jit.compile(module_of([x], copy))
    for array in (np.asfortranarray(x), x[:, ::-1], np.broadcast_to(x[:1], x.shape), x.transpose(0, 1, 2)):
        assert_same(compiled([array])[0], np.ascontiguousarray(array))


def test_inputs_are_not_written():
    """In place is the cheapest way to compute what the function returns."""
    x = np.arange(6, dtype=np.int32)
    compiled = jit.compile(
        parse(
            """func.func @main(%x: tensor<6xi32>) -> tensor<6xi32> {
              %one = arith.constant dense<1> : tensor<6xi32>
              %sum = arith.addi %x, %one : tensor<6xi32>
              %c0 = arith.constant 0 : index
              %v = arith.constant 100 : i32
              %result = tensor.insert %v into %sum[%c0] : tensor<6xi32>
              %other = tensor.insert %v into %x[%c0] : tensor<6xi32>
              %total = arith.addi %result, %other : tensor<6xi32>
              return %total : tensor<6xi32>
            }"""
        )
    )
    x.flags.writeable = False
    for _ in range(2):
        np.testing.assert_array_equal(compiled([x])[0], [200, 3, 5, 7, 9, 11])
    np.testing.assert_array_equal(x, np.arange(6))


def test_constants_outlive_the_module():
    weights = np.random.default_rng(0).integers(-128, 128, 1 << 16, dtype=np.int8)

    def compiled():
        context = ir.Context()
        dialects.register(context)
        with context, ir.Location.unknown():
            module = module_in_context(context, weights)
        return jit.compile(module)

    function = compiled()
    gc.collect()
    for _ in range(3):
        assert_same(function([])[0], weights)


def module_in_context(context, weights):
    module = ir.Module.parse(f"func.func private @f() -> tensor<{weights.size}xi8>", context)
    operation = module.body.operations[0]
    operation.attributes["sym_visibility"] = ir.StringAttr.get("public")
    block = operation.regions[0].blocks.append()
    with ir.InsertionPoint(block):
        value = ir.Operation.create(
            "arith.constant", [operation.type.results[0]], attributes={"value": elements.from_numpy(weights)}
        ).result
        ir.Operation.create("func.return", operands=[value])
    return module


def test_module_is_not_modified():
    x = np.zeros((2, 3), np.float32)
    module = module_of([x], lambda x: copy(x))
    before = str(module)
    jit.compile(module)
    assert str(module) == before


def test_threads():
    x = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    compiled = jit.compile(
        parse(
            """func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
              %zero = arith.constant 0.0 : f32
              %e = tensor.empty() : tensor<64x64xf32>
              %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
              %y = linalg.matmul ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>)
                                 outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
              %z = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>)
                                 outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
              return %z : tensor<64x64xf32>
            }"""
        )
    )
    inputs = [x + np.float32(number) for number in range(4)]
    expected = [compiled([each])[0] for each in inputs]
    wrong = []

    def work(number):
        for _ in range(50):
            if not np.array_equal(compiled([inputs[number]])[0], expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("dynamic", [False, True])
def test_memory_is_freed(dynamic):
    x = np.ones((1 << 20,), np.float32)
    compiled = jit.compile(module_of([x], lambda x: copy(copy(x)), dynamic=dynamic))
    compiled([x])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        compiled([x])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024  # KiB; leaks would be 160 MiB


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "expected 1 inputs, got 0"),
        ([np.zeros((2, 3), np.float64)], "input 0 is float64, expected float32"),
        ([np.zeros((2, 3), ">f4")], "input 0 is >f4, expected float32"),
        ([np.zeros((3, 2), np.float32)], r"input 0 has shape \(3, 2\), expected 2x3"),
        ([np.zeros(6, np.float32)], r"input 0 has shape \(6,\), expected 2x3"),
    ],
)
def test_wrong_inputs(inputs, message):
    compiled = jit.compile(module_of([np.zeros((2, 3), np.float32)], copy))
    with pytest.raises(InputError, match=message):
        compiled(inputs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {}", "public functions: none"),
        ("func.func @f() { return } func.func @g() { return }", "public functions: @f, @g"),
        ("func.func @main(%x: memref<2xf32>) { return }", "argument 0 of @main is memref<2xf32>, not a ranked tensor"),
        ("func.func @main(%x: tensor<*xf32>) { return }", "argument 0 of @main is tensor"),
        ("func.func @main(%x: tensor<2xf80>) { return }", "argument 0 of @main is tensor<2xf80>: no numpy dtype"),
        ('func.func @main(%x: tensor<2xf32>) { "foo.unknown"(%x) : (tensor<2xf32>) -> () return }', "foo.unknown"),
    ],
)
def test_what_cannot_be_compiled(text, message):
    context = ir.Context()
    dialects.register(context)
    context.allow_unregistered_dialects = True
    with pytest.raises(CompileError, match=message):
        jit.compile(ir.Module.parse(text, context))


def test_other_functions_are_inlined():
    module = parse(
        """func.func private @twice(%x: tensor<2xi32>) -> tensor<2xi32> {
          %y = arith.addi %x, %x : tensor<2xi32>
          return %y : tensor<2xi32>
        }
        func.func @unused(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }
        func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
          %y = call @twice(%x) : (tensor<2xi32>) -> tensor<2xi32>
          %z = call @twice(%y) : (tensor<2xi32>) -> tensor<2xi32>
          return %z : tensor<2xi32>
        }"""
    )
    np.testing.assert_array_equal(jit.compile(module)([np.array([1, -5], np.int32)])[0], [4, -20])


def test_equal_constants_are_one_argument():
    weights = np.arange(100, dtype=np.int32)
    compiled = jit.compile(module_of([], lambda: [constant(weights), constant(weights)]))
    for result in compiled([]):
        assert_same(result, weights)
