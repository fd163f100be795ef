# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matrix product of weights that are quantized in groups along the summed dimension.

The weights stay as they are stored, two of 4 bits in a byte, and are taken apart in the body of the loops:

    activations in float        result += (sum x * (w - zw)) * sw                         for each group
    activations of 8 bits       result += (sum x * (w - zw) - zx * sum (w - zw)) * sw     for each group, in integers

Where a scale is not a factor of a sum, because products with it are rounded to another type or it is not constant:

    activations in float        result += x * ((w - zw) * sw)                             for each element
"""

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith, linalg, math, scf, tensor

from torq_mlir.dialects import elements
from torq_mlir.numerics.zero_points import INT32_MAX
from torq_mlir.rewriting.contraction import Contraction
from torq_mlir.rewriting.group_generics import group_dequantization
from torq_mlir.rewriting.grouped_weights import GroupedWeights, match_grouped_weights
from torq_mlir.rewriting.integer_chain import IntegerChain
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch, record_refusal
from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_generic,
    element_type,
    empty_like,
    extend,
    index_constant,
    integer_to_float,
    integer_type,
    scalar_constant,
    sizes,
)

from .elementwise import Operands, initial_value, starts_at_zero
from .run_time_parameters import REACH, match_dequantized_input, row_map

_REFUSAL = "the weights are quantized in groups"


def contract(
    contraction: Contraction, rewriter: rewrite.PatternRewriter, explain: bool, reasons: Sequence[str] = ()
) -> object:
    """A pattern for contractions of floats.

    Args:
      explain: record on the operations why the NPU does not take them.
      reasons: why there is no form on integers; weights per channel are multiplied in float then.
    """
    operation = contraction.operation
    input = match_dequantized_input(contraction)
    weights = match_grouped_weights(contraction, per_channel=False)
    if weights is None and (input is None or reasons):
        input, weights = None, match_grouped_weights(contraction, per_channel=True)
    if weights is None:
        return NOT_MINE
    depth = _summed_dimension(contraction)
    with ir.InsertionPoint(operation), operation.location:
        if input is not None and _computes_on_integers(contraction, input, weights):
            result = _on_integers(contraction, input, weights, depth, explain)
        else:
            in_float = _sums_in_float if _is_scaled_by_group(weights) else _in_float
            result = in_float(contraction, weights, depth, (reasons[-1] if reasons else _REFUSAL) if explain else None)
    rewriter.replace_op(operation, [result])
    return None


def _summed_dimension(contraction: Contraction) -> int:
    """The dimension of the input that is summed over; the others are dimensions of the result."""
    rows, columns = contraction.dims(0), contraction.dims(2)
    summed = [d for d, loop in enumerate(rows) if loop not in columns]
    if None in rows or None in columns or len(summed) != 1:
        raise NoMatch(f"{contraction.operation.name} is not a matrix product")
    if rows[summed[0]] != contraction.dims(1)[contraction.reduced_weight_dims[0]]:
        raise NoMatch(f"{contraction.operation.name} is not a matrix product")
    return summed[0]


def _computes_on_integers(contraction: Contraction, input: IntegerChain, weights: GroupedWeights) -> bool:
    """Whether the sums over a group can be those of integers."""
    centered = weights.centered
    if centered is None or weights.run_time_dims or input.pads or (input.steps and input.dequantize.per_token):
        return False
    if weights.group_size * max(int(centered.max(initial=0)), -int(centered.min(initial=0))) * REACH > INT32_MAX:
        return False
    try:
        input.dequantize.check()
        if input.dequantize.per_token:
            row_map(contraction)
    except NoMatch:
        return False
    return True


def _is_scaled_by_group(weights: GroupedWeights) -> bool:
    """Whether a sum over a group can be scaled instead of its terms, which are exact without the scale."""
    if weights.run_time_dims or weights.scales.dtype != np.float32 or weights.group_size < 2:
        return False
    if weights.zero_points is None or weights.zero_points.dtype == np.float32:
        return True
    return weights.zero_points.dtype.kind in "iu" and bool(
        np.all(np.abs(weights.zero_points.astype(np.float64)) < 2**24)
    )


class _Loops:
    """Loops over the result, with those over what is summed in front of the columns, which are contiguous.

    Args:
      summed: number of loops that are summed over.
    """

    def __init__(self, contraction: Contraction, summed: int) -> None:
        self._contraction = contraction
        result = contraction.dims(2)
        column = contraction.output_dim_of_weight_dim(1 - contraction.reduced_weight_dims[0])
        rows = [d for d in range(len(result)) if d != column]
        self.count = len(result) + summed
        self._place = {result[d]: position for position, d in enumerate(rows)}
        self.summed = [ir.AffineExpr.get_dim(len(rows) + n) for n in range(summed)]
        self._place[result[column]] = self.count - 1
        self.column = ir.AffineExpr.get_dim(self.count - 1)
        self.kinds = [PARALLEL] * len(rows) + [REDUCTION] * summed + [PARALLEL]

    def map(self, *results: ir.AffineExpr) -> ir.AffineMap:
        return ir.AffineMap.get(self.count, 0, list(results))

    def of_input(self, depth: ir.AffineExpr) -> ir.AffineMap:
        """The map of the input, which is read at `depth` along the summed dimension."""
        loops = self._contraction.dims(0)
        return self.map(*(ir.AffineExpr.get_dim(self._place[d]) if d in self._place else depth for d in loops))

    def of_result(self) -> ir.AffineMap:
        return self.map(*(ir.AffineExpr.get_dim(self._place[d]) for d in self._contraction.dims(2)))


def _in_float(contraction: Contraction, weights: GroupedWeights, depth: int, refusal: str | None) -> ir.Value:
    """One linalg.generic over groups and the elements of a group, with dequantized weights in its body."""
    f32, lanes = ir.F32Type.get(), weights.lanes
    loops = _Loops(contraction, 2)
    group, step = loops.summed
    parameters, dequantize = group_dequantization(
        weights.storage,
        weights.scales if weights.run_time_dims else _constant(weights.scales),
        None if weights.zero_points is None else _constant(_signless(weights.zero_points)),
        unsigned=weights.unsigned,
        result_element_type=f32,
    )
    input = _filled(contraction.input, depth, weights.missing_rows)
    reads = [loops.of_input(group * weights.group_size + step * lanes + lane) for lane in range(lanes)]
    maps = [*reads, loops.map(group, step, loops.column), *_parameter_maps(weights, loops, group, len(parameters))]

    def body(*values: ir.Value) -> ir.Value:
        *activations, byte = values[: lanes + 1]
        total = values[-1]
        for activation, value in zip(activations, weights.unpacked(byte), strict=True):
            total = arith.addf(total, arith.mulf(activation, dequantize(value, *values[lanes + 1 : -1])))
        return total

    inputs = [*[input] * lanes, _constant(weights.stored()), *parameters]
    result = build_generic(inputs, contraction.init, [*maps, loops.of_result()], loops.kinds, body)
    if refusal is not None:
        record_refusal(result.owner.operation, refusal, "fuse")
    return result


def _sums_in_float(contraction: Contraction, weights: GroupedWeights, depth: int, refusal: str | None) -> ir.Value:
    """For each group a sum, which is scaled and added to the result; products and scales are rounded once."""
    input, f32 = _filled(contraction.input, depth, weights.missing_rows), ir.F32Type.get()
    columns = weights.values.shape[1]
    zero_points = _of_columns(weights.zero_points, columns)
    if zero_points is not None and zero_points.dtype != np.float32:
        zero_points = zero_points.astype(np.int32)
    arrays = [weights.stored(), _of_columns(weights.scales, columns), zero_points]
    zero, empty = scalar_constant(f32, 0), empty_like(contraction.init, f32)
    is_alone = weights.groups == 1 and starts_at_zero(contraction)

    def group(part: ir.Value, of_group: Sequence[ir.Value | None], total: ir.Value) -> ir.Value:
        stored, scales, zero_points = of_group
        accumulator = linalg.fill(zero, outs=[empty])
        accumulator = _products(contraction, weights, part, stored, zero_points, accumulator)
        return _add_scaled(contraction, accumulator, None if is_alone else total, scales)

    result = _for_each_group(weights, input, depth, arrays, contraction.init, group)
    if refusal is not None:
        record_refusal(result.owner.operation, refusal, "fuse")
    return result


def _of_columns(values: np.ndarray | None, columns: int) -> np.ndarray | None:
    """Parameters [groups, columns] of [groups, columns] or [groups, 1]."""
    return None if values is None else np.broadcast_to(values, (len(values), columns))


def _for_each_group(
    weights: GroupedWeights,
    input: ir.Value,
    depth: int,
    arrays: Sequence[np.ndarray | None],
    initial: ir.Value,
    body: Callable[[ir.Value, Sequence[ir.Value | None], ir.Value], ir.Value],
) -> ir.Value:
    """A loop, if there are several groups.

    Args:
      arrays: [groups, ..]; the body is called with what they have for a group.
      initial: the value that the body is called with first, and then with what it returned.
    """
    if weights.groups == 1:
        return body(input, [None if each is None else _constant(each[0]) for each in arrays], initial)
    constants = [None if each is None else _constant(each) for each in arrays]
    loop = scf.ForOp(index_constant(0), index_constant(weights.groups), index_constant(1), [initial])
    with ir.InsertionPoint(loop.body):
        group = loop.induction_variable
        part = _slice_of_input(input, depth, group, weights.group_size)
        of_group = [None if each is None else _row(each, group) for each in constants]
        scf.yield_([body(part, of_group, loop.inner_iter_args[0])])
    return loop.results[0]


def _parameter_maps(weights: GroupedWeights, loops: _Loops, group: ir.AffineExpr, count: int) -> list[ir.AffineMap]:
    """Maps of the scales and, if there are two parameters, of the zero points."""
    arrays = [] if weights.run_time_dims else [weights.scales]
    arrays += [] if count == 1 else [weights.zero_points]
    columns = [loops.column if array.shape[1] > 1 else ir.AffineExpr.get_constant(0) for array in arrays]
    maps = [loops.map(group, column) for column in columns]
    if weights.run_time_dims:
        maps.insert(0, loops.map(*(group if along_groups else loops.column for along_groups in weights.run_time_dims)))
    return maps


def _on_integers(
    contraction: Contraction, input: IntegerChain, weights: GroupedWeights, depth: int, explain: bool
) -> ir.Value:
    """For each group a product of integers, whose i32 sums are scaled and added up in f32."""
    f32, i32 = ir.F32Type.get(), integer_type(32)
    integers = _filled(input.rebuild(input.dequantize.signed_input(), 0), depth, weights.missing_rows)
    zero_point, scale = input.dequantize.zero_point(), input.dequantize.scale()
    rows = row_map(contraction) if input.dequantize.per_token else None
    arrays = [weights.stored(), weights.scales.astype(np.float32)]
    arrays.append(None if weights.zero_points is None else weights.zero_points.astype(np.int32))
    arrays.append(None if zero_point is None else weights.sums(weights.centered))
    zero, empty = scalar_constant(i32, 0), empty_like(contraction.init, i32)

    def group(part: ir.Value, of_group: Sequence[ir.Value | None], total: ir.Value) -> ir.Value:
        stored, scales, zero_points, sums = of_group
        accumulator = linalg.fill(zero, outs=[empty])
        accumulator = _products(contraction, weights, part, stored, zero_points, accumulator)
        return _add_scaled(contraction, accumulator, total, scales, sums, zero_point, rows)

    total = linalg.fill(scalar_constant(f32, 0), outs=[empty_like(contraction.init, f32)])
    total = _for_each_group(weights, integers, depth, arrays, total, group)
    _mark(total, explain)
    operands = Operands(total)
    factor, addend = operands.add(scale, rows), initial_value(operands, contraction)

    def body(*values: ir.Value) -> ir.Value:
        f64 = ir.F64Type.get()
        value = arith.truncf(f32, arith.mulf(arith.extf(f64, values[0]), factor(values)))
        return value if addend is None else arith.addf(value, addend(values))

    result = operands.build(empty_like(contraction.init, f32), body)
    _mark(result, explain)
    return result


def _products(
    contraction: Contraction,
    weights: GroupedWeights,
    input: ir.Value,
    stored: ir.Value,
    zero_points: ir.Value | None,
    init: ir.Value,
) -> ir.Value:
    """Sums of products over a group, in the type of `init`: i32, or f32 where each step is rounded once."""
    loops, lanes, i32 = _Loops(contraction, 1), weights.lanes, integer_type(32)
    in_float = isinstance(element_type(init), ir.FloatType)
    (step,) = loops.summed
    maps = [loops.of_input(step * lanes + lane) for lane in range(lanes)]
    maps += [loops.map(step, loops.column), *([] if zero_points is None else [loops.map(loops.column)])]

    def body(*values: ir.Value) -> ir.Value:
        total = values[-1]
        for activation, value in zip(values[:lanes], weights.unpacked(values[lanes]), strict=True):
            value = extend(value, i32, weights.unsigned)
            if zero_points is not None and isinstance(element_type(zero_points), ir.IntegerType):
                value = arith.subi(value, values[lanes + 1])
            if in_float:
                value = integer_to_float(value, element_type(init))
                if zero_points is not None and isinstance(element_type(zero_points), ir.FloatType):
                    value = arith.subf(value, values[lanes + 1])
                total = math.fma(activation, value, total)
            else:
                total = arith.addi(total, arith.muli(extend(activation, i32), value))
        return total

    inputs = [*[input] * lanes, stored, *([] if zero_points is None else [zero_points])]
    return build_generic(inputs, init, [*maps, loops.of_result()], loops.kinds, body)


def _add_scaled(
    contraction: Contraction,
    accumulator: ir.Value,
    total: ir.Value | None,
    scales: ir.Value,
    sums: ir.Value | None = None,
    zero_point: ir.Value | None = None,
    rows: ir.AffineMap | None = None,
) -> ir.Value:
    """`total + (accumulator - zero_point * sums) * scales`; of an accumulator in float, rounded once.

    Args:
      total: None for nothing, with an accumulator in float.
    """
    operands = Operands(accumulator)
    column = contraction.output_dim_of_weight_dim(1 - contraction.reduced_weight_dims[0])
    columns = ir.AffineMap.get(ir.RankedTensorType(accumulator.type).rank, 0, [ir.AffineExpr.get_dim(column)])
    scale = operands.add(scales, columns)
    correction = None if zero_point is None else (operands.add(sums, columns), operands.add(zero_point, rows))

    def body(*values: ir.Value) -> ir.Value:
        if total is None:
            return arith.mulf(values[0], scale(values))
        if isinstance(values[0].type, ir.FloatType):
            return math.fma(values[0], scale(values), values[-1])
        integer = values[0]
        if correction is not None:
            sum_of_weights, zero_point = (each(values) for each in correction)
            integer = arith.subi(integer, arith.muli(sum_of_weights, zero_point))
        return arith.addf(values[-1], arith.mulf(arith.sitofp(ir.F32Type.get(), integer), scale(values)))

    if total is None:
        return operands.build(empty_like(accumulator, element_type(accumulator)), body)
    return operands.build(total, body, reads_init=True)


def _slice_of_input(input: ir.Value, depth: int, group: ir.Value, size: int) -> ir.Value:
    """The part of the input that belongs to a group."""
    extents = sizes(input)
    extents[depth] = size
    offsets: list[int | ir.Value] = [0] * len(extents)
    offsets[depth] = arith.muli(group, index_constant(size))
    return _extract(input, offsets, extents, range(len(extents)))


def _row(values: ir.Value, group: ir.Value) -> ir.Value:
    """What a tensor `[groups, ..]` has for a group."""
    _, *rest = ir.RankedTensorType(values.type).shape
    return _extract(values, [group, *[0] * len(rest)], [1, *rest], range(1, len(rest) + 1))


def _extract(
    source: ir.Value, offsets: Sequence[int | ir.Value], extents: Sequence[int | ir.Value], kept: Sequence[int]
) -> ir.Value:
    """tensor.extract_slice of contiguous elements; the result has the dimensions `kept`."""
    dynamic = ir.ShapedType.get_dynamic_size()
    static = [[each if isinstance(each, int) else dynamic for each in values] for values in (offsets, extents)]
    values = [[each for each in values if not isinstance(each, int)] for values in (offsets, extents)]
    type_ = ir.RankedTensorType.get([static[1][d] for d in kept], element_type(source))
    return tensor.extract_slice(type_, source, *values, [], *static, [1] * len(offsets))


def _filled(input: ir.Value, depth: int, rows: int) -> ir.Value:
    """The input with zeros after its last element along a dimension."""
    if rows == 0:
        return input
    type_ = ir.RankedTensorType(input.type)
    shape = [size + rows if d == depth and size >= 0 else size for d, size in enumerate(type_.shape)]
    zeros = [0] * type_.rank
    high = [rows if d == depth else 0 for d in range(type_.rank)]
    padded = tensor.PadOp(ir.RankedTensorType.get(shape, type_.element_type), input, [], [], zeros, high)
    zero = scalar_constant(type_.element_type, 0)
    block = padded.regions[0].blocks.append(*[ir.IndexType.get()] * type_.rank)
    with ir.InsertionPoint(block):
        tensor.YieldOp(zero)
    return padded.result


def _constant(values: np.ndarray) -> ir.Value:
    return arith.constant(None, elements.from_numpy(np.ascontiguousarray(values)))


def _signless(values: np.ndarray) -> np.ndarray:
    return values.view(np.int8) if values.dtype == np.uint8 else values


def _mark(value: ir.Value, explain: bool) -> None:
    if explain:
        record_refusal(value.owner.operation, _REFUSAL, "fuse")
