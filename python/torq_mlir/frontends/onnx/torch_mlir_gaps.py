# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir gets wrong, written so that it gets them right, or refused."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

from torq_mlir.errors import ModelError

from . import data_movement, decompositions, grid_sampling, resizing, transposed_convolution
from .checks import onnx_opset
from .graph_edits import Rewriting


def avoid(model: onnx.ModelProto) -> None:
    """Rewrites or refuses what torch-mlir would lower to other values, or crash on.

    Args:
      model: with a type for every value, and with its constants; modified.

    Raises:
      ModelError: a node has a form that no rewriting helps. The message names it.
    """
    rewriting = Rewriting(model.graph, onnx_opset(model))
    for node in rewriting:
        if node.domain not in ("", "ai.onnx"):
            continue
        rewrite = _REWRITES.get(node.op_type)
        if rewrite is not None:
            rewrite(rewriting, node)


def _refuse_unique(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    if len([name for name in node.output if name]) < 4:
        raise ModelError(f"{node.name} (Unique): only the form with all four outputs can be lowered")


def _refuse_empty(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A concatenation of nothing but empty tensors ends the process."""
    shape = rewriting.shape(node.output[0])
    axis = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "axis"), 1)
    if shape and shape[axis] == 0:
        raise ModelError(f"{node.name} (Concat): all tensors are empty along dimension {axis}")


def _refuse_zeros(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """To a shape in which zero stands for itself: the size of -1 would be divided by it."""
    allowed = next((attribute.i for attribute in node.attribute if attribute.name == "allowzero"), 0)
    if allowed and 0 in rewriting.shape(node.output[0]):
        raise ModelError(f"{node.name} (Reshape): a result without elements is not supported")


def _refuse_random(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    raise ModelError(f"{node.name} ({node.op_type}): random numbers are not supported")


def _keep_alpha(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Without C, the factor alpha is dropped; a C of zero keeps it."""
    alpha = next((helper.get_attribute_value(a) for a in node.attribute if a.name == "alpha"), 1.0)
    if alpha == 1.0 or (len(node.input) == 3 and node.input[2]):
        return
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(node.output[0]))
    name = rewriting.add_constant(numpy_helper.from_array(np.zeros(1, dtype), f"{node.output[0]}/zero"))
    del node.input[2:]
    node.input.append(name)


_REWRITES: dict[str, Callable[[Rewriting, onnx.NodeProto], None]] = {
    "Bernoulli": _refuse_random,
    "BitShift": decompositions.rewrite_bit_shift,
    "Concat": _refuse_empty,
    "ConvTranspose": transposed_convolution.rewrite,
    "DepthToSpace": data_movement.rewrite_depth_to_space,
    "Det": decompositions.rewrite_determinant,
    "Einsum": decompositions.rewrite_einsum,
    "Gemm": _keep_alpha,
    "GridSample": grid_sampling.rewrite,
    "LSTM": decompositions.refuse_recurrent,
    "LpNormalization": decompositions.rewrite_lp_normalization,
    "MatMul": decompositions.rewrite_matmul,
    "Mod": decompositions.rewrite_modulo,
    "NonMaxSuppression": decompositions.rewrite_suppression,
    "PRelu": decompositions.rewrite_prelu,
    "Pad": data_movement.rewrite_pad,
    "RandomNormal": _refuse_random,
    "RandomNormalLike": _refuse_random,
    "RandomUniform": _refuse_random,
    "RandomUniformLike": _refuse_random,
    "Reciprocal": decompositions.rewrite_reciprocal,
    "Reshape": _refuse_zeros,
    "Resize": resizing.rewrite,
    "Softmax": decompositions.rewrite_softmax,
    "SpaceToDepth": data_movement.rewrite_space_to_depth,
    "Unique": _refuse_unique,
}
