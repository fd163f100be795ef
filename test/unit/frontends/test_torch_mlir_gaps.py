# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir lowers wrongly on its own."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import torq_mlir
from torq_mlir.errors import ModelError


def _model(node, inputs, outputs):
    graph = helper.make_graph([node], "graph", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@pytest.mark.parametrize("attributes", [{"alpha": 2.0}, {"alpha": 0.5, "transB": 1}, {"alpha": 3.0, "beta": 2.0}])
def test_gemm_without_c_keeps_alpha(attributes):
    rng = np.random.default_rng(0)
    shape = (4, 3) if attributes.get("transB") else (3, 4)
    feed = {"x": rng.random((2, 3), np.float32), "w": rng.random(shape, np.float32)}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feed.items()]
    node = helper.make_node("Gemm", ["x", "w"], ["y"], name="gemm", **attributes)
    model = _model(node, values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 4))])
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    (result,) = torq_mlir.compile(model)(**feed)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_unique_with_one_output_is_refused():
    node = helper.make_node("Unique", ["x"], ["y"], name="unique")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (6,))]
    with pytest.raises(ModelError, match=r"unique \(Unique\)"):
        torq_mlir.compile(_model(node, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n",))]))
