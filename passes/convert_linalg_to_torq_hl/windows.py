# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of poolings over one to three dimensions."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import linalg

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.accumulator import match_initial_value
from torq_mlir.rewriting.integer_chain import pad_amounts, pad_value
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.scalar_body import body_expression, named_extremum
from torq_mlir.rewriting.structured import reshape

MAXIMA = "linalg.pooling_nchw_max", "linalg.pooling_ncw_max"
SUMS = "linalg.pooling_nchw_sum", "linalg.pooling_ncw_sum", "linalg.pooling_ndhwc_sum"
_CHANNELS_LAST = "linalg.pooling_ndhwc_sum"


@dataclass(frozen=True)
class Window:
    """A window that slides over the spatial dimensions of `source`; lists have an element for each of these.

    Attributes:
      operation: what pools.
      source: the tensor before padding, [N, C, spatial...] or with `channels_last` [N, spatial..., C].
      low, high: padding.
    """

    operation: ir.Operation
    source: ir.Value
    low: list[int]
    high: list[int]
    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    channels_last: bool = False

    @property
    def shape(self) -> list[int]:
        """[N, C, spatial...] of the source."""
        shape = list(ir.RankedTensorType(self.source.type).shape)
        return [shape[0], shape[-1], *shape[1:-1]] if self.channels_last else shape

    @property
    def covers_input(self) -> bool:
        return self.kernel == self.shape[2:] and not any(self.low + self.high)

    @property
    def positions(self) -> list[int]:
        """How many there are along each dimension."""
        padded = [a + size + b for a, size, b in zip(self.low, self.shape[2:], self.high, strict=True)]
        return [
            (size - (kernel - 1) * dilation - 1) // stride + 1
            for size, kernel, stride, dilation in zip(padded, self.kernel, self.stride, self.dilation, strict=True)
        ]

    def channels_first(self, value: ir.Value) -> ir.Value:
        """A tensor of the shape of the source as [N, C, spatial...]."""
        if not self.channels_last:
            return value
        rank = len(self.shape)
        return torq_hl.transpose(value, perm=[0, rank - 1, *range(1, rank - 1)])

    def over(self, dimensions: Sequence[int]) -> "Window":
        """The part of the window along some of the dimensions."""
        fields = ("low", "high", "kernel", "stride", "dilation")
        return dataclasses.replace(self, **{name: [getattr(self, name)[d] for d in dimensions] for name in fields})

    @property
    def image(self) -> dict[str, list[int]]:
        """Attributes of an operation on images; a window over one dimension is one over an image of height 1."""
        (top, left), (bottom, right) = _of_image(self.low, 0), _of_image(self.high, 0)
        return {"pad": [left, right, top, bottom], "stride": _of_image(self.stride, 1)}

    @property
    def image_kernel(self) -> list[int]:
        return _of_image(self.kernel, 1)


def as_image(value: ir.Value) -> ir.Value:
    """[N, C, W] as [N, C, 1, W]; images as they are."""
    *before, width = ir.RankedTensorType(value.type).shape
    return reshape(value, [*before, 1, width]) if len(before) == 2 else value


def match_window(value: ir.Value, names: Sequence[str], neutral: float) -> Window | None:
    """The pooling that defines `value`: one of `names`, or for maxima a generic over volumes.

    Args:
      neutral: what it has to start from and be padded with.
    """
    if isinstance(value.owner, ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in names:
        strides, dilations = (
            elements.to_numpy(operation.attributes[name]).tolist() for name in ("strides", "dilations")
        )
    elif operation.name == "linalg.generic" and names == MAXIMA:
        steps = _match_generic(operation)
        if steps is None:
            return None
        strides, dilations = steps
    else:
        return None
    initial = match_initial_value(operation.operands[2])
    if initial is None or initial.bias != neutral:
        raise NoMatch("the pooling starts from another value than its neutral one")
    kernel = ir.RankedTensorType(operation.operands[1].type).shape
    if 0 in kernel:
        raise NoMatch("the window of the pooling has no elements")
    none = [0] * len(kernel)
    channels_last = operation.name == _CHANNELS_LAST
    window = Window(operation, operation.operands[0], none, none, kernel, strides, dilations, channels_last)
    return _fitted(without_padding(window, neutral))


def _match_generic(generic: ir.Operation) -> tuple[list[int], list[int]] | None:
    """Strides and dilations of a maximum over windows of a volume."""
    if len(generic.operands) != 3 or len(generic.results) != 1:
        return None
    match named_extremum(body_expression(generic)):
        case ("max", ("arg", 0), ("arg", 2)) | ("max", ("arg", 2), ("arg", 0)):
            pass
        case _:
            return None
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    loops = linalg.infer_convolution_dimensions_from_maps(maps)
    rank = ir.RankedTensorType(generic.operands[1].type).rank
    if loops is None or list(loops.output_image) != list(range(2, 2 + rank)):
        return None
    return list(loops.strides), list(loops.dilations)


def without_padding(window: Window, neutral: float) -> Window:
    """The window with a padding before it as part of it; `neutral` is what pads without an effect."""
    pad = None if isinstance(window.source.owner, ir.Block) else window.source.owner.operation
    if pad is None or pad.name != "tensor.pad":
        return window
    amounts = pad_amounts(pad)
    channels = len(window.kernel) + 1 if window.channels_last else 1
    outer = [] if amounts is None else [side[d] for side in amounts for d in (0, channels)]
    if pad_value(pad) != neutral or amounts is None or any(outer):
        raise NoMatch("the pooling is padded with another value than its neutral one")
    first = 1 if window.channels_last else 2
    low, high = (side[first : first + len(window.kernel)] for side in amounts)
    low = [a + b for a, b in zip(low, window.low, strict=True)]
    high = [a + b for a, b in zip(high, window.high, strict=True)]
    return dataclasses.replace(window, source=pad.operands[0], low=low, high=high)


def _fitted(window: Window) -> Window:
    """The window without padding that it does not reach, which a lowering of ceil_mode adds."""
    spatial = window.shape[2:]
    shape = list(ir.RankedTensorType(window.operation.results[0].type).shape)
    positions = shape[1:-1] if window.channels_last else shape[2:]
    high = list(window.high)
    for d, size in enumerate(spatial):
        reached = (positions[d] - 1) * window.stride[d] + (window.kernel[d] - 1) * window.dilation[d] + 1
        high[d] = min(high[d], max(0, reached - size - window.low[d]))
        if size + window.low[d] + high[d] >= reached + window.stride[d]:
            raise NoMatch("the pooling leaves windows out")
    return dataclasses.replace(window, high=high)


def _of_image(values: list[int], of_height: int) -> list[int]:
    """Values for height and width, of those or of the width alone."""
    return [*values] if len(values) == 2 else [of_height, *values]


def merged_depth(shape: Sequence[int]) -> list[int]:
    """[N, C * D, H, W] of [N, C, D, H, W]."""
    batch, channels, depth, *image = shape
    return [batch, channels * depth, *image]


def merged_image(shape: Sequence[int]) -> list[int]:
    """[N, C, D, H * W] of [N, C, D, H, W]."""
    batch, channels, depth, *image = shape
    return [batch, channels, depth, math.prod(image)]
