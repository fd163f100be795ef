# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir gets wrong, written so that it gets them right, or refused."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from torq_mlir.errors import ModelError


def avoid(model: onnx.ModelProto) -> None:
    """Rewrites or refuses what torch-mlir would lower to other values, or crash on.

    Args:
      model: with a type for every value; modified.

    Raises:
      ModelError: a node has a form that no rewriting helps. The message names it.
    """
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type == "Gemm":
            _keep_alpha(model.graph, node)
        elif node.op_type == "Unique" and len([name for name in node.output if name]) < 4:
            raise ModelError(f"{node.name} (Unique): only the form with all four outputs can be lowered")


def _keep_alpha(graph: onnx.GraphProto, node: onnx.NodeProto) -> None:
    """Without C, the factor alpha is dropped; a C of zero keeps it."""
    alpha = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "alpha"), 1.0)
    if alpha == 1.0 or (len(node.input) == 3 and node.input[2]):
        return
    types = {value.name: value.type.tensor_type.elem_type for value in (*graph.value_info, *graph.output)}
    dtype = helper.tensor_dtype_to_np_dtype(types[node.output[0]])
    name = f"{node.output[0]}/zero"
    graph.initializer.append(numpy_helper.from_array(np.zeros(1, dtype), name))
    del node.input[2:]
    node.input.append(name)
