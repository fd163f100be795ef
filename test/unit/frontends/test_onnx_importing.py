# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ml_dtypes
import numpy as np
import pytest
from onnx_models import FLOAT, UINT8, model, node, value
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.dialects.locations import source_names
from torq_mlir.frontends.onnx import import_model, load


def imported(source) -> tuple[ir.Module, ir.Operation]:
    module = import_model(load(source), ir.Context())
    assert module.operation.verify()
    return module, module.body.operations[0].operation


def test_function_and_locations():
    nodes = [node("Relu", ["in"], ["a"], name="first"), node("Neg", ["a"], ["out"])]
    module, function = imported(model(nodes, [value("in", FLOAT, [2, 3])], [value("out", FLOAT, None)]))
    assert len(module.body.operations) == 1
    assert function.attributes["sym_name"].value == "main"
    block = function.regions[0].blocks[0]
    assert [source_names(argument.location) for argument in block.arguments] == [["in"]]
    operators = [op for op in block.operations if op.operation.name == "torch.operator"]
    assert [(op.attributes["name"].value, source_names(op.location)) for op in operators] == [
        ("onnx.Relu", ["first"]),
        ("onnx.Neg", ["Neg_1"]),
    ]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(-3, 3, dtype=np.int8).reshape(2, 3),
        np.arange(250, 256, dtype=np.uint8),
        np.arange(-3, 3, dtype=np.int32),
        np.arange(65530, 65536).astype(np.uint16),
        np.arange(3, dtype=np.int64),
        np.array([True, False]),
        np.array(2.5, np.float32),
        np.array([1.5, -2], np.float16),
        np.array([1.5, -2]).astype(ml_dtypes.bfloat16),
        np.zeros((0, 3), np.float32),
        np.full(1000, 7, np.int8),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_constants_are_dense_elements_of_their_type(array):
    nodes = [node("Identity", ["c"], ["y"])]
    source = model(nodes, [value("x", FLOAT, [2])], [value("y", FLOAT, None)], {"c": array})
    source.graph.output[0].type.tensor_type.elem_type = source.graph.initializer[0].data_type
    _, function = imported(source)
    constant = function.regions[0].blocks[0].operations[0].operation
    assert isinstance(constant.attributes["torch.onnx.value"], ir.DenseElementsAttr)
    found = elements.constant_value(constant.results[0])
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_integers_keep_their_sign():
    nodes = [node("Identity", ["x"], ["y"])]
    _, function = imported(model(nodes, [value("x", UINT8, [2])], [value("y", UINT8, None)]))
    assert str(function.regions[0].blocks[0].arguments[0].type) == "!torch.vtensor<[2],ui8>"


def test_several_models_in_one_context():
    source = load(model([node("Relu", ["x"], ["y"])], [value("x", FLOAT, [2])], [value("y", FLOAT, None)]))
    context = ir.Context()
    first, second = import_model(source, context), import_model(source, context)
    assert str(first) == str(second)
