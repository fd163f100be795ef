# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading at computed positions: gathers, resizes to nearest neighbours, slices backwards, on the integers."""

import math

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.gather import Gather, match_gather, read_tensor
from torq_mlir.rewriting.movement_region import along_dimensions, match_region, moved_elements
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.structured import element_type, reshape

from .movement_builders import MOST_INDICES, arrange, dequantized_from, pick, shape_of, transpose
from .requantize import at_quantize, check_requantizable, check_storage, constant, locations_of, requantize


@at_quantize
def convert_moved(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(f(dequantize(x)))` where f only moves elements: the integers are moved, then requantized."""
    region = match_region(clamped.value, dequantized_from)
    if region is None:
        return NOT_MINE
    dequantize = match_dequantize(region.starts[0])
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    numbers = moved_elements(region, region.compile())
    if numbers is None:
        return NOT_MINE
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *region.operations):
        moved = _move(region.source, numbers)
        parameters = Dequantize(dequantize.operation, moved, dequantize.scale, dequantize.zero_point, None, False)
        rewriter.replace_op(quantize.operation, [requantize(parameters, quantize, clamped)])
    return None


def convert_moved_integers(generic: ir.Operation, rewriter) -> object:
    """A generic that reads stored integers at positions that it computes."""
    if not _is_stored(generic):
        return NOT_MINE
    source = read_tensor(generic)
    region = None if source is None else match_region(generic.results[0], lambda v: v if v == source else None)
    numbers = None if region is None else moved_elements(region, region.compile())
    if numbers is None:
        return NOT_MINE
    with ir.InsertionPoint(generic), generic.location:
        rewriter.replace_op(generic, [_move(source, numbers)])
    return None


@at_quantize
def convert_gather(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(rows of dequantize(x), by numbers known at run time)`."""
    owner = clamped.value.owner
    source = None if isinstance(owner, ir.Block) else read_tensor(owner.operation)
    dequantize = None if source is None else match_dequantize(source)
    gather = None if dequantize is None else match_gather(owner.operation)
    if gather is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, owner.operation):
        picked = _build_gather(gather, dequantize.input, shape_of(clamped.value))
        parameters = Dequantize(dequantize.operation, picked, dequantize.scale, dequantize.zero_point, None, False)
        rewriter.replace_op(quantize.operation, [requantize(parameters, quantize, clamped)])
    return None


def convert_integer_gather(generic: ir.Operation, rewriter) -> object:
    """Rows of stored integers, by numbers known at run time."""
    gather = match_gather(generic) if _is_stored(generic) and read_tensor(generic) is not None else None
    if gather is None:
        return NOT_MINE
    with ir.InsertionPoint(generic), generic.location:
        rewriter.replace_op(generic, [_build_gather(gather, read_tensor(generic), shape_of(generic.results[0]))])
    return None


def _is_stored(generic: ir.Operation) -> bool:
    element = element_type(generic.results[0]) if len(generic.results) == 1 else None
    return isinstance(element, ir.IntegerType) and element.width in (8, 16)


def _move(value: ir.Value, numbers: np.ndarray) -> ir.Value:
    """The elements of `value` by their numbers, dimension by dimension if possible."""
    shape = list(numbers.shape)
    found = along_dimensions(numbers, tuple(shape_of(value)))
    if found is not None:
        picked = pick(value, [positions for _, positions in found])
        return arrange(picked, [() if axis is None else (axis,) for axis, _ in found], shape)
    if numbers.size > MOST_INDICES:
        raise NoMatch("the elements are moved one by one, and are too many for a gather")
    return torq_hl.gather(reshape(value, [math.prod(shape_of(value))]), constant(numbers.astype(np.int32)))


def _build_gather(gather: Gather, value: ir.Value, shape: list[int]) -> ir.Value:
    rest = [d for d in range(len(gather.loops)) if d != gather.dimension]
    picked = torq_hl.gather(transpose(value, [gather.dimension, *rest]), gather.indices)
    return arrange(
        picked, [*((loop,) for loop in gather.loops[gather.dimension]), *(gather.loops[d] for d in rest)], shape
    )
