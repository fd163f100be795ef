# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for matrix products with weights that are quantized in groups of rows."""

import dataclasses
import math

import numpy as np
from torch_mlir import ir

from torq_mlir.backends.cpu.dot_product import WORD, dot_product
from torq_mlir.backends.cpu.kernels.grouped_float import GroupedFloat
from torq_mlir.backends.cpu.kernels.grouped_integers import LARGEST_WEIGHT, GroupedIntegers
from torq_mlir.backends.cpu.kernels.grouped_weights import ROWS, Groups, words
from torq_mlir.backends.cpu.layout import Layout
from torq_mlir.backends.cpu.machine import Cpu
from torq_mlir.backends.cpu.planning import Planner, shape_and_dtype
from torq_mlir.backends.cpu.steps import Tensor

from .grouped_products import Product, ScaledProduct, match_product, match_scaled_product

# Integers that are exact in f32, and their differences too.
_EXACT = 1 << 23
_INT8, _INT16 = np.iinfo(np.int8), np.iinfo(np.int16)


def scaled_product(planner: Planner, loop: ir.Operation) -> bool:
    """A loop over the groups."""
    found = match_scaled_product(loop)
    if found is None:
        return False
    plan = _in_float if found.product.in_float else _on_integers
    return plan(planner, found, loop)


def product(planner: Planner, operation: ir.Operation) -> bool:
    """Of weights that are one group, without scales."""
    found = match_product(operation)
    if found is None or not found.in_float:
        return False
    return _in_float(planner, ScaledProduct(found, None, None, None), operation)


def _in_float(planner: Planner, found: ScaledProduct, operation: ir.Operation) -> bool:
    source = found.product
    codes = _codes_for_float(source)
    if codes is None or shape_and_dtype(source.input)[1] != np.float32:
        return False
    cpu, is_packed = planner.cpu, codes.bits == 4
    tile_rows, blocks = tile_sizes(source.rows, codes.values.shape[2], cpu)
    steps = -(-source.size // ROWS) if is_packed else source.size
    weights = codes.groups(source, blocks, steps * cpu.lanes * (WORD if is_packed else 1), found.scales is not None)
    values = weights.arranged(words(codes.values) if is_packed else codes.values, cpu)
    packed = planner.constants.add(weights.pack(cpu, values, found.scales, codes.stored_zero_points, None))
    input_ = planner.in_layout(planner.tensor(source.input), Layout.plain(*shape_and_dtype(source.input)), operation)
    kernel = GroupedFloat(source.rows, weights, tile_rows, found.initial is not None)
    return _call(planner, kernel, [input_, packed], found, operation)


def _on_integers(planner: Planner, found: ScaledProduct, operation: ir.Operation) -> bool:
    source, cpu = found.product, planner.cpu
    codes = _codes_for_integers(source)
    if codes is None or shape_and_dtype(source.input)[1] != np.int8:
        return False
    tile_rows, blocks = tile_sizes(source.rows, codes.values.shape[2], cpu)
    steps = -(-source.size // (ROWS if codes.bits == 4 else WORD))
    step = cpu.lanes * WORD if codes.bits == 4 else dot_product(cpu).step
    sums = source.weight_sums()
    sums = sums.astype(np.int16) if np.abs(sums).max() <= _INT16.max else sums
    weights = codes.groups(source, blocks, steps * step, True, sums.itemsize)
    values = weights.arranged(words(codes.values) if codes.bits == 4 else codes.values, cpu)
    if codes.bits == 8:
        values = _for_dot_product(values, steps, weights, cpu)
    packed = planner.constants.add(weights.pack(cpu, values, found.scales, codes.stored_zero_points, sums))
    input_ = _with_room(planner, source, operation)
    buffers = [input_, packed]
    zero_point, zero_points = found.input_zero_point, 0
    if isinstance(zero_point, np.ndarray):
        buffers.append(planner.constants.add(zero_point))
        zero_points = 1
    elif zero_point is not None:
        buffers.append(_plain(planner, zero_point, operation))
        zero_points = math.prod(shape_and_dtype(zero_point)[0])
    layout = input_.layout
    kernel = GroupedIntegers(
        source.rows,
        weights,
        tile_rows,
        found.initial is not None,
        layout.elements,
        layout.extents[-1],
        zero_points,
    )
    return _call(planner, kernel, buffers, found, operation)


def _call(
    planner: Planner,
    kernel: GroupedFloat | GroupedIntegers,
    buffers: list,
    found: ScaledProduct,
    operation: ir.Operation,
) -> bool:
    if found.initial is not None:
        buffers.append(_plain(planner, found.initial, operation))
    shape, _ = shape_and_dtype(operation.results[0])
    planner.call(kernel, [*buffers, planner.produce(operation.results[0], range(len(shape)))], operation)
    return True


def _plain(planner: Planner, value: ir.Value, operation: ir.Operation) -> Tensor:
    """A value as numpy has it."""
    return planner.in_layout(planner.tensor(value), Layout.plain(*shape_and_dtype(value)), operation)


def _with_room(planner: Planner, source: Product, operation: ir.Operation) -> Tensor:
    """The input as it is written, in rows that have room for whole words after the last group."""
    tensor = planner.tensor(source.input)
    layout = tensor.layout
    needed = layout.shape[-1] + -source.size % WORD
    wanted = Layout.inner(layout.shape, layout.dtype, None, channels=needed)
    is_plain = layout.order == wanted.order and layout.biased and not layout.has_halo
    if is_plain and layout.extents[-1] >= needed:
        return tensor
    return planner.in_layout(tensor, wanted, operation)


def _for_dot_product(values: np.ndarray, steps: int, weights: Groups, cpu: Cpu) -> np.ndarray:
    """int8 [tiles, groups, rows, columns of a tile] as `DotProduct` packs them; rows that are missing are 0."""
    tiles, groups, rows, _ = values.shape
    values = np.pad(values, ((0, 0), (0, 0), (0, steps * WORD - rows), (0, 0)))
    values = values.reshape(tiles, groups, steps, WORD, weights.blocks, cpu.lanes)
    return np.ascontiguousarray(dot_product(cpu).pack(np.ascontiguousarray(values.transpose(0, 1, 2, 4, 5, 3))))


@dataclasses.dataclass
class _Codes:
    """Attributes:
    values: int8 [groups, bytes, columns], as they are stored.
    bits, is_signed: of a code.
    zero_point: of all; None where each group and column has one.
    stored_zero_points: those, int8 or f32.
    """

    values: np.ndarray
    bits: int
    is_signed: bool
    zero_point: int | None = 0
    stored_zero_points: np.ndarray | None = None

    def groups(self, source: Product, blocks: int, code_bytes: int, has_scales: bool, sum_bytes: int = 0) -> Groups:
        groups, _, columns = self.values.shape
        zero_bytes = 0 if self.stored_zero_points is None else self.stored_zero_points.itemsize
        return Groups(
            groups,
            source.size,
            columns,
            blocks,
            self.bits,
            self.is_signed,
            code_bytes,
            self.zero_point,
            zero_bytes,
            has_scales,
            sum_bytes,
        )


def _codes_for_float(source: Product) -> _Codes | None:
    """None where a code less a zero point that is an integer may not be exact in f32."""
    bits, values, zero_points = 8 // source.codes_in_byte, source.codes, source.zero_points
    if zero_points is None:
        return _Codes(values, bits, not source.is_unsigned)
    integers = zero_points.astype(np.int64) if zero_points.dtype.kind in "iu" else None
    if integers is None:
        return _Codes(values, bits, not source.is_unsigned, None, zero_points.astype(np.float32))
    if np.abs(integers).max() > _EXACT:
        return None
    if np.all(integers == integers.flat[0]):
        zero_point = int(integers.flat[0])
        if bits == 4 and source.is_unsigned and zero_point == 8:  # two's complement needs no zero point
            return _Codes(values ^ np.int8(-0x78), bits, True)
        return _Codes(values, bits, not source.is_unsigned, zero_point)
    fit = _INT8.min <= integers.min() and integers.max() <= _INT8.max
    return _Codes(values, bits, not source.is_unsigned, None, integers.astype(np.int8 if fit else np.float32))


def _codes_for_integers(source: Product) -> _Codes | None:
    """None where the weights do not have 8 bits, or sums of two products with them 16."""
    zero_points = np.zeros((1, 1), np.int64) if source.zero_points is None else source.zero_points
    if zero_points.dtype.kind not in "iu":
        return None
    zero_points = zero_points.astype(np.int64)
    if source.codes_in_byte == 1:
        values = source.codes.view(np.uint8) if source.is_unsigned else source.codes
        weights = values.astype(np.int16) - np.clip(zero_points, _INT16.min // 2, _INT16.max // 2)[:, None]
        fit = _INT8.min <= weights.min() and weights.max() <= _INT8.max
        return _Codes(weights.astype(np.int8), 8, True) if fit else None
    values = source.codes if source.is_unsigned else source.codes ^ np.int8(-0x78)
    zero_points = zero_points if source.is_unsigned else zero_points + 8
    if zero_points.min() < 15 - LARGEST_WEIGHT or zero_points.max() > LARGEST_WEIGHT:
        return None
    if np.all(zero_points == zero_points.flat[0]):
        return _Codes(values, 4, False, int(zero_points.flat[0]))
    return _Codes(values, 4, False, None, zero_points.astype(np.int8))


def tile_sizes(rows: int, columns: int, cpu: Cpu) -> tuple[int, int]:
    """Rows and vectors of a tile: as many sums as registers hold, and few that are computed twice or not needed."""
    vectors = -(-columns // cpu.lanes)
    most = 4 if cpu.registers >= 32 or rows == 1 else 2
    blocks = min(range(min(most, vectors), 0, -1), key=lambda b: (-(-vectors // b) * b, -b))
    longest = min(rows, (cpu.registers - 6) // blocks)
    shortest = max(1, longest * 2 // 3)
    tile_rows = min(range(longest, shortest - 1, -1), key=lambda r: (-(-rows // r) * r, -r))
    return tile_rows, blocks
