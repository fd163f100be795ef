# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums, means and extrema over dimensions, and positions of extrema."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir.dialects import torq_hl
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.quotient import match_quotient
from torq_mlir.rewriting.reversal import match_reversal
from torq_mlir.rewriting.scalar_body import body_expression, named_extremum
from torq_mlir.rewriting.structured import build_elementwise, reshape

from .requantize import (
    at_quantize,
    check_requantizable,
    check_storage,
    check_sum,
    constant,
    locations_of,
    multiplier,
    requantize,
    result_element,
)

_RESHAPES = "tensor.expand_shape", "tensor.collapse_shape"
_GLOBAL_SUMS = ("linalg.pooling_ndhwc_sum",)
_EXTREMA = {"max": (-math.inf, "reduce_max"), "min": (math.inf, "reduce_min")}
_BITWISE_XOR = 2


@dataclass(frozen=True)
class _Reduction:
    """A reduction of `source` over the dimensions that are not `kept`.

    Attributes:
      name: as torq_hl.reduce has it.
    """

    operation: ir.Operation
    name: str
    source: ir.Value
    kept: list[int]

    @property
    def reduced(self) -> list[int]:
        return [d for d in range(ir.RankedTensorType(self.source.type).rank) if d not in self.kept]

    @property
    def count(self) -> int:
        """Elements that become one."""
        return math.prod(ir.RankedTensorType(self.source.type).shape[d] for d in self.reduced)


@at_quantize
def convert_reduce_mean(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(sum(dequantize(x)) / K)` over some dimensions, which are moved to the end."""
    quotient = match_quotient(clamped.value)
    reduction = None if quotient is None else _match_sum(_untransposed(quotient.dividend))
    if reduction is None:
        return NOT_MINE
    dequantize = match_dequantize(reduction.source)
    if dequantize is None or isinstance(quotient.divisor, np.ndarray):
        raise NoMatch("the input of the mean is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    check_sum(dequantize, reduction.count)
    factor, shift = multiplier(dequantize.scale / (quantize.scale * quotient.divisor))
    low, high = clamped.integer_bounds(quantize)
    shape = ir.RankedTensorType(reduction.source.type).shape
    computing = reduction.operation, *quotient.operations
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *computing):
        values, permutation = dequantize.input, [*reduction.kept, *reduction.reduced]
        if permutation != sorted(permutation):
            values = torq_hl.transpose(values, perm=permutation)
        mean = torq_hl.reduce_mean(
            constant(np.ones(1, np.int8)),
            constant(np.array([-reduction.count * int(dequantize.zero_point), factor], np.int32)),
            reshape(values, [*(shape[d] for d in reduction.kept), reduction.count]),
            input_zp=int(dequantize.zero_point),
            output_zp=int(quantize.zero_point),
            output_min=low,
            output_max=high,
            shift_factor=shift,
            element_type=result_element(quantize),
        )
        rewriter.replace_op(quantize.operation, [reshape(mean, _shape(quantize.operation.results[0]))])
    return None


@at_quantize
def convert_reduce_sum(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(sum(dequantize(x)))` over some dimensions."""
    reduction = _match_sum(clamped.value)
    if reduction is None:
        return NOT_MINE
    dequantize = match_dequantize(reduction.source)
    if dequantize is None:
        raise NoMatch("the input of the sum is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    check_sum(dequantize, reduction.count)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, reduction.operation):
        bias = -reduction.count * int(dequantize.zero_point)
        value = _reduce(dequantize.input, reduction, _rescale(dequantize, quantize, clamped, bias))
        rewriter.replace_op(quantize.operation, [reshape(value, _shape(quantize.operation.results[0]))])
    return None


@at_quantize
def convert_reduce_extremum(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(max or min(dequantize(x)))`, over one dimension after the other as torch-mlir does it.

    An extremum commutes with both: the last reduction gives the result in the parameters of the output.
    """
    steps: list[_Reduction | ir.Operation] = []
    value = clamped.value
    while (step := _match_step(value)) is not None:
        steps.insert(0, step)
        value = step.source if isinstance(step, _Reduction) else step.operands[0]
    reductions = [step for step in steps if isinstance(step, _Reduction)]
    if not reductions:
        return NOT_MINE
    dequantize = match_dequantize(value)
    if dequantize is None:
        raise NoMatch("the input of the extremum is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    if any(step.count == 0 for step in reductions):
        raise NoMatch("an extremum of nothing has no integer")
    effective = [step for step in reductions if step.count > 1]
    with (
        ir.InsertionPoint(quantize.operation),
        locations_of([], clamped, quantize, *(step.operation for step in reductions)),
    ):
        value = dequantize.input if effective else requantize(dequantize, quantize, clamped)
        for step in steps:
            if step in effective:
                last = step is effective[-1]
                rescale = _rescale(dequantize, quantize, clamped, -int(dequantize.zero_point)) if last else None
                value = _reduce(value, step, rescale)
            else:
                operation = step.operation if isinstance(step, _Reduction) else step
                value = reshape(value, _shape(operation.results[0]))
        rewriter.replace_op(quantize.operation, [reshape(value, _shape(quantize.operation.results[0]))])
    return None


def convert_argmax(operation: ir.Operation, rewriter) -> object:
    """The position of the greatest or the least dequantized value: dequantization keeps the order of the integers."""
    if len(operation.results) != 2 or len(operation.operands) != 3:
        return NOT_MINE
    reduction = _match_extremum(operation.results[0])
    if reduction is None or not _gives_position(operation, reduction):
        return NOT_MINE
    if reduction.count == 0:
        raise NoMatch("an extremum of nothing has no position")
    reversed_ = match_reversal(reduction.source)
    source = reduction.source if reversed_ is None else reversed_.source
    dequantize = match_dequantize(source)
    integers = source if dequantize is None else dequantize.input
    _check_order(integers, dequantize)
    if any(True for _ in operation.results[0].uses):
        raise NoMatch("the extremum is used in float besides its position")
    (axis,) = reduction.reduced
    with ir.InsertionPoint(operation), operation.location:
        if reversed_ is not None:
            integers = reversed_.build(integers)
        if reduction.name == "reduce_min":  # x -> -1 - x
            minus_one = constant(np.full([1] * ir.RankedTensorType(integers.type).rank, -1, _dtype(integers)))
            integers = torq_hl.elementwisebinary(integers, minus_one, op_type=_BITWISE_XOR)
        position = torq_hl.argmax(constant(np.array([0, 1], np.int32)), integers, axis=axis)
        result = ir.RankedTensorType(operation.results[1].type)
        wide = build_elementwise(
            [position],
            tensor.empty(result.shape, result.element_type),
            lambda value: arith.extsi(result.element_type, value),
        )
        rewriter.replace_op(operation, [operation.operands[1], wide])
    return None


def _check_order(integers: ir.Value, dequantize: Dequantize | None) -> None:
    """Refuses integers whose order is not that of what they stand for."""
    element = ir.RankedTensorType(integers.type).element_type
    if not isinstance(element, ir.IntegerType) or element.width not in (8, 16):
        raise NoMatch("the input of the extremum is not dequantized with constant parameters")
    if dequantize is None:
        return
    if not dequantize.per_tensor or dequantize.unsigned:
        raise NoMatch("the input of the extremum is not signed with one scale")
    farthest = float(dequantize.scale) * (1 << element.width)
    if not 0 < farthest <= np.finfo(np.float32).max:
        raise NoMatch(f"the scale {float(dequantize.scale)} makes different integers equal")


def _gives_position(generic: ir.Operation, reduction: _Reduction) -> bool:
    """Whether the second result is the index of what replaced the extremum last, from 0 on."""
    if match_initial_value(generic.operands[2]) is None or match_initial_value(generic.operands[2]).bias != 0:
        return False
    kinds = ("ogt", "ugt", "sgt") if reduction.name == "reduce_max" else ("olt", "ult", "slt")
    match body_expression(generic, 1):
        case ("arith.select", ("arith.cmpf" | "arith.cmpi", kind, ("arg", 0), ("arg", 1)), position, ("arg", 2)):
            if len(reduction.reduced) != 1 or kind not in kinds:
                return False
            if reduction.count == 1 and position == ("const", 0):
                return True
            return position == ("arith.index_cast", ("index", reduction.reduced[0]))
    return False


def _reduce(value: ir.Value, reduction: _Reduction, rescale: dict | None) -> ir.Value:
    """The reduction over one dimension: neighbours become one, others move to the end; size 1 falls away."""
    shape = _shape(reduction.source)
    reduced = [d for d in reduction.reduced if shape[d] > 1]
    kept = [shape[d] for d in reduction.kept]
    between = [d for d in reduction.kept if reduced and reduced[0] < d < reduced[-1]]
    if between:
        value = torq_hl.transpose(value, perm=[*reduction.kept, *reduction.reduced])
    axis = len(kept) if between or not reduced else sum(d < reduced[0] for d in reduction.kept)
    value = reshape(value, [*kept[:axis], reduction.count, *kept[axis:]])
    if rescale is None:
        width = ir.RankedTensorType(value.type).element_type.width
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
        rescale = {"pair": [0, 1], "output_zp": 0, "output_min": low, "output_max": high, "shift_factor": 0}
    pair = constant(np.array(rescale["pair"], np.int32))
    attributes = {name: value for name, value in rescale.items() if name != "pair"}
    result = torq_hl.reduce(constant(np.ones(1, np.int8)), pair, value, name=reduction.name, axis=axis, **attributes)
    return reshape(result, _shape(reduction.operation.results[0]))


def _rescale(dequantize: Dequantize, quantize: Quantize, clamped: Clamped, bias: int) -> dict:
    """Bias and multiplier, and the attributes of the output."""
    factor, shift = multiplier(dequantize.scale / quantize.scale)
    low, high = clamped.integer_bounds(quantize)
    return {
        "pair": [bias, factor],
        "output_zp": int(quantize.zero_point),
        "output_min": low,
        "output_max": high,
        "shift_factor": shift,
        "element_type": result_element(quantize),
    }


def _match_step(value: ir.Value) -> _Reduction | ir.Operation | None:
    """One extremum, or a reshape between two."""
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name in _RESHAPES:
        return value.owner.operation
    return _match_extremum(value)


def _match_extremum(value: ir.Value) -> _Reduction | None:
    """A maximum or minimum over some loops of a generic, which may give positions besides."""
    generic = _generic(value)
    if generic is None or len(generic.operands) != len(generic.results) + 1:
        return None
    match named_extremum(body_expression(generic, ir.OpResult(value).result_number)):
        case (kind, ("arg", 0), ("arg", 1)) | (kind, ("arg", 1), ("arg", 0)) if kind in _EXTREMA:
            neutral, name = _EXTREMA[kind]
        case _:
            return None
    if ir.OpResult(value).result_number != 0:
        return None
    initial = match_initial_value(generic.operands[1])
    element = ir.RankedTensorType(value.type).element_type
    if isinstance(element, ir.IntegerType):
        neutral = -(1 << (element.width - 1)) if kind == "max" else (1 << (element.width - 1)) - 1
    if initial is None or initial.bias != neutral:
        raise NoMatch("the extremum starts from another value than its neutral one")
    return _over_loops(generic, name)


def _match_sum(value: ir.Value) -> _Reduction | None:
    """A sum from zero over some loops."""
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name in _GLOBAL_SUMS:
        return _match_global_sum(value.owner.operation)
    generic = _generic(value)
    if generic is None or len(generic.operands) != 2:
        return None
    match body_expression(generic, 0):
        case ("arith.addf", ("arg", 0), ("arg", 1)) | ("arith.addf", ("arg", 1), ("arg", 0)):
            pass
        case _:
            return None
    initial = match_initial_value(generic.operands[1])
    if initial is None or initial.bias != 0:
        raise NoMatch("the sum does not start from zero")
    return _over_loops(generic, "reduce_sum")


def _match_global_sum(pooling: ir.Operation) -> _Reduction | None:
    """A pooling of volumes whose window is the volume."""
    source, window = pooling.operands[0], pooling.operands[1]
    initial = match_initial_value(pooling.operands[2])
    if _shape(source)[1:-1] != _shape(window) or initial is None or initial.bias != 0:
        return None
    return _Reduction(pooling, "reduce_sum", source, [0, ir.RankedTensorType(source.type).rank - 1])


def _over_loops(generic: ir.Operation, name: str) -> _Reduction | None:
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    kept = [e.position for e in maps[1].results if isinstance(e, ir.AffineDimExpr)]
    if maps[0] != ir.AffineMap.get_identity(maps[0].n_dims) or kept != sorted(kept):
        return None
    return _Reduction(generic, name, generic.operands[0], kept)


def _untransposed(value: ir.Value) -> ir.Value:
    """What a transposition moves that is no more than a reshape: it keeps the order of dimensions above size 1."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.transpose":
        return value
    transpose = value.owner.operation
    shape = _shape(transpose.operands[0])
    moved = [d for d in ir.DenseI64ArrayAttr(transpose.attributes["permutation"]) if shape[d] > 1]
    return transpose.operands[0] if moved == sorted(moved) else value


def _generic(value: ir.Value) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    return value.owner.operation


def _shape(value: ir.Value) -> Sequence[int]:
    return ir.RankedTensorType(value.type).shape


def _dtype(value: ir.Value) -> np.dtype:
    return np.dtype(f"int{ir.RankedTensorType(value.type).element_type.width}")
