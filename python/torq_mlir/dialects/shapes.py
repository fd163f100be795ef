# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result shapes of operations: functions of operand shapes and attributes, named as these are in the ODS.

Shapes are tuples, None is a dimension that is not known. `ShapeError` names the operand or attribute that does not fit.
"""

from collections.abc import Sequence

from torq_mlir.dialects.ods import InvalidOperationError
from torq_mlir.dialects.tensor_types import Shape, text


class ShapeError(InvalidOperationError):
    """Operands and attributes do not fit together."""


def _require_rank(name: str, shape: Shape, rank: int, layout: str) -> None:
    if len(shape) != rank:
        raise ShapeError(f"'{name}' must have rank {rank} ({layout}), but has rank {len(shape)}")


def _equal(first: int | None, second: int | None) -> bool:
    return first is None or second is None or first == second


def window(
    size: int | None, kernel: int | None, *, before: int, after: int, stride: int, dilation: int, dimension: str
) -> int | None:
    """Number of positions of a window along one dimension, rounded down."""
    if size is None or kernel is None:
        return None
    extent = dilation * (kernel - 1) + 1
    padded = size + before + after
    if padded < extent:
        raise ShapeError(f"the window of {extent} does not fit the padded {dimension} of 'input', {padded}")
    return (padded - extent) // stride + 1


def _channels(weights: Shape, channels: int | None, groups: int) -> int | None:
    """The output channels of a convolution, checked against its groups."""
    output, per_group = weights[:2]
    if output is not None and output % groups:
        raise ShapeError(f"'groups' ({groups}) must divide the {output} output channels of 'weights'")
    if channels is not None and per_group is not None and per_group * groups != channels:
        raise ShapeError(
            f"'weights' has {per_group} input channels and 'groups' is {groups}, but 'input' has {channels} channels"
        )
    return output


def conv2d(
    *,
    input: Shape,
    weights: Shape,
    groups: int,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    nhwc_input: bool,
) -> Shape:
    """[N, O, H', W'] of [N, C, H, W], or [N, H, W, C] with `nhwc_input`, and weights [O, C / groups, kh, kw]."""
    _require_rank("input", input, 4, "NHWC" if nhwc_input else "NCHW")
    _require_rank("weights", weights, 4, "OIHW")
    if nhwc_input:
        batch, height, width, channels = input
    else:
        batch, channels, height, width = input
    left, right, top, bottom = pad
    rows = {"before": top, "after": bottom, "stride": stride[0], "dilation": dilation[0], "dimension": "height"}
    columns = {"before": left, "after": right, "stride": stride[1], "dilation": dilation[1], "dimension": "width"}
    output = _channels(weights, channels, groups)
    return (batch, output, window(height, weights[2], **rows), window(width, weights[3], **columns))


def depthwise_conv2d(
    *,
    input: Shape,
    weights: Shape,
    groups: int,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    nhwc_input: bool,
) -> Shape:
    """As `conv2d` with weights [C * m, 1, kh, kw]."""
    _require_rank("weights", weights, 4, "OIHW")
    if not _equal(weights[1], 1):
        raise ShapeError(f"'weights' must have 1 input channel, but has {weights[1]}")
    return conv2d(
        input=input, weights=weights, groups=groups, pad=pad, stride=stride, dilation=dilation, nhwc_input=nhwc_input
    )


def conv1d(
    *,
    input: Shape,
    weights: Shape,
    groups: int,
    pad: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> Shape:
    """[N, O, W'] of an input [N, C, W] and weights [O, C / groups, kw]."""
    _require_rank("input", input, 3, "NCW")
    _require_rank("weights", weights, 3, "OIW")
    batch, channels, width = input
    output = _channels(weights, channels, groups)
    left, right = pad
    positions = window(
        width, weights[2], before=left, after=right, stride=stride[0], dilation=dilation[0], dimension="width"
    )
    return (batch, output, positions)


def fully_connected(*, input: Shape, weights: Shape) -> Shape:
    """[.., N] of an input [.., K] and weights [K, N]."""
    _require_rank("weights", weights, 2, "KN")
    if not input:
        raise ShapeError("'input' must have rank 1 or more")
    if not _equal(input[-1], weights[0]):
        raise ShapeError(f"'weights' has {weights[0]} rows, but the last dimension of 'input' is {input[-1]}")
    return (*input[:-1], weights[1])


def matmul(*, input1: Shape, input2: Shape) -> Shape:
    """[.., M, N] of [.., M, K] and [.., K, N]."""
    if len(input1) < 2 or len(input1) != len(input2):
        raise ShapeError(
            f"'input1' and 'input2' must have one rank of at least 2, but have {len(input1)}, {len(input2)}"
        )
    if not _equal(input1[-1], input2[-2]):
        raise ShapeError(f"'input1' has {input1[-1]} columns, but 'input2' has {input2[-2]} rows")
    leading = []
    for first, second in zip(input1[:-2], input2[:-2], strict=True):
        if not _equal(first, second):
            raise ShapeError(f"a leading dimension is {first} in 'input1', but {second} in 'input2'")
        leading.append(second if first is None else first)
    return (*leading, input1[-2], input2[-1])


def broadcast_inputs(*, input1: Shape, input2: Shape) -> Shape:
    """The shape to which both inputs broadcast by the rules of numpy."""
    rank = max(len(input1), len(input2))
    sizes = []
    for first, second in zip(_extended(input1, rank), _extended(input2, rank), strict=True):
        if first == 1 or second == 1:
            sizes.append(second if first == 1 else first)
        elif _equal(first, second):
            sizes.append(second if first is None else first)
        else:
            raise ShapeError(f"'input1' and 'input2' do not broadcast: {first} against {second}")
    return tuple(sizes)


def _extended(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape


def same_as_input(*, input: Shape) -> Shape:
    """The shape of the input."""
    return input


def one_element() -> Shape:
    """[1], whatever the input."""
    return (1,)


def tokens(*, input: Shape) -> Shape:
    """[.., 1] of an input [.., N]."""
    if not input:
        raise ShapeError("'input' must have rank 1 or more")
    if input[-1] == 0:
        raise ShapeError("'input' must not be empty along its last dimension")
    return (*input[:-1], 1)


def maxpool2d(*, input: Shape, kernel: Sequence[int], pad: Sequence[int], stride: Sequence[int]) -> Shape:
    """[N, C, H', W'] of an input [N, C, H, W]."""
    _require_rank("input", input, 4, "NCHW")
    batch, channels, height, width = input
    left, right, top, bottom = pad
    return (
        batch,
        channels,
        window(height, kernel[0], before=top, after=bottom, stride=stride[0], dilation=1, dimension="height"),
        window(width, kernel[1], before=left, after=right, stride=stride[1], dilation=1, dimension="width"),
    )


def avg_pool2d(*, input: Shape) -> Shape:
    """[N, 1, 1, C] of an input [N, H, W, C]."""
    _require_rank("input", input, 4, "NHWC")
    return (input[0], 1, 1, input[3])


def reduce_mean(*, input: Shape) -> Shape:
    """[.., 1] of an input [.., K]."""
    if not input:
        raise ShapeError("'input' must have rank 1 or more")
    return (*input[:-1], 1)


def without_axis(*, input: Shape, axis: int) -> Shape:
    """The shape of the input without one dimension."""
    if not 0 <= axis < len(input):
        raise ShapeError(f"'axis' ({axis}) must be a dimension of 'input', which has rank {len(input)}")
    return (*input[:axis], *input[axis + 1 :])


def select(*, input1: Shape, input2: Shape, input3: Shape) -> Shape:
    """The shape to which the condition and both values broadcast by the rules of numpy."""
    return broadcast_inputs(input1=input1, input2=broadcast_inputs(input1=input2, input2=input3))


def transpose(*, input: Shape, perm: Sequence[int]) -> Shape:
    """Dimension d of the result is dimension perm[d] of the input."""
    if sorted(perm) != list(range(len(input))):
        raise ShapeError(f"'perm' must be a permutation of 0..{len(input) - 1}, but is {list(perm)}")
    return tuple(input[dimension] for dimension in perm)


def broadcast(*, input: Shape, init: Shape, dimensions: Sequence[int]) -> Shape:
    """The shape of init, which is that of the input where it has no new dimension."""
    if sorted(set(dimensions)) != list(dimensions) or any(not 0 <= each < len(init) for each in dimensions):
        raise ShapeError(f"'dimensions' must be increasing and within 0..{len(init) - 1}, but is {list(dimensions)}")
    kept = [size for dimension, size in enumerate(init) if dimension not in dimensions]
    if len(kept) != len(input) or not all(map(_equal, kept, input)):
        raise ShapeError(f"'init' without 'dimensions' has shape {text(kept)}, but 'input' has shape {text(input)}")
    return init


def fill(*, init: Shape) -> Shape:
    """The shape of init."""
    return init


def gather(*, values: Shape, indices: Shape) -> Shape:
    """[i.., j..] of values [K, j..] and indices [i..]."""
    if not values:
        raise ShapeError("'values' must have rank 1 or more")
    if values[0] == 0:
        raise ShapeError("'values' must not be empty along its first dimension")
    return (*indices, *values[1:])


def resize_nearest_neighbor(*, input: Shape, scale_factor: int) -> Shape:
    """[N, C, H * scale_factor, W * scale_factor] of an input [N, C, H, W]."""
    _require_rank("input", input, 4, "NCHW")
    return (*input[:2], *(None if size is None else size * scale_factor for size in input[2:]))


def depth_to_space(*, input: Shape, blockSize: int) -> Shape:  # noqa: N803  (the name of the attribute)
    """[N, C / b^2, H * b, W * b] of an input [N, C, H, W] and `b = blockSize`."""
    _require_rank("input", input, 4, "NCHW")
    batch, channels, *image = input
    if channels is not None and channels % blockSize**2:
        raise ShapeError(f"'blockSize' ({blockSize}) squared must divide the {channels} channels of 'input'")
    channels = None if channels is None else channels // blockSize**2
    return (batch, channels, *(None if size is None else size * blockSize for size in image))
