# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Zero points of activations that are known at run time, taken out of a product with constant weights.

sum (x - zx) (w - zw)  =  sum x (w - zw)  -  zx sum (w - zw)          modulo 2^32, as both sides are computed
"""

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import PARALLEL, REDUCTION, build_elementwise, build_generic, projection

_EXTENSIONS = ("arith.extsi", "arith.extui")


def without_zero_points(operation: ir.Operation) -> None:
    """A linalg.quantized_matmul with zero points of 0 becomes a linalg.generic; others stay as they are."""
    x, w, *zero_points, init = operation.operands
    constants = [elements.constant_value(each) for each in zero_points]
    if any(each is None or each.any() for each in constants):
        return
    maps = [projection(3, dimensions) for dimensions in ([0, 2], [2, 1], [0, 1])]

    def body(x: ir.Value, w: ir.Value, total: ir.Value) -> ir.Value:
        return arith.addi(total, arith.muli(arith.extsi(total.type, x), arith.extsi(total.type, w)))

    with ir.InsertionPoint(operation), operation.location:
        product = build_generic([x, w], init, maps, [PARALLEL, PARALLEL, REDUCTION], body)
    operation.results[0].replace_all_uses_with(product)
    operation.erase()


def take_out_zero_point(operation: ir.Operation) -> None:
    """Rewrites a linalg.generic that sums products of 8-bit differences; others stay as they are."""
    found = _match(operation)
    if found is None:
        return
    difference, sums = found
    zero_point = difference.operands[1]
    extended = difference.results[0]
    extended.replace_all_uses_with(difference.operands[0])
    difference.erase()
    result = operation.results[0]
    users = [(use.owner.operation, use.operand_number) for use in result.uses]
    with ir.InsertionPoint.after(operation), operation.location:
        constant = arith.constant(None, elements.from_numpy(sums))
        empty = tensor.empty(result.type.shape, result.type.element_type)

        def correct(total: ir.Value, total_of_weights: ir.Value) -> ir.Value:
            return arith.subi(total, arith.muli(zero_point, total_of_weights))

        corrected = build_elementwise([result, constant], empty, correct)
    for user, number in users:
        user.operands[number] = corrected


def _match(operation: ir.Operation) -> tuple[ir.Operation, np.ndarray] | None:
    """The subtraction of the zero point, and the sums of the weights."""
    if len(operation.operands) != 3 or len(operation.results) != 1 or not operation.results[0].type.has_static_shape:
        return None
    block = operation.regions[0].blocks[0]
    subtractions = [each.operation for each in block.operations if each.operation.name == "arith.subi"]
    mine = [each for each in subtractions if _extends(each.operands[0], block.arguments[0])]
    others = [each for each in subtractions if each not in mine]
    weights = elements.constant_value(operation.operands[1])
    if len(mine) != 1 or len(others) > 1 or weights is None or not _is_sum_of_products(block):
        return None
    if not _is_outside(mine[0].operands[1], block):
        return None
    maps = [ir.AffineMapAttr(each).value for each in operation.attributes["indexing_maps"]]
    positions = [[getattr(each, "position", None) for each in m.results] for m in maps]
    kinds = ["reduction" in str(each) for each in operation.attributes["iterator_types"]]
    inner = [d for d, reduces in enumerate(kinds) if reduces]
    if len(inner) != 1 or None in positions[1] or inner[0] not in positions[1] or positions[1][-2:] == []:
        return None
    kept = [position for position in positions[1] if position != inner[0]]
    if len(kept) != 1 or len(positions[1]) != 2 or positions[2][-1] != kept[0]:
        return None
    values = _weights(weights, block, others)
    return None if values is None else (mine[0], values.sum(positions[1].index(inner[0]), dtype=np.int32))


def _weights(weights: np.ndarray, block: ir.Block, subtractions: list[ir.Operation]) -> np.ndarray | None:
    """As they are multiplied."""
    extensions = [each.operation for each in block.operations if each.operation.name in _EXTENSIONS]
    own = [each for each in extensions if each.operands[0] == block.arguments[1]]
    if weights.dtype != np.int8 or len(own) != 1:
        return None
    values = (weights.view(np.uint8) if own[0].name == "arith.extui" else weights).astype(np.int32)
    for each in subtractions:
        zero_point = each.operands[1].owner
        if isinstance(zero_point, ir.Block) or zero_point.operation.name != "arith.constant":
            return None
        values = values - ir.IntegerAttr(zero_point.operation.attributes["value"]).value
    return values


def _is_sum_of_products(block: ir.Block) -> bool:
    names = sorted(each.operation.name for each in block.operations if each.operation.name not in _EXTENSIONS)
    total = block.operations[len(block.operations) - 1].operation.operands[0]
    is_sum = not isinstance(total.owner, ir.Block) and total.owner.operation.name == "arith.addi"
    rest = [name for name in names if name != "arith.subi"]
    return (
        is_sum
        and block.arguments[2] in list(total.owner.operation.operands)
        and rest
        == [
            "arith.addi",
            "arith.muli",
            "linalg.yield",
        ]
    )


def _extends(value: ir.Value, argument: ir.Value) -> bool:
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name in _EXTENSIONS
        and owner.operation.operands[0] == argument
    )


def _is_outside(value: ir.Value, block: ir.Block) -> bool:
    owner = value.owner
    return (isinstance(owner, ir.Block) and owner != block) or (
        not isinstance(owner, ir.Block) and owner.operation.block != block
    )
