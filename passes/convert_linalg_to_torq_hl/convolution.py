# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer contractions over windows as conv1d, conv2d and depthwise_conv2d."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.rewriting.contraction import QuantizedContraction
from torq_mlir.rewriting.integer_chain import insert_amounts, inserted_into, pad_amounts, pad_value
from torq_mlir.rewriting.patterns import NoMatch
from torq_mlir.rewriting.structured import reassociation, reshape

from .accumulation import Accumulation, Output
from .volume import Depth

_TRANSPOSES = {"linalg.transpose": "permutation", "torq_hl.transpose": "perm"}


@dataclass(frozen=True)
class _Loops:
    """The loops of a convolution by their part in it."""

    batch: list[int]
    group: list[int]
    output_channel: list[int]
    input_channel: list[int]
    image: list[int]
    window: list[int]

    @property
    def output(self) -> list[int]:
        """Loops of the result, channels first."""
        return self.batch + self.group + self.output_channel + self.image


@dataclass(frozen=True)
class _Input:
    """The unpadded input.

    Attributes:
      permutation: what brings it to [N, C, spatial...].
      padding: [left, right, top, bottom].
      image: sizes of the spatial dimensions after that; those of one may be missing before.
    """

    value: ir.Value
    permutation: list[int]
    padding: list[int]
    image: list[int]

    def build(self) -> ir.Value:
        value = _transpose(self.value, self.permutation)
        return reshape(value, [*ir.RankedTensorType(value.type).shape[:2], *self.image])


def infer_window(contraction: QuantizedContraction) -> linalg.ConvolutionDimensions | None:
    """The loops of a convolution; None for other contractions."""
    window = linalg.infer_convolution_dimensions_from_maps(list(contraction.maps))
    return window if window is not None and list(window.output_image) else None


def match_convolution(
    accumulation: Accumulation, output: Output, window: linalg.ConvolutionDimensions
) -> tuple[Callable[[], ir.Value], int]:
    """A builder of the convolution, and the dimension of the accumulation's value that the output channels are in."""
    contraction = accumulation.contraction
    names = ("batch", "depth", "output_channel", "input_channel", "output_image", "filter_loop")
    loops = _Loops(*(list(getattr(window, name)) for name in names))
    if len(loops.image) > 3:
        raise NoMatch("the NPU has no convolution over more than three dimensions")
    if any(0 in ir.RankedTensorType(value.type).shape for value in (contraction.input, contraction.result)):
        raise NoMatch("the convolution has no elements")
    if len(loops.batch) != 1 or max(map(len, (loops.group, loops.output_channel, loops.input_channel))) > 1:
        raise NoMatch("the convolution has several batch, group or channel loops")
    constant = accumulation.constant_weights()
    operands = (_runtime if constant is None else _constant)(accumulation, output, loops)
    source = _match_input(contraction, loops)
    permutation = _result_permutation(accumulation, loops)
    if len(loops.image) == 3:
        return _over_volume(accumulation, output, window, operands, source, permutation), permutation.index(1)
    input_channels = ir.RankedTensorType(source.value.type).shape[source.permutation[1]]
    attributes = {
        "input_zp": contraction.input_zp,
        "shift_factor": operands.shift,
        "groups": input_channels // operands.shape[1],
        "pad": source.padding,
        "stride": list(window.strides),
        "dilation": list(window.dilations),
        **output.attributes,
    }
    depthwise = attributes["groups"] > 1 and operands.shape[1] == 1
    builder = torq_hl.conv1d if len(loops.image) == 1 else torq_hl.depthwise_conv2d if depthwise else torq_hl.conv2d

    def build() -> ir.Value:
        value = builder(
            *operands.build(), accumulation.operand(source.build()), element_type=output.element, **attributes
        )
        return reshape(_transpose(value, permutation), ir.RankedTensorType(accumulation.value.type).shape)

    return build, permutation.index(1)


def _over_volume(
    accumulation: Accumulation,
    output: Output,
    window: linalg.ConvolutionDimensions,
    operands: "_Operands",
    source: _Input,
    permutation: list[int],
) -> Callable[[], ir.Value]:
    """A convolution over images of slices next to one another."""
    if accumulation.constant_weights() is None:
        raise NoMatch("a convolution over three dimensions has constant weights")
    (kernel, *_), (stride, *strides), (dilation, *dilations) = operands.shape[2:], window.strides, window.dilations
    batch, channels = (ir.RankedTensorType(source.value.type).shape[d] for d in source.permutation[:2])
    input_zp = accumulation.contraction.input_zp
    *padding, front, back = source.padding
    depth = Depth(kernel, stride, dilation, front, back, channels // operands.shape[1], input_zp)

    def build() -> ir.Value:
        weights, scale_bias = operands.build()
        value = torq_hl.conv2d(
            arith.constant(None, elements.from_numpy(depth.fold_weights(elements.constant_value(weights)))),
            scale_bias,
            depth.fold(accumulation.operand(source.build())),
            input_zp=input_zp,
            shift_factor=operands.shift,
            groups=depth.groups,
            pad=padding,
            stride=strides,
            dilation=dilations,
            element_type=output.element,
            **output.attributes,
        )
        value = _transpose(depth.unfold(value, batch), permutation)
        return reshape(value, ir.RankedTensorType(accumulation.value.type).shape)

    return build


@dataclass(frozen=True)
class _Operands:
    """A builder of weights and scale_bias, the shape of the weights, and the shift."""

    build: Callable[[], tuple[ir.Value, ir.Value]]
    shape: Sequence[int]
    shift: int


def _constant(accumulation: Accumulation, output: Output, loops: _Loops) -> _Operands:
    contraction, weights = accumulation.contraction, accumulation.constant_weights()
    correction, axes = contraction.per_output_channel(accumulation.correction(weights))
    if [contraction.dims(2)[axis] for axis in axes] != loops.group + loops.output_channel:
        raise NoMatch("the weights do not run over the output channels")
    weights = _oihw(contraction, weights, loops)
    scale_bias, shift = output.scale_bias(accumulation, correction.reshape(-1))
    return _Operands(lambda: (arith.constant(None, elements.from_numpy(weights)), scale_bias()), weights.shape, shift)


def _runtime(accumulation: Accumulation, output: Output, loops: _Loops) -> _Operands:
    """Run-time weights, and the scale_bias that their sums go into."""
    contraction = accumulation.contraction
    if loops.group or contraction.dims(1) != loops.output_channel + loops.input_channel + loops.window:
        raise NoMatch("the run-time weights are not [output channels, input channels, window]")
    shape = ir.RankedTensorType(contraction.weights.type).shape
    scale_bias, shift = output.runtime_scale_bias(accumulation, shape[0])

    def build() -> tuple[ir.Value, ir.Value]:
        weights = accumulation.runtime_weights()
        return weights, scale_bias(weights, 0)

    return _Operands(build, shape, shift)


def _oihw(contraction: QuantizedContraction, weights: np.ndarray, loops: _Loops) -> np.ndarray:
    """Weights as [output channels, input channels of a group, window...]."""
    outputs = loops.group + loops.output_channel
    order = [contraction.dims(1).index(loop) for loop in outputs + loops.input_channel + loops.window]
    weights = weights.transpose(order)
    window = weights.shape[weights.ndim - len(loops.window) :]
    return np.ascontiguousarray(weights.reshape(int(np.prod(weights.shape[: len(outputs)])), -1, *window))


def _match_input(contraction: QuantizedContraction, loops: _Loops) -> _Input:
    """The input before padding with the zero point, transposition and the split of its channels."""
    dims = contraction.dims(0)
    leading = loops.batch + loops.group + loops.input_channel
    spatial = [d for d, loop in enumerate(dims) if loop is None or loop not in leading]
    if len(spatial) != len(loops.image) or len(dims) != len(leading) + len(spatial):
        raise NoMatch("the input of the convolution is not a batch of channels of images")
    permutation = [dims.index(loop) for loop in leading] + spatial
    value, present = contraction.input, list(range(len(spatial)))
    if len(leading) == 3:
        if permutation != list(range(len(permutation))):
            raise NoMatch("the groups of the input are not channels-first")
        value, present = _before_split(value)
        permutation = list(range(2 + len(present)))
    padding = [0] * (2 * len(present))
    while (step := _unmove(value, permutation, padding, contraction.input_zp)) is not None:
        value, permutation, padding = step
    # The innermost dimension has its padding first.
    image, sides = [1] * len(spatial), [[0, 0] for _ in spatial]
    for index, d in enumerate(present):
        image[d] = ir.RankedTensorType(value.type).shape[permutation[2 + index]]
        innermost = len(present) - 1 - index
        sides[len(spatial) - 1 - d] = padding[2 * innermost : 2 * innermost + 2]
    return _Input(value, permutation, [amount for side in sides for amount in side], image)


def _before_split(value: ir.Value) -> tuple[ir.Value, list[int]]:
    """[N, C, spatial...] of [N, groups, C / groups, spatial...], and which spatial dimensions it has.

    A convolution over one dimension has become one over two, the size of one of which is 1.
    """
    source = _operand_of(value, "tensor.expand_shape")
    groups = [] if source is None else reassociation(value.owner.operation)
    sizes = ir.RankedTensorType(value.type).shape
    if groups[:2] != [[0], [1, 2]] or any(sum(sizes[d] > 1 for d in group) > 1 for group in groups[2:]):
        raise NoMatch("the groups of the input are not a split of its channels")
    return source, [max(group, key=lambda d: sizes[d]) - 3 for group in groups[2:]]


def _unmove(value: ir.Value, permutation, padding, zero_point: int) -> tuple[ir.Value, list[int], list[int]] | None:
    """One transposition or padding less."""
    if isinstance(value.owner, ir.Block):
        return None
    operation = value.owner.operation
    if operation.name in _TRANSPOSES:
        moved = list(ir.DenseI64ArrayAttr(operation.attributes[_TRANSPOSES[operation.name]]))
        source = operation.operands[0 if operation.name == "linalg.transpose" else 1]
        composed = [moved[d] for d in permutation]
        return (source, composed, padding) if composed == sorted(composed) else None
    if any(padding):
        return None
    amounts = pad_amounts(operation) if pad_value(operation) == zero_point else None
    if inserted_into(operation) == zero_point:
        amounts = insert_amounts(operation)
    if amounts is None or any(side[d] for side in amounts for d in permutation[:2]):
        return None
    # The innermost dimension first.
    amounts = [side[d] for d in reversed(permutation[2:]) for side in amounts]
    return operation.operands[0], permutation, amounts


def _result_permutation(accumulation: Accumulation, loops: _Loops) -> list[int]:
    """The permutation from [N, C, spatial...] to the accumulation's value."""
    dims = accumulation.contraction.dims(2)
    movement = accumulation.movement
    split = len(loops.group + loops.output_channel) == 2
    collapses = movement is not None and movement.name == "tensor.collapse_shape"
    if split or collapses:
        if not (split and collapses and reassociation(movement)[:2] == [[0], [1, 2]] and dims == loops.output):
            raise NoMatch("the groups of the result are not collapsed to channels")
        return list(range(2 + len(loops.image)))
    permutation = [loops.output.index(loop) for loop in dims]
    if movement is None:
        return permutation
    return [permutation[d] for d in ir.DenseI64ArrayAttr(movement.attributes["permutation"])]


def _transpose(value: ir.Value, permutation: list[int]) -> ir.Value:
    return value if permutation == sorted(permutation) else torq_hl.transpose(value, perm=permutation)


def _operand_of(value: ir.Value, name: str) -> ir.Value | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != name:
        return None
    return value.owner.operation.operands[0]
