# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bilinear interpolation as convolutions with constant weights.

To a multiple of the size, each element of an image gives a block of pixels, from its neighbours: a depthwise
convolution with a channel for each pixel of the block, exact but for its one rounding. To any other size, each row of
the result is a sum of rows: a convolution whose channels are the rows, with 16 bits between it and a product for the
columns.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor

from torq_mlir.dialects import torq_hl
from torq_mlir.numerics import resampling
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.movement_region import Region, match_region
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.structured import element_type, reshape

from .movement_builders import dequantized_from, shape_of, slice_of, transpose
from .requantize import at_quantize, check_storage, constant, locations_of, multiplier, result_element

_CRD = 1
# Bits after the point of the value between the two steps of a resize to any size, where it is not exact: with a sign
# and eight before it, an i16.
_FRACTION_BITS = 7
# Between an i8 and its zero point.
_MOST_DIFFERENCE = 255
# How far from a tie a value may be that is rounded differently (numerics.md, section 5).
_TIE = 1 / 64
# A matrix of more weights is more work than the host has with the few that are not zero.
_MOST_WEIGHTS = 1 << 20
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class _Output:
    """What becomes of the interpolated values: `quantize(clamp(dequantize(..)))`."""

    dequantize: Dequantize
    quantize: Quantize
    clamped: Clamped

    def attributes(self, units: int) -> tuple[dict, tuple[int, int]]:
        """Attributes of an operation whose accumulator counts `units` for one, and its bias and multiplier."""
        factor, shift = multiplier(self.dequantize.scale / self.quantize.scale / units)
        low, high = self.clamped.integer_bounds(self.quantize)
        attributes = {
            "output_zp": int(self.quantize.zero_point),
            "output_min": low,
            "output_max": high,
            "shift_factor": shift,
            "element_type": result_element(self.quantize),
        }
        return attributes, (-int(self.dequantize.zero_point) * units, factor)


@at_quantize
def convert_interpolation(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(bilinear interpolation of dequantize(x))`, x in NCHW."""
    region = match_region(clamped.value, dequantized_from)
    if region is None or not _is_resize(*region.shapes):
        return NOT_MINE
    dequantize = match_dequantize(region.starts[0])
    width = dequantize.input.type.element_type.width
    limits = [(limit - float(dequantize.zero_point)) * float(dequantize.scale) for limit in _limits(width)]
    positions = _positions(region, *limits)
    if positions is None:
        return NOT_MINE
    check_storage(quantize, [dequantize])
    if width != 8:
        raise NoMatch("an interpolation of more than 8 bits has no operation")
    output = _Output(dequantize, quantize, clamped)
    phases = [resampling.phases(each, size) for each, size in zip(positions, region.shapes[0][2:], strict=True)]
    build = _build_matrices if None in phases else _build_phases
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, *region.operations):
        rewriter.replace_op(quantize.operation, [build(output, positions if None in phases else phases)])
    return None


def _is_resize(source: tuple[int, ...], result: tuple[int, ...]) -> bool:
    return len(source) == len(result) == 4 and source[:2] == result[:2]


def _limits(width: int) -> tuple[int, int]:
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _positions(region: Region, lowest: float, highest: float) -> list[np.ndarray] | None:
    """Where the rows and the columns of the result lie among those of the source, if it interpolates between them.

    What else is done to values would show somewhere between the lowest and the highest one.
    """
    source, _ = region.shapes
    run, rng = region.compile(), np.random.default_rng(0)
    rows, columns = (np.arange(size, dtype=np.float32) for size in source[2:])
    positions = [
        run(np.ascontiguousarray(np.broadcast_to(rows[:, None], source)))[0, 0, :, 0].astype(np.float64),
        run(np.ascontiguousarray(np.broadcast_to(columns, source)))[0, 0, 0].astype(np.float64),
    ]
    if not all(np.all((each >= 0) & (each <= size - 1)) for each, size in zip(positions, source[2:], strict=True)):
        return None
    tolerance = _TOLERANCE * max(abs(lowest), abs(highest))
    for probe in (rng.uniform(lowest, highest, source), np.full(source, lowest), np.full(source, highest)):
        probe = probe.astype(np.float32)
        interpolated = resampling.interpolate(probe.astype(np.float64), *positions)
        if not np.allclose(run(probe), interpolated, rtol=0, atol=tolerance):
            return None
    return positions


def _build_phases(output: _Output, phases: list[resampling.Phases]) -> ir.Value:
    """The image with its edge repeated, a channel for each pixel of a block, the blocks side by side."""
    value = output.dequantize.input
    batch, channels, height, width = shape_of(value)
    for dimension, each in zip((2, 3), phases, strict=True):
        value = _repeat_edge(value, dimension, -each.first, each.last)
    rows, columns = phases
    weights = np.einsum("pi,qj->pqij", rows.weights, columns.weights).reshape(-1, 1, *_taps(phases))
    attributes, pair = output.attributes(rows.denominator * columns.denominator)
    blocks = torq_hl.depthwise_conv2d(
        constant(np.tile(weights, (channels, 1, 1, 1)).astype(np.int8 if weights.max() <= 127 else np.int16)),
        constant(np.array(pair, np.int32)),
        value,
        input_zp=int(output.dequantize.zero_point),
        groups=channels,
        pad=[0, 0, 0, 0],
        stride=[1, 1],
        dilation=[1, 1],
        **attributes,
    )
    if rows.scale == columns.scale:
        return torq_hl.depth_to_space(constant(np.ones(1, np.int8)), blocks, blockSize=rows.scale, mode_type=_CRD)
    split = reshape(blocks, [batch, channels, rows.scale, columns.scale, height, width])
    return reshape(transpose(split, [0, 1, 4, 2, 5, 3]), [batch, channels, height * rows.scale, width * columns.scale])


def _taps(phases: list[resampling.Phases]) -> list[int]:
    return [each.weights.shape[1] for each in phases]


def _repeat_edge(value: ir.Value, dimension: int, before: int, after: int) -> ir.Value:
    """The first and the last element of a dimension so many times more."""
    last = shape_of(value)[dimension] - 1
    parts = [slice_of(value, dimension, 0, 1)] * before + [value] + [slice_of(value, dimension, last, 1)] * after
    if len(parts) == 1:
        return value
    sizes = shape_of(value)
    sizes[dimension] += before + after
    return tensor.concat(ir.RankedTensorType.get(sizes, element_type(value)), dimension, parts)


def _build_matrices(output: _Output, positions: list[np.ndarray]) -> ir.Value:
    """The rows first, as channels of a convolution of one pixel, then the columns."""
    value = output.dequantize.input
    batch, channels, height, width = shape_of(value)
    (rows, row_parts), (columns, column_parts) = (
        resampling.interpolation_matrix(each, size) for each, size in zip(positions, (height, width), strict=True)
    )
    if max(rows.size, columns.size) > _MOST_WEIGHTS:
        raise NoMatch("the interpolation has too many weights for a matrix product")
    units, factor, shift = _between(output, row_parts)
    moved = torq_hl.conv2d(
        constant(np.ascontiguousarray(rows.T)[:, :, None, None]),
        constant(np.array([-int(output.dequantize.zero_point) * row_parts, factor], np.int32)),
        reshape(value, [batch * channels, height, width, 1]),
        input_zp=int(output.dequantize.zero_point),
        output_zp=0,
        output_min=-(1 << 15),
        output_max=(1 << 15) - 1,
        shift_factor=shift,
        pad=[0, 0, 0, 0],
        stride=[1, 1],
        dilation=[1, 1],
        element_type=ir.IntegerType.get_signless(16),
    )
    attributes, (_, factor) = output.attributes(units * column_parts)
    result = torq_hl.fully_connected(
        constant(columns),
        constant(np.array([0, factor], np.int32)),
        reshape(moved, [batch * channels * rows.shape[1], width]),
        input_zp=0,
        **attributes,
    )
    return reshape(result, [batch, channels, rows.shape[1], columns.shape[1]])


def _between(output: _Output, parts: int) -> tuple[int, int, int]:
    """Units for one between the two steps, and the multiplier and shift that make them of `parts` for one."""
    if parts * _MOST_DIFFERENCE < 1 << 15:
        return parts, 1, 0
    units = 1 << _FRACTION_BITS
    if output.dequantize.scale / output.quantize.scale > units * 2 * _TIE:
        raise NoMatch("the scale of the output is too fine for the 16 bits between the two steps of an interpolation")
    return units, *multiplier(units / parts)
