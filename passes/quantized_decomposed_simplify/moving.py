# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantize and dequantize change places with operations that move or pick elements of one tensor."""

from torch_mlir import ir, rewrite

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.rewriting import structured
from torq_mlir.rewriting.contraction import match_grouped_convolution
from torq_mlir.rewriting.patterns import NOT_MINE

from .movements import MOVEMENTS, Movement
from .operations import DEQUANTIZE, QuantizationOp, constant_like, defining_op
from .selections import BROADCASTS, SELECTIONS, Selection

# Wider integers are accumulators and biases, which a contraction takes as they are, broadcast.
_WIDEST_BROADCAST = 16


def _movement(operation: ir.Operation) -> Movement:
    return Selection(operation) if operation.name in SELECTIONS else Movement(operation)


def move_dequantize_down(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`movement(dequantize(x))` becomes `dequantize(movement(x))`, with the channel axis where it is then."""
    movement = _movement(operation)
    dequantize = defining_op(movement.source, DEQUANTIZE)
    if dequantize is None:
        return NOT_MINE
    dequantization = QuantizationOp(dequantize)
    if not movement.moves(dequantization):
        return NOT_MINE
    if operation.name == "linalg.broadcast" and dequantization.storage.width > _WIDEST_BROADCAST:
        return NOT_MINE
    axis, picked = dequantization.axis, None
    if axis is not None and (axis := movement.result_axis(dequantization.axis)) is None:
        return _move_one_channel_down(movement, dequantization, rewriter)
    if axis is not None and movement.picks_along(dequantization.axis):
        picked = [elements.constant_value(parameter) for parameter in dequantization.parameters]
        if any(array is None for array in picked):
            return NOT_MINE
        picked = [movement.picked_parameter(dequantization.axis, array) for array in picked]
    with ir.InsertionPoint(operation), operation.location:
        moved = movement.rebuild(dequantization.input)
        parameters = dequantization.parameters
        if picked is not None:
            parameters = [constant_like(array, old) for array, old in zip(picked, parameters, strict=True)]
        rewriter.replace_op(operation, [dequantization.rebuild(moved, axis, parameters)])
    return None


def _move_one_channel_down(
    movement: Movement, dequantization: QuantizationOp, rewriter: rewrite.PatternRewriter
) -> object:
    """What is left of one channel, without its dimension, is dequantized per tensor."""
    channel = movement.single_index(dequantization.axis)
    parameters = [elements.constant_value(parameter) for parameter in dequantization.parameters]
    if channel is None or any(array is None for array in parameters):
        return NOT_MINE
    with ir.InsertionPoint(movement.operation), movement.operation.location:
        moved = movement.rebuild(dequantization.input)
        scalars = [
            constant_like(array.reshape(-1)[channel].reshape(()), old)
            for array, old in zip(parameters, dequantization.parameters, strict=True)
        ]
        rewriter.replace_op(movement.operation, [dequantization.rebuild_per_tensor(moved, scalars)])
    return None


def move_quantize_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(movement(x))` becomes `movement(quantize(x))`, unless the real values are needed elsewhere."""
    quantization = QuantizationOp(operation)
    source = defining_op(quantization.input, MOVEMENTS + BROADCASTS)
    if source is None or len(list(source.results[0].uses)) != 1 or _belongs_to_convolution(source):
        return NOT_MINE
    movement = _movement(source)
    if _is_moved_dequantize(source.operands[0]):
        return NOT_MINE  # which comes down: halfway, the integers would be in a layout that the model does not have
    axis = quantization.axis
    if axis is not None and (axis := movement.source_axis(axis)) is None:
        return NOT_MINE
    with ir.InsertionPoint(operation):
        quantized = quantization.rebuild(movement.source, axis)
        with source.location:
            rewriter.replace_op(operation, [movement.rebuild(quantized)])
    rewriter.erase_op(source)  # views of the torch dialect are not pure, so nobody else removes them
    return None


def _is_moved_dequantize(value: ir.Value) -> bool:
    """Whether a value is dequantized per tensor, then moved or not."""
    while (movement := defining_op(value, MOVEMENTS)) is not None:
        value = movement.operands[0]
    dequantize = defining_op(value, DEQUANTIZE)
    return dequantize is not None and QuantizationOp(dequantize).axis is None


def _belongs_to_convolution(movement: ir.Operation) -> bool:
    """The result of a grouped convolution has a dimension for the groups; its channels are what is quantized."""
    if movement.name != "tensor.collapse_shape" or isinstance(movement.operands[0].owner, ir.Block):
        return False
    groups = structured.reassociation(movement)
    if len(groups) < 2 or len(groups[1]) == 1:  # of a convolution over one dimension, done as one over two
        return False
    source = movement.operands[0].owner.operation
    return source.name.startswith(("linalg.conv", "linalg.depthwise_conv")) or bool(match_grouped_convolution(source))


def move_elementwise_up(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`f(reshape(x))` becomes `reshape(f(x))` for a function of floats, which keeps it next to what computes x."""
    if len(operation.operands) != 2 or len(operation.results) != 1:
        return NOT_MINE
    reshape = defining_op(operation.operands[0], ("tensor.collapse_shape", "tensor.expand_shape"))
    if reshape is None or len(list(reshape.results[0].uses)) != 1 or _belongs_to_convolution(reshape):
        return NOT_MINE
    source, result = reshape.operands[0], operation.results[0]
    block = operation.regions[0].blocks[0]
    if not isinstance(tensor_types.element_type(source.type), ir.FloatType) or not _is_elementwise(operation, block):
        return NOT_MINE
    with ir.InsertionPoint(operation):
        with operation.location:
            init = structured.empty_like(source, structured.element_type(result))
            computed = structured.build_elementwise([source], init, lambda x: _call(block, x))
        with reshape.location:
            rewriter.replace_op(operation, [Movement(reshape).rebuild(computed)])
    return None


def _is_elementwise(generic: ir.Operation, block: ir.Block) -> bool:
    """Whether an element of the result of a generic of one input comes from the same element of that alone."""
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    identity = ir.AffineMap.get_identity(maps[0].n_dims)
    uses_init = any(True for _ in block.arguments[1].uses)
    indexed = any(inner.operation.name == "linalg.index" for inner in block.operations)
    return maps == [identity, identity] and not uses_init and not indexed


def _call(block: ir.Block, x: ir.Value) -> ir.Value:
    """What the body of such a generic yields for an element, computed at the current insertion point."""
    *operations, terminator = block.operations
    mapping = {block.arguments[0]: x}
    structured.clone_body(operations, mapping)
    yielded = terminator.operation.operands[0]
    return mapping.get(yielded, yielded)


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
