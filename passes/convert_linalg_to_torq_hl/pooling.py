# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling and means between a dequantization and a quantization."""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.clamp import Clamped
from torq_mlir.rewriting.integer_chain import pad_amounts, pad_value
from torq_mlir.rewriting.patterns import NOT_MINE, NoMatch
from torq_mlir.rewriting.qparams import Dequantize, Quantize, match_dequantize
from torq_mlir.rewriting.scalar_body import body_expression, evaluate_indices
from torq_mlir.rewriting.structured import reshape

from .requantize import (
    at_quantize,
    check_requantizable,
    check_storage,
    constant,
    locations_of,
    multiplier,
    requantize,
    result_element,
)

_MAX_NAMES = "linalg.pooling_nchw_max", "linalg.pooling_ncw_max"
_SUM_NAMES = "linalg.pooling_nchw_sum", "linalg.pooling_ncw_sum"


@dataclass(frozen=True)
class _Window:
    """A pooling window over an NCHW tensor, or over an NCW one as an image of height 1.

    Attributes:
      padding: [left, right, top, bottom].
    """

    operation: ir.Operation
    source: ir.Value
    padding: list[int]
    kernel: list[int]
    stride: list[int]
    dilation: list[int]

    @property
    def shape(self) -> list[int]:
        """That of the input as an image."""
        *before, width = ir.RankedTensorType(self.source.type).shape
        return [*before, width] if len(before) == 3 else [*before, 1, width]

    @property
    def covers_input(self) -> bool:
        return self.kernel == self.shape[2:] and not any(self.padding)

    def result(self, image: ir.Value) -> ir.Value:
        """The result in the shape that the operation has."""
        return reshape(image, ir.RankedTensorType(self.operation.results[0].type).shape)


@at_quantize
def convert_max_pool(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(max_pool(dequantize(x)))`; the maximum commutes with both, another scale is a requantization after."""
    window = _match_window(clamped.value, _MAX_NAMES, -math.inf)
    if window is None:
        return NOT_MINE
    dequantize = match_dequantize(window.source)
    if dequantize is None:
        raise NoMatch("the input of the pooling is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    check_requantizable(quantize, [dequantize])
    if window.dilation != [1, 1]:
        raise NoMatch("the NPU has no dilated pooling")
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, window.operation):
        pooled = _max_pool(dequantize.input, window)
        moved = Dequantize(
            dequantize.operation, pooled, dequantize.scale, dequantize.zero_point, None, dequantize.unsigned
        )
        rewriter.replace_op(quantize.operation, [requantize(moved, quantize, clamped)])
    return None


def convert_integer_max_pool(operation: ir.Operation, rewriter) -> object:
    """Maximum of integers that nothing dequantizes."""
    if not isinstance(ir.RankedTensorType(operation.operands[0].type).element_type, ir.IntegerType):
        return NOT_MINE
    element = ir.RankedTensorType(operation.operands[0].type).element_type
    window = _match_window(operation.results[0], _MAX_NAMES, -(1 << (element.width - 1)))
    if element.width not in (8, 16):
        raise NoMatch(f"the NPU has no pooling of {element}")
    if window is None or window.dilation != [1, 1]:
        raise NoMatch("the NPU has no dilated pooling")
    with ir.InsertionPoint(operation), operation.location:
        rewriter.replace_op(operation, [_max_pool(window.source, window)])
    return None


def _max_pool(source: ir.Value, window: _Window) -> ir.Value:
    width = ir.RankedTensorType(source.type).element_type.width
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    pooled = torq_hl.maxpool2d(
        constant(np.ones(1, np.int8)),
        constant(np.array([0, 1], np.int32)),
        reshape(source, window.shape),
        input_zp=low,
        output_min=low,
        output_max=high,
        stride=window.stride,
        pad=window.padding,
        kernel=window.kernel,
    )
    return window.result(pooled)


@at_quantize
def convert_average_pool(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(sum_pool(dequantize(x)) / K)`: the whole image by avg_pool2d, windows by a convolution with ones."""
    quotient = _match_quotient(clamped.value)
    if quotient is None:
        return NOT_MINE
    divisor, total, divide = quotient
    window = _match_window(total, _SUM_NAMES, 0.0)
    if window is None:
        return NOT_MINE
    dequantize = match_dequantize(window.source)
    if dequantize is None:
        raise NoMatch("the input of the pooling is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    if window.dilation != [1, 1]:
        raise NoMatch("the NPU has no dilated pooling")
    build = _global_average if window.covers_input else _windowed_average
    if isinstance(divisor, np.ndarray):
        build = _uncounted_average
    _check_mean(dequantize, quantize, divisor)
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, window.operation, divide):
        mean = build(window, dequantize, quantize, clamped, divisor)
        rewriter.replace_op(quantize.operation, [window.result(mean)])
    return None


@at_quantize
def convert_reduce_mean(quantize: Quantize, clamped: Clamped, rewriter) -> object:
    """`quantize(sum(dequantize(x)) / K)` over some dimensions, which are moved to the end."""
    quotient = _match_quotient(clamped.value)
    if quotient is None:
        return NOT_MINE
    divisor, total, divide = quotient
    reduction = _match_sum(total)
    if reduction is None:
        return NOT_MINE
    generic, kept = reduction
    dequantize = match_dequantize(generic.operands[0])
    if dequantize is None or isinstance(divisor, np.ndarray):
        raise NoMatch("the input of the mean is not dequantized with constant parameters")
    check_storage(quantize, [dequantize])
    _check_mean(dequantize, quantize, divisor)
    shape = ir.RankedTensorType(generic.operands[0].type).shape
    reduced = [d for d in range(len(shape)) if d not in kept]
    with ir.InsertionPoint(quantize.operation), locations_of([], clamped, quantize, generic, divide):
        count = math.prod(shape[d] for d in reduced)
        rows, permutation = [*(shape[d] for d in kept), count], [*kept, *reduced]
        values = dequantize.input
        if permutation != sorted(permutation):
            values = torq_hl.transpose(values, perm=permutation)
        mean = torq_hl.reduce_mean(
            constant(np.ones(1, np.int8)),
            _mean_pair(dequantize, quantize, count, divisor),
            reshape(values, rows),
            input_zp=int(dequantize.zero_point),
            element_type=result_element(quantize),
            **_mean_attributes(dequantize, quantize, clamped, divisor),
        )
        result = reshape(mean, ir.RankedTensorType(quantize.operation.results[0].type).shape)
        rewriter.replace_op(quantize.operation, [result])
    return None


def _global_average(window: _Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    count = math.prod(window.kernel)
    n, c, *_ = window.shape
    mean = torq_hl.avg_pool2d(
        constant(np.ones(1, np.int8)),
        _mean_pair(dequantize, quantize, count, divisor),
        torq_hl.transpose(reshape(dequantize.input, window.shape), perm=[0, 2, 3, 1]),
        input_zp=int(dequantize.zero_point),
        element_type=result_element(quantize),
        **_mean_attributes(dequantize, quantize, clamped, divisor),
    )
    return reshape(mean, [n, c, 1, 1])


def _windowed_average(window: _Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    factor, _ = multiplier(dequantize.scale / (quantize.scale * divisor))
    attributes = _mean_attributes(dequantize, quantize, clamped, divisor)
    return _window_sum(window, dequantize, factor, result_element(quantize), **attributes)


def _uncounted_average(window: _Window, dequantize, quantize, clamped, divisor) -> ir.Value:
    """Padding that is not counted: the sum of each window times `least common multiple / count`, both exact."""
    common = _common_multiple(divisor)
    limit = math.prod(window.kernel) << ir.RankedTensorType(dequantize.input.type).element_type.width
    element = ir.IntegerType.get_signless(16 if limit < 1 << 15 else 32)
    low, high = -(1 << (element.width - 1)), (1 << (element.width - 1)) - 1
    total = _window_sum(window, dequantize, 1, element, output_zp=0, output_min=low, output_max=high, shift_factor=0)
    divisor = divisor.reshape([*divisor.shape[:2], *_of_image(divisor.shape[2:], 1)])
    attributes = _mean_attributes(dequantize, quantize, clamped, common)
    factor, shift = multiplier(dequantize.scale / (quantize.scale * common))
    del attributes["shift_factor"]
    return torq_hl.mul(
        constant(np.array([0, factor], np.int32)),
        total,
        constant((common // divisor).astype(np.int16)),
        shift=shift,
        element_type=result_element(quantize),
        **attributes,
    )


def _window_sum(window: _Window, dequantize: Dequantize, factor: int, element: ir.Type, **output: int) -> ir.Value:
    """`rescale(sum over the window of x - zx)`; padding counts as zx, that is as zero."""
    channels = window.shape[1]
    pair = np.array([-math.prod(window.kernel) * int(dequantize.zero_point), factor], np.int32)
    return torq_hl.depthwise_conv2d(
        constant(np.ones((channels, 1, *window.kernel), np.int8)),
        constant(np.tile(pair, channels)),
        reshape(dequantize.input, window.shape),
        input_zp=int(dequantize.zero_point),
        groups=channels,
        pad=window.padding,
        stride=window.stride,
        dilation=[1, 1],
        element_type=element,
        **output,
    )


def _check_mean(dequantize: Dequantize, quantize: Quantize, divisor: float | np.ndarray) -> None:
    """Refuses a mean whose scale has no multiplier, and counts whose quotients are too large."""
    if not isinstance(divisor, np.ndarray):
        multiplier(dequantize.scale / (quantize.scale * divisor))
        return
    common = _common_multiple(divisor)
    _, shift = multiplier(dequantize.scale / (quantize.scale * common))
    if shift > np.iinfo(np.int8).max:
        raise NoMatch(f"the shift {shift} of the product does not fit in i8")
    if common // int(divisor.min()) > np.iinfo(np.int16).max:
        raise NoMatch("the least common multiple of the counts of the windows does not fit in i16")


def _common_multiple(counts: np.ndarray) -> int:
    return math.lcm(*np.unique(counts).tolist())


def _mean_pair(dequantize: Dequantize, quantize: Quantize, count: int, divisor: float) -> ir.Value:
    """`[-count * zx, multiplier of sx / (sy * divisor)]`."""
    value, _ = multiplier(dequantize.scale / (quantize.scale * divisor))
    return constant(np.array([-count * int(dequantize.zero_point), value], np.int32))


def _mean_attributes(dequantize: Dequantize, quantize: Quantize, clamped: Clamped, divisor: float) -> dict[str, int]:
    low, high = clamped.integer_bounds(quantize)
    _, shift = multiplier(dequantize.scale / (quantize.scale * divisor))
    return {"output_zp": int(quantize.zero_point), "output_min": low, "output_max": high, "shift_factor": shift}


def _match_window(value: ir.Value, names: tuple[str, ...], padding: float) -> _Window | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name not in names:
        return None
    operation = value.owner.operation
    initial = match_initial_value(operation.operands[2])
    if initial is None or initial.bias != padding:
        raise NoMatch("the pooling starts from another value than its neutral one")
    source, low, high = operation.operands[0], [0, 0], [0, 0]
    if not isinstance(source.owner, ir.Block) and source.owner.operation.name == "tensor.pad":
        low_high = pad_amounts(source.owner.operation)
        if pad_value(source.owner.operation) != padding or low_high is None or any(low_high[0][:2] + low_high[1][:2]):
            raise NoMatch("the pooling is padded with another value than its neutral one")
        low, high = (_of_image(side[2:], 0) for side in low_high)
        source = source.owner.operation.operands[0]
    stride, dilation = (
        _of_image(elements.to_numpy(operation.attributes[name]).tolist(), 1) for name in ("strides", "dilations")
    )
    kernel = _of_image(ir.RankedTensorType(operation.operands[1].type).shape, 1)
    sizes, results = (_of_image(ir.RankedTensorType(v.type).shape[2:], 1) for v in (source, operation.results[0]))
    for d in range(2):
        reached = (results[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1
        high[d] = min(high[d], max(0, reached - sizes[d] - low[d]))  # a lowering of ceil_mode pads more than that
        if sizes[d] + low[d] + high[d] >= reached + stride[d]:
            raise NoMatch("the pooling leaves windows out")
    return _Window(operation, source, [low[1], high[1], low[0], high[0]], kernel, stride, dilation)


def _of_image(values: list[int], of_height: int) -> list[int]:
    """Values for height and width, of those or of the width alone."""
    return [*values] if len(values) == 2 else [of_height, *values]


def _match_quotient(value: ir.Value) -> tuple[float | np.ndarray, ir.Value, ir.Operation] | None:
    """`(divisor, dividend, operation)` of a division by a constant, or by a positive number for each position."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("arith.divf", ("arg", 0), ("const", divisor)):
            return divisor, generic.operands[0], generic
        case ("arith.mulf", ("arg", 0), ("const", factor)) if factor:
            return 1.0 / factor, generic.operands[0], generic
        case ("arith.divf", ("arg", 0), ("arith.sitofp", count)):
            counts = evaluate_indices(count, ir.RankedTensorType(value.type).shape)
            if counts is not None and counts.min(initial=1) > 0:
                return counts if counts.min() != counts.max() else float(counts.max()), generic.operands[0], generic
    return None


def _match_sum(value: ir.Value) -> tuple[ir.Operation, list[int]] | None:
    """A sum from zero over some loops, and the loops that are kept."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("arith.addf", ("arg", 0), ("arg", 1)) | ("arith.addf", ("arg", 1), ("arg", 0)) if (
            len(generic.operands) == 2
        ):
            pass
        case _:
            return None
    initial = match_initial_value(generic.operands[1])
    if initial is None or initial.bias != 0:
        raise NoMatch("the sum does not start from zero")
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    if maps[0] != ir.AffineMap.get_identity(maps[0].n_dims):
        return None
    return generic, [e.position for e in maps[1].results if isinstance(e, ir.AffineDimExpr)]
