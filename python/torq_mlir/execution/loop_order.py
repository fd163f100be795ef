# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions with a parallel loop innermost, which LLVM vectorizes.

A sum over the innermost loops is a chain of scalar additions. With a parallel loop inside that runs over contiguous
elements it becomes vector additions. The order in which each element is summed stays as it is, so that floating-point
results do not change. Where the loop over output channels serves, constant weights and the result are transposed:

    y[n, o, y, x] += s[n, c, y + i, x + j] * w[o, c, i, j]        loops n, o, y, x, c, i, j
    y'[n, y, x, o] += s[n, c, y + i, x + j] * w'[c, i, j, o]      loops n, y, c, i, j, x, o
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import elements

# Shorter loops do not fill a vector.
_SHORTEST = 8
# LLVM unrolls loops over fewer channels before it would vectorize them.
_FEWEST_CHANNELS = 17


def move_parallel_loops_inside(module: ir.Module) -> None:
    """Reorders the loops of every linalg.generic on tensors that reduces, has one result, and gains by it."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "linalg.generic" and len(operation.results) == 1:
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in found:
        reduction = _Reduction(operation)
        if not reduction.reductions or _has_index(operation):
            continue
        channel = _output_channel(reduction)
        if channel is not None:
            _make_channel_innermost(reduction, channel)
            continue
        loop = _contiguous_loop(reduction)
        if loop is not None:
            reduction.interchange([*_without(reduction.parallel, loop), *reduction.reductions, loop])


class _Reduction:
    """The loops of a linalg.generic with one result."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.maps = [ir.AffineMapAttr(attribute).value for attribute in operation.attributes["indexing_maps"]]
        self.iterators = list(operation.attributes["iterator_types"])
        kinds = [str(iterator) for iterator in self.iterators]
        self.parallel = [d for d, kind in enumerate(kinds) if "parallel" in kind]
        self.reductions = [d for d, kind in enumerate(kinds) if "reduction" in kind]

    def extent(self, loop: int) -> int:
        """Trip count of a loop; 0 where it is not known."""
        for value, indexing in zip(self.operation.operands, self.maps, strict=True):
            for dimension, result in enumerate(indexing.results):
                if _loop(result) == loop and not value.type.is_dynamic_dim(dimension):
                    return value.type.shape[dimension]
        return 0

    def permute_dimensions(self, operand: int, permutation: Sequence[int]) -> None:
        """Adapts the map of an operand to its transposition: dimension d of the new one was `permutation[d]`."""
        self.maps[operand] = _permuted(self.maps[operand], permutation)

    def interchange(self, order: Sequence[int]) -> None:
        """Writes the maps and iterators with loop `order[k]` as the k-th."""
        rank = len(order)
        position = [ir.AffineExpr.get_dim(order.index(loop)) for loop in range(rank)]
        renaming = ir.AffineMap.get(rank, 0, position)
        maps = [ir.AffineMap.get(rank, 0, [each.compose(renaming) for each in m.results]) for m in self.maps]
        self.operation.attributes["indexing_maps"] = _map_attributes(maps)
        self.operation.attributes["iterator_types"] = ir.ArrayAttr.get([self.iterators[loop] for loop in order])


def _output_channel(reduction: _Reduction) -> int | None:
    """A parallel loop over the second input and the result alone, contiguous in that input or to be made so."""
    if len(reduction.maps) < 3 or not all(_loop(each) is not None for each in reduction.maps[-1].results):
        return None
    source, weights, *others = reduction.maps[:-1]
    weight_loops = [_loop(each) for each in weights.results]
    constant = _is_transposable_constant(reduction.operation.operands[1])
    for loop in reduction.parallel:
        if loop not in weight_loops or any(_coefficient(e, loop) != 0 for m in (source, *others) for e in m.results):
            continue
        if reduction.extent(loop) >= _FEWEST_CHANNELS and (constant or weight_loops[-1] == loop):
            return loop
    return None


def _contiguous_loop(reduction: _Reduction) -> int | None:
    """The loop over the innermost dimension of the result, if the first input is contiguous along it too."""
    source, *_, result = reduction.maps
    if not source.results or not result.results:
        return None
    loop = _loop(result.results[-1])
    if loop is None or reduction.extent(loop) < _SHORTEST or _coefficient(source.results[-1], loop) != 1:
        return None
    return loop


def _make_channel_innermost(reduction: _Reduction, channel: int) -> None:
    operation = reduction.operation
    with ir.InsertionPoint(operation), operation.location:
        permutation = _moved_last(reduction.maps[1], channel)
        if permutation != sorted(permutation):
            operation.operands[1] = _transposed_constant(operation.operands[1], permutation)
            reduction.permute_dimensions(1, permutation)
        permutation = _moved_last(reduction.maps[-1], channel)
        if permutation != sorted(permutation):
            _transpose_result(operation, permutation)
            reduction.permute_dimensions(-1, permutation)
    # Inside of the reductions is one more parallel loop: a row of sums stays in the cache.
    outer = _without(reduction.parallel, channel)
    reduction.interchange([*outer[:-1], *reduction.reductions, *outer[-1:], channel])


def _transpose_result(operation: ir.Operation, permutation: Sequence[int]) -> None:
    """Transposes what `operation` is given to accumulate into, and makes its users expect the result so."""
    result, last = operation.results[0], len(operation.operands) - 1
    uses = [(use.owner.operation, use.operand_number) for use in result.uses]
    operation.operands[last] = _transposed(operation.operands[last], permutation)
    original_type = result.type
    result.set_type(operation.operands[last].type)
    original = None
    for user, number in uses:
        if user.name == "linalg.generic" and number < len(user.operands) - 1:
            maps = [ir.AffineMapAttr(attribute).value for attribute in user.attributes["indexing_maps"]]
            maps[number] = _permuted(maps[number], permutation)
            user.attributes["indexing_maps"] = _map_attributes(maps)
            continue
        if original is None:
            with ir.InsertionPoint.after(operation):
                original = _transposed(result, [list(permutation).index(d) for d in range(len(permutation))])
                assert original.type == original_type
        user.operands[number] = original


def _transposed(value: ir.Value, permutation: Sequence[int]) -> ir.Value:
    """The transposition of a tensor; the constant of a linalg.fill has no order to change."""
    shape = [value.type.shape[d] for d in permutation]
    sizes = [
        size if size >= 0 else tensor.dim(value, arith.constant(ir.IndexType.get(), d))
        for size, d in zip(shape, permutation, strict=True)
    ]
    empty = tensor.empty(sizes, value.type.element_type)
    filled = _fill_value(value)
    if filled is not None:
        return linalg.fill(filled, outs=[empty])
    return linalg.transpose(value, outs=[empty], permutation=list(permutation)).operation.results[0]


def _fill_value(value: ir.Value) -> ir.Value | None:
    """The scalar that every element of `value` is."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "linalg.generic":
        return None
    generic = value.owner.operation
    block = generic.regions[0].blocks[0]
    yielded = block.operations[0].operands
    is_fill = len(block.operations) == 1 and list(yielded) == [block.arguments[0]] and len(generic.operands) == 2
    return generic.operands[0] if is_fill and not isinstance(generic.operands[0].type, ir.ShapedType) else None


def _is_transposable_constant(value: ir.Value) -> bool:
    """Whether `value` is a constant whose elements take whole bytes; others are not built from arrays."""
    element = value.type.element_type if isinstance(value.type, ir.RankedTensorType) else value.type
    is_narrow = isinstance(element, ir.IntegerType) and element.width < 8
    return not is_narrow and elements.constant_value(value) is not None


def _transposed_constant(value: ir.Value, permutation: Sequence[int]) -> ir.Value:
    transposed = np.ascontiguousarray(elements.constant_value(value).transpose(permutation))
    return arith.constant(None, elements.from_numpy(transposed, value.type.element_type))


def _has_index(operation: ir.Operation) -> bool:
    return any(nested.operation.name == "linalg.index" for nested in operation.regions[0].blocks[0].operations)


def _moved_last(indexing: ir.AffineMap, loop: int) -> list[int]:
    """Dimensions of an operand, the one over `loop` moved to the end."""
    dimension = [_loop(each) for each in indexing.results].index(loop)
    return [*_without(range(len(indexing.results)), dimension), dimension]


def _permuted(indexing: ir.AffineMap, permutation: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(indexing.n_dims, 0, [indexing.results[d] for d in permutation])


def _map_attributes(maps: Sequence[ir.AffineMap]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])


def _without(values: Sequence[int], excluded: int) -> list[int]:
    return [value for value in values if value != excluded]


def _loop(expression: ir.AffineExpr) -> int | None:
    """The loop that an index expression is, if it is nothing else."""
    return expression.position if isinstance(expression, ir.AffineDimExpr) else None


def _coefficient(expression: ir.AffineExpr, loop: int) -> int | None:
    """How much the expression grows from one iteration of `loop` to the next; None if that varies."""
    match expression:
        case ir.AffineDimExpr():
            return int(expression.position == loop)
        case ir.AffineConstantExpr():
            return 0
        case ir.AffineAddExpr():
            terms = [_coefficient(operand, loop) for operand in (expression.lhs, expression.rhs)]
            return None if None in terms else sum(terms)
        case ir.AffineMulExpr() if isinstance(expression.rhs, ir.AffineConstantExpr):
            factor = _coefficient(expression.lhs, loop)
            return None if factor is None else factor * expression.rhs.value
    return None
