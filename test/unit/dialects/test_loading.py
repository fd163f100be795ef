# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registration in contexts, and what it gives: op classes, purity, defaults."""

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from torq_mlir import dialects
from torq_mlir.dialects import quantized_decomposed, torq_hl

IDENTITY = """
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = tensor.empty() : tensor<4xi8>
  %1 = "torq_hl.identity"(%0, %x) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %x : tensor<4xi8>
}
"""


def body(module):
    return list(module.body.operations[0].regions[0].blocks[0].operations)


def test_several_contexts_in_one_process():
    first, second = ir.Context(), ir.Context()
    dialects.register(first)
    dialects.register(second)
    for context in (first, second):
        module = ir.Module.parse(IDENTITY, context)
        assert isinstance(body(module)[1], torq_hl.IdentityOp)
        with pytest.raises(ir.MLIRError, match="requires attribute 'perm'"):
            ir.Module.parse(IDENTITY.replace("identity", "transpose"), context)


def test_registering_again_has_no_effect():
    context = ir.Context()
    for _ in range(3):
        dialects.register(context)
    assert ir.Module.parse(IDENTITY, context).operation.verify()


def test_a_context_dies_with_its_last_user():
    before = ir.Context._get_live_count()
    for _ in range(3):
        context = ir.Context()
        dialects.register(context)
        ir.Module.parse(IDENTITY, context)
        del context
    assert ir.Context._get_live_count() == before


def test_unknown_operation_is_an_error():
    context = ir.Context()
    dialects.register(context)
    with pytest.raises(ir.MLIRError, match=r"unregistered operation 'torq_hl\.identify'"):
        ir.Module.parse(IDENTITY.replace("identity", "identify"), context)


def test_pure_operations_are_removed_when_unused():
    context = ir.Context()
    dialects.register(context)
    module = ir.Module.parse(IDENTITY, context)
    with context:
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    assert [operation.operation.name for operation in body(module)] == ["func.return"]


def test_pure_operations_are_merged():
    context = ir.Context()
    dialects.register(context)
    source = """
    func.func @main(%i: tensor<4xi8>, %x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
      %0 = "torq_hl.fill"(%i) {value = 1 : i32} : (tensor<4xi8>) -> tensor<4xi8>
      %1 = "torq_hl.fill"(%i) {value = 1 : i32} : (tensor<4xi8>) -> tensor<4xi8>
      %2 = "torq_hl.fill"(%i) {value = 2 : i32} : (tensor<4xi8>) -> tensor<4xi8>
      return %0, %1, %2 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
    }"""
    module = ir.Module.parse(source, context)
    with context:
        PassManager.parse("builtin.module(cse)").run(module.operation)
    assert len(body(module)) == 3


def test_accessors_read_absent_attributes_as_their_defaults():
    context = ir.Context()
    dialects.register(context)
    operation = '"torq_hl.table"(%x, %s, %x, %t)'
    source = f"""
    func.func @main(%x: tensor<4xi8>, %s: tensor<2xi32>, %t: tensor<256xi32>) -> (tensor<4xi8>, tensor<4xi8>) {{
      %0 = {operation} : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
      %1 = {operation} {{output_zp = 7 : i32, saturate_i16 = true}}
        : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
      return %0, %1 : tensor<4xi8>, tensor<4xi8>
    }}"""
    plain, explicit, _ = body(ir.Module.parse(source, context))
    assert (plain.output_zp.value, plain.shift.value, plain.saturate_i16.value) == (0, 0, False)
    assert (explicit.output_zp.value, explicit.shift.value, explicit.saturate_i16.value) == (7, 0, True)
    assert "output_zp" not in plain.operation.attributes
    assert plain.static_table is None
    with context:
        plain.output_zp = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 3)
    assert plain.output_zp.value == 3


def test_every_operation_has_a_class():
    for module in (torq_hl, quantized_decomposed):
        assert {each.OPERATION_NAME for each in module.OP_CLASSES} == set(module.OPERATIONS)
