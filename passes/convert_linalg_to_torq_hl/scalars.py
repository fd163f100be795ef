# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that a computation takes out of tensors become operands of it, as its other inputs are."""

from torch_mlir import ir
from torch_mlir.dialects import linalg

from torq_mlir.rewriting.patterns import NOT_MINE
from torq_mlir.rewriting.structured import clone_body


def take_in_number(generic: ir.Operation, rewriter) -> object:
    """A generic whose body extracts the element of a tensor of one element from outside reads it as an operand."""
    if len(generic.results) != 1:
        return NOT_MINE
    block = generic.regions[0].blocks[0]
    inner = [nested.operation for nested in block.operations]
    extract = next((nested for nested in inner if nested.name == "tensor.extract" and _is_outer(nested, block)), None)
    if extract is None:
        return NOT_MINE
    source, inputs = extract.operands[0], list(generic.operands)[:-1]
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    still = [ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(source.type).rank
    maps.insert(len(inputs), ir.AffineMap.get(maps[0].n_dims, 0, still))
    with ir.InsertionPoint(generic), generic.location:
        map_attributes = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        iterators = generic.attributes["iterator_types"]
        init = generic.operands[len(inputs)]
        rebuilt = linalg.GenericOp([init.type], [*inputs, source], [init], map_attributes, iterators)
        types = [argument.type for argument in block.arguments]
        types.insert(len(inputs), extract.results[0].type)
        new = rebuilt.regions[0].blocks.append(*types)
        arguments = list(new.arguments)
        mapping = {extract.results[0]: arguments.pop(len(inputs))}
        mapping |= dict(zip(block.arguments, arguments, strict=True))
        with ir.InsertionPoint(new):
            clone_body([nested for nested in inner if nested != extract], mapping)
        rewriter.replace_op(generic, [rebuilt.operation.results[0]])
    return None


def _is_outer(extract: ir.Operation, block: ir.Block) -> bool:
    source = extract.operands[0]
    inside = source.owner == block if isinstance(source.owner, ir.Block) else source.owner.operation.block == block
    type_ = ir.RankedTensorType(source.type)
    return not inside and type_.has_static_shape and all(size == 1 for size in type_.shape)
