# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer matrix products with one matrix for all rows as fully_connected."""

from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.numerics.zero_points import input_zero_point_correction
from torq_mlir.rewriting.patterns import NoMatch

from .accumulation import Accumulation, Output


def match_product(accumulation: Accumulation, output: Output) -> tuple[Callable[[], ir.Value], int]:
    """A builder of the product, and the dimension of the accumulation's value that the output channels are in."""
    contraction = accumulation.contraction
    dims = linalg.infer_contraction_dimensions_from_maps(list(contraction.maps))
    if dims is None or (len(dims.n), len(dims.k)) != (1, 1) or accumulation.movement is not None:
        raise NoMatch("the contraction is neither a convolution nor a matrix product")
    if list(dims.batch) or contraction.dims(0) != [*dims.m, *dims.k] or contraction.dims(2) != [*dims.m, *dims.n]:
        raise NoMatch("the matrix product has batch or transposed operands")
    weights = accumulation.constant_weights()
    build_operands, shift = (_runtime if weights is None else _constant)(accumulation, output, dims)

    def build() -> ir.Value:
        return torq_hl.fully_connected(
            *build_operands(),
            contraction.input,
            input_zp=contraction.input_zp,
            shift_factor=shift,
            element_type=output.element,
            **output.attributes,
        )

    return build, len(contraction.dims(2)) - 1


def _constant(accumulation: Accumulation, output: Output, dims) -> tuple[Callable[[], tuple[ir.Value, ir.Value]], int]:
    """A builder of constant weights and scale_bias, and the shift."""
    contraction, weights = accumulation.contraction, accumulation.constant_weights()
    correction = input_zero_point_correction(weights, contraction.input_zp, contraction.reduced_weight_dims)
    weights = np.ascontiguousarray(weights if contraction.dims(1) == [*dims.k, *dims.n] else weights.T)
    scale_bias, shift = output.scale_bias(accumulation, correction.reshape(-1))
    return lambda: (arith.constant(None, elements.from_numpy(weights)), scale_bias()), shift


def _runtime(accumulation: Accumulation, output: Output, dims) -> tuple[Callable[[], tuple[ir.Value, ir.Value]], int]:
    """A builder of run-time weights and the scale_bias that their sums go into, and the shift."""
    contraction = accumulation.contraction
    if contraction.dims(1) != [*dims.k, *dims.n]:
        raise NoMatch("the run-time weights are transposed")
    channels = ir.RankedTensorType(contraction.weights.type).shape[1]
    scale_bias, shift = output.runtime_scale_bias(accumulation, channels)

    def build() -> tuple[ir.Value, ir.Value]:
        weights = accumulation.runtime_weights()
        return weights, scale_bias(weights, 1)

    return build, shift
