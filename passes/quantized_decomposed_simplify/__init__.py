# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantized-decomposed-simplify: exact rewrites of quantize and dequantize that decide nothing about a backend.

A quantize followed by a dequantize is never removed: the rounding between them is what the model asks for.
"""

from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern, apply_greedily

from . import identities
from .movements import MOVEMENTS, Movement
from .operations import DEQUANTIZE, QUANTIZE, QuantizationOp, defining_op
from .quantizations import cancel_dequantize_quantize, fold_quantized_constant


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`movement(dequantize(x))` becomes `dequantize(movement(x))`, with the channel axis where it is then."""
    movement = Movement(operation)
    dequantize = defining_op(movement.source, DEQUANTIZE)
    if dequantize is None:
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    axis = dequantization.axis
    if axis is not None and (axis := movement.result_axis(axis)) is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), operation.location:
        moved = movement.rebuild(dequantization.input)
        rewriter.replace_op(operation, [dequantization.rebuild(moved, axis)])
    return None


def move_quantize_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(movement(x))` becomes `movement(quantize(x))`, unless the real values are needed elsewhere."""
    quantization = QuantizationOp(operation)
    source = defining_op(quantization.input, MOVEMENTS)
    if source is None or len(list(source.results[0].uses)) != 1 or _belongs_to_convolution(source):
        return NOT_MINE
    movement = Movement(source)
    axis = quantization.axis
    if axis is not None and (axis := movement.source_axis(axis)) is None:
        return NOT_MINE
    with ir.InsertionPoint(operation):
        quantized = quantization.rebuild(movement.source, axis)
        with source.location:
            rewriter.replace_op(operation, [movement.rebuild(quantized)])
    rewriter.erase_op(source)  # views of the torch dialect are not pure, so nobody else removes them
    return None


def _belongs_to_convolution(movement: ir.Operation) -> bool:
    """The result of a grouped convolution has a dimension for the groups; its channels are what is quantized."""
    if movement.name != "tensor.collapse_shape" or isinstance(movement.operands[0].owner, ir.Block):
        return False
    return movement.operands[0].owner.operation.name.startswith(("linalg.conv", "linalg.depthwise_conv"))


def move_constant(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A reshape or permutation of an integer constant is a constant: contractions see their weights directly."""
    movement = Movement(operation)
    if not isinstance(tensor_types.element_type(movement.source.type), ir.IntegerType):
        return NOT_MINE
    constant = elements.constant_value(movement.source)
    if constant is None:
        return NOT_MINE
    with ir.InsertionPoint(operation), movement.source.owner.location:
        moved = movement.rebuild_constant(constant)
        if moved is None:
            return NOT_MINE
        rewriter.replace_op(operation, [moved])
    return None


PATTERNS = (
    *(Pattern(root, fold_quantized_constant, benefit=3) for root in QUANTIZE),
    *(Pattern(root, cancel_dequantize_quantize, benefit=2) for root in QUANTIZE),
    *(Pattern(root, move_quantize_up) for root in QUANTIZE),
    *(Pattern(root, move_constant, benefit=2) for root in MOVEMENTS),
    *(Pattern(root, move_dequantize_down) for root in MOVEMENTS),
    *identities.PATTERNS,
)


def run(op: ir.Operation) -> None:
    """Apply the rewrites inside `op` until none matches; operations without uses are removed on the way."""
    apply_greedily(op, PATTERNS)
