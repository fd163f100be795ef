# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products with weights that are quantized in groups of rows, as linalg has them.

A loop over the groups contains a product, of slices, and the addition of its scaled sums to the result. A product of
weights that are one group can be there alone.
"""

import dataclasses
import math

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements
from torq_mlir.rewriting.scalar_body import Expression, body_expression

from .group_slices import GroupSlices, defining


@dataclasses.dataclass
class Product:
    """`input @ (codes - zero points)`, for each group.

    Attributes:
      input: tensor [.., rows of the weights].
      codes: int8 [groups, bytes, columns]; a byte has one code, or two neighbours, the first in the low half.
      codes_in_byte: 1 or 2.
      is_unsigned: whether codes are.
      zero_points: integers or floats [groups, columns]; None for 0.
      in_float: whether the sums are f32 rather than i32.
    """

    input: ir.Value
    codes: np.ndarray
    codes_in_byte: int
    is_unsigned: bool
    zero_points: np.ndarray | None
    in_float: bool

    @property
    def size(self) -> int:
        """Rows of a group."""
        return self.codes.shape[1] * self.codes_in_byte

    @property
    def rows(self) -> int:
        """Of the result."""
        return math.prod(ir.RankedTensorType(self.input.type).shape[:-1])

    def weight_sums(self) -> np.ndarray:
        """Of each group, i32 [groups, columns]; zero points are integers."""
        bytes_ = self.codes.view(np.uint8)
        if self.codes_in_byte == 1:
            sums = (bytes_ if self.is_unsigned else self.codes).sum(1, dtype=np.int32)
        else:
            bytes_, offset = (bytes_, 0) if self.is_unsigned else (bytes_ ^ 0x88, 8 * self.size)
            sums = (bytes_ & 15).sum(1, dtype=np.int32) + (bytes_ >> 4).sum(1, dtype=np.int32) - offset
        return (sums if self.zero_points is None else sums - self.size * self.zero_points).astype(np.int32)


@dataclasses.dataclass
class ScaledProduct:
    """The sums of a product for each group, scaled and added up.

    Attributes:
      scales: f32 [groups, columns].
      initial: what is added to; None for 0.
      input_zero_point: i32 tensor with an element for each row of the input, or one for all; None for 0.
    """

    product: Product
    scales: np.ndarray
    initial: ir.Value | None
    input_zero_point: ir.Value | np.ndarray | None


def match_product(operation: ir.Operation) -> Product | None:
    """A linalg.generic that adds up, from 0, products with constant weights."""
    return _match_product(operation, GroupSlices())


def match_scaled_product(loop: ir.Operation) -> ScaledProduct | None:
    """An scf.for over groups."""
    slices = GroupSlices.of(loop)
    if slices is None or len(loop.results) != 1:
        return None
    block = loop.regions[0].blocks[0]
    addition = defining(block.operations[len(block.operations) - 1].operands[0], "linalg.generic")
    if addition is None or addition.operands[-1] != block.arguments[1]:
        return None
    sums = defining(addition.operands[0], "linalg.generic")
    product = None if sums is None else _match_product(sums, slices)
    if product is None or not _is_elementwise(addition):
        return None
    return _match_addition(addition, product, slices, None if _is_zero(loop.operands[3]) else loop.operands[3])


def _match_addition(
    addition: ir.Operation, product: Product, slices: GroupSlices, initial: ir.Value | None
) -> ScaledProduct | None:
    """`total + sums * scales`, or of integers `total + (sums - zero point * weight sums) * scales`."""
    last = ("arg", len(addition.operands) - 1)
    match body_expression(addition):
        case ("math.fma", sum_, scale, total) if total == last and product.in_float and sum_ == ("arg", 0):
            pass
        case ("arith.addf", total, ("arith.mulf", ("arith.sitofp", sum_), scale)) if total == last:
            pass
        case _:
            return None
    scales, zero_point = _parameter(addition, scale, product, slices), None
    match sum_:
        case ("arg", 0):
            pass
        case ("arith.subi", ("arg", 0), ("arith.muli", weight_sums, zero_point)):
            weight_sums, zero_point = _parameter(addition, weight_sums, product, slices), _of_rows(addition, zero_point)
            if zero_point is None or weight_sums is None or not np.array_equal(weight_sums, product.weight_sums()):
                return None
        case _:
            return None
    return None if scales is None else ScaledProduct(product, scales.astype(np.float32), initial, zero_point)


def _match_product(operation: ir.Operation, slices: GroupSlices) -> Product | None:
    kinds = ["parallel" in str(each) for each in operation.attributes["iterator_types"]]
    if kinds[-2:] != [False, True] or not all(kinds[:-2]) or not _is_zero(operation.operands[-1]):
        return None
    for count in (1, 2):
        weight = _match_terms(operation, count)
        if weight is not None and _reads_in_order(operation, count, len(kinds)):
            break
    else:
        return None
    input, codes = slices.of_input(operation.operands[0]), slices.of_constant(operation.operands[count])
    if input is None or codes is None or codes.dtype != np.int8 or codes.ndim != 3:
        return None
    product = Product(input, codes, count, weight.is_unsigned, None, weight.in_float)
    if ir.RankedTensorType(input.type).shape[-1] != len(codes) * product.size:
        return None
    if weight.zero_point is not None:
        product.zero_points = _parameter(operation, weight.zero_point, product, slices)
        if product.zero_points is None:
            return None
    return product


@dataclasses.dataclass(frozen=True)
class _Weight:
    """What the body of a product reads of its weights."""

    is_unsigned: bool
    zero_point: Expression | None
    in_float: bool


def _match_terms(operation: ir.Operation, count: int) -> _Weight | None:
    """Of a body that adds products with that many codes of a byte, one after the other."""
    expression, found = body_expression(operation), set()
    for lane in reversed(range(count)):
        match expression:
            case ("math.fma", ("arg", number), weight, expression) if number == lane:
                found.add(_match_weight(weight, count, lane, in_float=True))
            case ("arith.addi", expression, ("arith.muli", ("arith.extsi", ("arg", number)), weight)) if number == lane:
                found.add(_match_weight(("arith.sitofp", weight), count, lane, in_float=False))
            case _:
                return None
    return found.pop() if expression == ("arg", len(operation.operands) - 1) and len(found) == 1 else None


def _match_weight(expression: Expression, count: int, lane: int, in_float: bool) -> _Weight | None:
    """`float(code) - zero point`, or `float(code - zero point)`."""
    zero_point = None
    match expression:
        case ("arith.subf", code, zero_point):
            expression = code
        case ("arith.sitofp", ("arith.subi", code, zero_point)):
            expression = ("arith.sitofp", code)
    signed = unsigned = byte = ("arg", count)
    if count == 2:
        left = byte if lane else ("arith.shli", byte, ("const", 4))
        signed = ("arith.shrsi", left, ("const", 4))
        unsigned = ("arith.shrui", byte, ("const", 4)) if lane else ("arith.andi", byte, ("const", 15))
    match expression:
        case ("arith.sitofp", ("arith.extsi", code)) | ("arith.sitofp", code) if code == signed:
            return _Weight(False, zero_point, in_float)
        case ("arith.sitofp", ("arith.extui", code)) | ("arith.uitofp", code) if code == unsigned:
            return _Weight(True, zero_point, in_float)
    return None


def _reads_in_order(operation: ir.Operation, count: int, loops: int) -> bool:
    """Whether the loops are over rows, bytes and columns, and all that is read and written is in that order."""
    *rows, step, column = (ir.AffineExpr.get_dim(d) for d in range(loops))
    parameters = len(operation.operands) - count - 2
    results = [*([*rows, step * count + lane] for lane in range(count)), [step, column]]
    results += [[column]] * parameters + [[*rows, column]]
    is_one_input = len(set(list(operation.operands)[:count])) == 1
    return is_one_input and _maps(operation) == [ir.AffineMap.get(loops, 0, each) for each in results]


def _is_elementwise(operation: ir.Operation) -> bool:
    """Whether the first operand and the result are read in the order of the loops."""
    maps = _maps(operation)
    return maps[0] == maps[-1] == ir.AffineMap.get_identity(maps[0].n_dims)


def _of_rows(operation: ir.Operation, expression: Expression) -> ir.Value | np.ndarray | None:
    """What a body reads for a row of the result: a tensor, or a constant."""
    match expression:
        case ("const", value):
            return np.array([value], np.int32)
        case ("outer", value):
            extract = defining(value, "tensor.extract")
            return extract.operands[0] if extract is not None and len(extract.operands) == 1 else None
        case ("arg", number):
            map_ = _maps(operation)[number]
            rows = [ir.AffineExpr.get_dim(d) for d in range(map_.n_dims - 1)]
            expected = ir.AffineMap.get(map_.n_dims, 0, [*rows, ir.AffineExpr.get_constant(0)])
            return operation.operands[number] if map_ == expected else None
    return None


def _parameter(
    operation: ir.Operation, expression: Expression, product: Product, slices: GroupSlices
) -> np.ndarray | None:
    """What a body reads for a column, as [groups, columns]."""
    shape = len(product.codes), product.codes.shape[2]
    match expression:
        case ("const", value):
            return np.full(shape, value)
        case ("arg", number):
            map_ = _maps(operation)[number]
            values = slices.of_constant(operation.operands[number])
            column = ir.AffineMap.get(map_.n_dims, 0, [ir.AffineExpr.get_dim(map_.n_dims - 1)])
            return values if map_ == column and values is not None and values.shape == shape else None
    return None


def _maps(operation: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(each).value for each in operation.attributes["indexing_maps"]]


def _is_zero(value: ir.Value) -> bool:
    """A tensor of zeros, none of which is negative."""
    fill = defining(value, "linalg.fill")
    constant = elements.constant_value(value if fill is None else fill.operands[0])
    return constant is not None and not constant.any() and not np.signbit(constant).any()
