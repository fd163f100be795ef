# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stock torch-mlir lowers to linalg with its own fusion converts to the same torq_hl as our route.

Its fusion knows parameters per tensor alone, and no convolution in one dimension: those, and contractions with weights
that are quantized per channel, of QDQ and of QLinearConv, are floats in what it lowers, and so in what becomes of it.
The models here are quantized per tensor.
"""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from torch_mlir import ir
from torch_mlir.extras import onnx_importer
from torch_mlir.passmanager import PassManager

from e2e.models.catalog import quantized_model
from torq_mlir import pipelines
from torq_mlir.dialects import elements, register
from torq_mlir.frontends import onnx

_STOCK = (
    "builtin.module(func.func(convert-torch-onnx-to-torch),"
    "torch-onnx-to-torch-backend-pipeline{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int,"
    "aten.adaptive_avg_pool1d,aten.adaptive_avg_pool2d},"
    "torch-backend-to-linalg-on-tensors-backend-pipeline)"
)


def _operations(module: ir.Module) -> list[tuple]:
    """Name, attributes, result types and constant operands of each torq_hl operation, in order."""
    found = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith("torq_hl."):
            attributes = {name: str(operation.attributes[name]) for name in sorted(operation.attributes)}
            constants = [elements.constant_value(operand) for operand in operation.operands]
            values = [None if c is None else (c.dtype.str, c.shape, c.tobytes()) for c in constants]
            found.append((operation.name, attributes, [str(r.type) for r in operation.results], values))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("cnn_small", "qdq-per-tensor"),
        ("conv_asymmetric_pads", "qdq-per-tensor"),
        ("conv_depthwise", "qdq-per-tensor"),
        ("conv_dilation2", "qdq-per-tensor"),
        ("conv_groups4", "qdq-per-tensor"),
        ("conv_transpose", "qdq-per-tensor"),
        ("gemm", "qdq-per-tensor"),
        ("matmul_3d", "qdq-per-tensor"),
        ("residual_block", "qdq-per-tensor"),
    ],
)
def test_stock_lowering_gives_the_same_operations(name, variant):
    _check(quantized_model(name, variant))


@pytest.mark.parametrize(
    ("window", "result"),
    [
        ({"pads": [1, 1, 1, 1], "strides": [2, 1]}, [1, 4, 4, 8]),
        ({"pads": [2, 2, 2, 2], "dilations": [2, 2]}, [1, 4, 8, 8]),
    ],
)
def test_stock_lowering_of_a_qlinear_convolution(window, result):
    rng = np.random.default_rng(0)
    initializers = [
        numpy_helper.from_array(np.asarray(value), name)
        for name, value in {
            "sx": np.float32(0.05),
            "zx": np.int8(3),
            "w": rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
            "sw": np.float32(0.01),
            "zw": np.int8(0),
            "sy": np.float32(0.07),
            "zy": np.int8(-4),
            "b": rng.integers(-500, 500, 4).astype(np.int32),
        }.items()
    ]
    node = helper.make_node(
        "QLinearConv",
        ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"],
        ["y"],
        name="conv",
        kernel_shape=[3, 3],
        **window,
    )
    graph = helper.make_graph(
        [node],
        "qlinear",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, result)],
        initializers,
    )
    _check(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9))


def _check(source: ModelProto) -> None:
    model = onnx.load(source)
    with ir.Context() as context:
        register(context)
        ours = onnx.import_model(model, context)
        pipelines.run(ours, "torq-onnx-to-torq-hl")
        information = onnx_importer.ModelInfo(model)
        stock = information.create_module(context=context)
        onnx_importer.NodeImporter.define_function(information.main_graph, stock.operation).import_all()
        PassManager.parse(_STOCK).run(stock.operation)
        pipelines.run(stock, "builtin.module(convert-linalg-to-torq-hl,canonicalize)")
        expected = _operations(ours)
        assert expected
        assert sorted(map(str, _operations(stock))) == sorted(map(str, expected))
