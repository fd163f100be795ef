# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir gets wrong, written so that it gets them right, or refused."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from torq_mlir.errors import ModelError

from . import data_movement, transposed_convolution
from .graph_edits import Rewriting


def avoid(model: onnx.ModelProto) -> None:
    """Rewrites or refuses what torch-mlir would lower to other values, or crash on.

    Args:
      model: with a type for every value, and with its constants; modified.

    Raises:
      ModelError: a node has a form that no rewriting helps. The message names it.
    """
    rewriting = Rewriting(model.graph)
    for node in rewriting:
        if node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type == "Gemm":
            _keep_alpha(rewriting, node)
        elif node.op_type == "ConvTranspose":
            transposed_convolution.rewrite(rewriting, node)
        elif node.op_type == "DepthToSpace":
            data_movement.rewrite_depth_to_space(rewriting, node)
        elif node.op_type == "Pad":
            data_movement.rewrite_pad(rewriting, node)
        elif node.op_type == "Unique" and len([name for name in node.output if name]) < 4:
            raise ModelError(f"{node.name} (Unique): only the form with all four outputs can be lowered")
        elif node.op_type == "Concat":
            _refuse_empty(rewriting, node)
        elif node.op_type == "Det" and len(rewriting.shape(node.input[0])) > 3:
            raise ModelError(f"{node.name} (Det): only matrices and one batch of them can be lowered")


def _refuse_empty(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A concatenation of nothing but empty tensors ends the process."""
    shape = rewriting.shape(node.output[0])
    axis = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "axis"), 1)
    if shape and shape[axis] == 0:
        raise ModelError(f"{node.name} (Concat): all tensors are empty along dimension {axis}")


def _keep_alpha(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Without C, the factor alpha is dropped; a C of zero keeps it."""
    alpha = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "alpha"), 1.0)
    if alpha == 1.0 or (len(node.input) == 3 and node.input[2]):
        return
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(node.output[0]))
    name = rewriting.add_constant(numpy_helper.from_array(np.zeros(1, dtype), f"{node.output[0]}/zero"))
    del node.input[2:]
    node.input.append(name)
