# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""raise-onnx-quantization: quantized operators of ONNX and ONNX Runtime to `quantized_decomposed` around float ones."""

from collections.abc import Callable

from torch_mlir import ir, rewrite

from .comparisons import raise_arg_max, raise_clip, raise_max_pool
from .dynamic import raise_dynamic_quantize_linear
from .forms import QOPERATORS
from .integer import raise_conv_integer, raise_matmul_integer
from .linear import raise_dequantize_linear, raise_quantize_linear
from .nodes import Node, is_none, is_onnx
from .packed import raise_matmul_nbits
from .qoperator import raise_qoperator

_OLDEST_INFERRED_OPSET = 17

_RAISE: dict[str, Callable[[Node], ir.Value | list[ir.Value] | None]] = {
    "ArgMax": raise_arg_max,
    "ArgMin": raise_arg_max,
    "Clip": raise_clip,
    "ConvInteger": raise_conv_integer,
    "DequantizeLinear": raise_dequantize_linear,
    "DynamicQuantizeLinear": raise_dynamic_quantize_linear,
    "MatMulInteger": raise_matmul_integer,
    "MatMulNBits": raise_matmul_nbits,
    "MaxPool": raise_max_pool,
    "QuantizeLinear": raise_quantize_linear,
    **dict.fromkeys(QOPERATORS, raise_qoperator),
}


def run(op: ir.Operation) -> None:
    """Raise every quantized node inside `op`; the operations that replace a node have its location."""
    _infer_missing_types(op)
    patterns = rewrite.RewritePatternSet()
    patterns.add("torch.operator", _raise)
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _raise(operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A pattern as MLIR calls it: true for no match."""
    operation = operation.operation
    if not is_onnx(operation):
        return True
    node = Node(operation)
    function = _RAISE.get(node.op_type)
    if function is None:
        return True
    with rewriter.ip, node.location:
        values = function(node)
    if values is None:
        return True
    values = values if isinstance(values, list) else [values]
    rewriter.replace_op(operation, values[: len(operation.results)])  # trailing outputs may be left out
    return False


def _lacks_type(operation: ir.Operation) -> bool:
    """Whether a type is missing; an output that the model leaves out has none either."""
    raised = Node(operation).op_type in _RAISE
    return any(is_none(result.type) and (raised or list(result.uses)) for result in operation.results)


def _infer_missing_types(op: ir.Operation) -> None:
    untyped: list[tuple[ir.Operation, int]] = []
    opset = _OLDEST_INFERRED_OPSET

    def collect(operation: ir.Operation) -> ir.WalkResult:
        nonlocal opset
        if operation.name == "func.func" and "torch.onnx_meta.opset_version" in operation.attributes:
            opset = ir.IntegerAttr(operation.attributes["torch.onnx_meta.opset_version"]).value
        if is_onnx(operation) and _lacks_type(operation):
            untyped.append((operation.operation, opset))
        return ir.WalkResult.ADVANCE

    op.walk(collect, ir.WalkOrder.PRE_ORDER)
    if not untyped:
        return
    from .result_types import infer_result_types  # onnx takes a quarter of a second to import

    for operation, version in untyped:
        with operation.location:
            infer_result_types(Node(operation), version)
