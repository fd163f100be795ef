# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir does not have, as the functions of other operators that ONNX defines them as."""

from collections.abc import Mapping

import onnx
from onnx import FunctionProto, TypeProto, defs

from . import subgraphs

_EXPANDED = frozenset(
    {"AffineGrid", "Attention", "CausalConvWithState", "CenterCropPad", "LinearAttention", "MeanVarianceNormalization"}
    | {"NegativeLogLikelihoodLoss", "RMSNormalization", "RotaryEmbedding", "SoftmaxCrossEntropyLoss", "SwiGLU", "Swish"}
)
_PREVIEW = {"ai.onnx.preview": frozenset({"FlexAttention"})}


def is_expanded(node: onnx.NodeProto) -> bool:
    """Whether an operator is replaced by what it is defined as."""
    if node.op_type == "Gelu":  # whose approximation has another constant in torch-mlir
        return any(each.name == "approximate" and each.s == b"tanh" for each in node.attribute)
    return node.op_type in (_EXPANDED if not node.domain else _PREVIEW.get(node.domain, ()))


def body(
    node: onnx.NodeProto, types: Mapping[str, TypeProto], versions: Mapping[str, int]
) -> list[onnx.NodeProto] | None:
    """The nodes that compute what an operator does, under names of their own.

    Args:
      types: of values, as far as they are known.
      versions: of the operator sets of the model, by domain.

    Returns:
      None where there is no definition for these types and versions.
    """
    version = versions.get(node.domain)
    if version is None or not defs.has(node.op_type, version, node.domain):
        return None
    schema = defs.get_schema(node.op_type, version, node.domain)
    function = _function(schema, node, types, versions.get("", 0))
    if function is None:
        return None
    attributes = {name: each.default_value for name, each in schema.attributes.items() if each.default_value.name}
    attributes |= {each.name: each for each in node.attribute}
    inputs = [*node.input, *[""] * (len(function.input) - len(node.input))]
    bindings = dict(zip(function.input, inputs, strict=False))
    bindings |= {name: given for name, given in zip(function.output, node.output, strict=False) if given}
    return list(subgraphs.inlined(function.node, bindings, node.name, node, attributes))


def _function(
    schema: defs.OpSchema, node: onnx.NodeProto, types: Mapping[str, TypeProto], opset: int
) -> FunctionProto | None:
    """The definition for the latest operator set that the model has all of."""
    fixed = [version for version in schema.function_opset_versions if version <= opset]
    if fixed:
        return FunctionProto.FromString(schema.get_function_with_opset_version(max(fixed)))
    typed = [version for version in schema.context_dependent_function_opset_versions if version <= opset]
    if not typed or any(name and name not in types for name in node.input):
        return None
    operands = [types[name].SerializeToString() if name else b"" for name in node.input]
    text = schema.get_context_dependent_function_with_opset_version(max(typed), node.SerializeToString(), operands)
    return FunctionProto.FromString(text) if text else None
