# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer matrix products: with a constant matrix as fully_connected, of two run-time matrices as matmul."""

import math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.structured import reshape

from .accumulation import Accumulation, Output
from .requantize import constant


def match_product(accumulation: Accumulation, output: Output) -> tuple[Callable[[], ir.Value], int]:
    """A builder of the product, and the dimension of the accumulation's value that the output channels are in."""
    contraction = accumulation.contraction
    dims = linalg.infer_contraction_dimensions_from_maps(list(contraction.maps))
    if dims is None or len(dims.n) > 1 or len(dims.k) != 1 or accumulation.movement is not None:
        raise NoMatch("the contraction is neither a convolution nor a matrix product")
    rows = [*dims.batch, *dims.m]
    if contraction.dims(0) != [*rows, *dims.k] or contraction.dims(2) != [*rows, *dims.n]:
        raise NoMatch("the first operand or the result of the matrix product is transposed")
    weights = accumulation.constant_weights()
    if weights is None or list(dims.batch):
        build = _match_matmul(accumulation, output, dims)
    else:
        build = _match_fully_connected(accumulation, output, dims, weights)
    return build, len(rows)


def _match_fully_connected(accumulation: Accumulation, output: Output, dims, weights) -> Callable[[], ir.Value]:
    contraction = accumulation.contraction
    correction = accumulation.correction(weights)
    weights = np.ascontiguousarray(weights if contraction.dims(1) == [*dims.k, *dims.n] else weights.T)
    if weights.ndim == 1:  # a vector is one column
        weights = weights.reshape(-1, 1)
    scale_bias, shift = output.scale_bias(accumulation, correction.reshape(-1))

    def build() -> ir.Value:
        product = torq_hl.fully_connected(
            arith.constant(None, elements.from_numpy(weights)),
            scale_bias(),
            accumulation.operand(contraction.input),
            input_zp=contraction.input_zp,
            shift_factor=shift,
            element_type=output.element,
            **output.attributes,
        )
        return reshape(product, ir.RankedTensorType(accumulation.value.type).shape)

    return build


def _match_matmul(accumulation: Accumulation, output: Output, dims) -> Callable[[], ir.Value]:
    """Two run-time operands: their zero points are removed before, since both cross terms vary within the result."""
    contraction = accumulation.contraction
    is_vector = not list(dims.n)
    transposed = not is_vector and contraction.dims(1) == [*dims.batch, *dims.n, *dims.k]
    one_matrix = not list(dims.batch)
    if (len(dims.m) != 1 and not one_matrix) or not (
        transposed or contraction.dims(1) == [*dims.batch, *dims.k, *dims.n]
    ):
        raise NoMatch("the second operand of the matrix product has other dimensions than the first")
    pair, shift = output.single_pair(accumulation)
    swap = [*range(len(dims.batch)), len(dims.batch) + 1, len(dims.batch)]
    shape = ir.RankedTensorType(contraction.input.type).shape
    result_shape = ir.RankedTensorType(accumulation.value.type).shape

    def build() -> ir.Value:
        first = accumulation.factor(contraction.input, contraction.input_zp)
        if one_matrix:  # every row of every leading dimension meets the same matrix
            first = reshape(first, [math.prod(shape[:-1]), shape[-1]])
        second = accumulation.factor(contraction.weights, contraction.weight_zp)
        if is_vector:  # one column
            second = reshape(second, [*ir.RankedTensorType(second.type).shape, 1])
        product = torq_hl.matmul(
            constant(pair),
            first,
            torq_hl.transpose(second, perm=swap) if transposed else second,
            shift=shift,
            element_type=output.element,
            **output.attributes,
        )
        return reshape(product, result_shape)

    return build
