# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small ONNX models, written down."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT, INT8, UINT8, INT32, BOOL = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
    onnx.TensorProto.INT32,
    onnx.TensorProto.BOOL,
)
CONTRIB = {"domain": "com.microsoft"}

node = helper.make_node
value = helper.make_tensor_value_info


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    constants: Mapping[str, object] | None = None,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    """A model; of the constants, numpy arrays or numpy scalars by name, it has those that a node reads."""
    read = {name for each in nodes for name in each.input}
    initializers = [
        numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items() if name in read
    ]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9, functions=list(functions))


def relu(shape: Sequence[int | str | None] | None = (2, 3), **options) -> onnx.ModelProto:
    """One node without a name."""
    return model([node("Relu", ["x"], ["y"])], [value("x", FLOAT, shape)], [value("y", FLOAT, None)], **options)


def shape_of(info: onnx.ValueInfoProto) -> list[int | str]:
    """The shape that a value says it has; names of dynamic dimensions."""
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in info.type.tensor_type.shape.dim]
