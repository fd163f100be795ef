# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and matrix products: pad, contract into an integer accumulator, rescale."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import elements
from torq_mlir.rewriting.structured import (
    PARALLEL,
    REDUCTION,
    build_generic,
    convert_float,
    element_type,
    extend,
    pad_with,
    projection,
    scalar_constant,
    sizes,
)

from .operands import Rescale, Unsupported, accumulator_type, pairs, require_default, weight_values


def lower_convolution(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    """conv1d, conv2d and depthwise_conv2d."""
    layout = [name for name in ("segment_output", "is_dw1d_stride1") if hasattr(attributes, name)]
    require_default(attributes, "weight_zp", "vectorization_mode", *layout)
    channels_last = getattr(attributes, "nhwc_input", False)
    loops = _ConvolutionLoops.of(op, attributes, channel_dimension=3 if channels_last else 1)
    channel_dimension = loops.channel_dimension
    padded = _pad(op.input, attributes.pad, attributes.input_zp, channel_dimension)
    source, weights = padded, op.weights
    if loops.groups > 1 and loops.split_input:
        source = _split(source, channel_dimension, loops.groups)
    if loops.groups > 1 and loops.split_output:
        weights = _split(weights, 0, loops.groups)
    output_sizes = sizes(op.init)
    if loops.groups > 1 and loops.split_output:
        output_sizes[1:2] = [loops.groups, output_sizes[1] // loops.groups]
    accumulator = _contract(source, weights, output_sizes, loops.maps(attributes), loops.iterators)
    if loops.groups > 1 and loops.split_output:
        accumulator = _merge(accumulator, 1, op.init.type)
    return rescaled(op, accumulator, Rescale.of(attributes, attributes.shift_factor), channel_dimension=1)


def lower_fully_connected(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    require_default(attributes, "weight_zp", "vectorization_mode", "is_batch_scaled")
    rank = ir.RankedTensorType(op.init.type).rank
    k = rank
    maps = [projection(rank + 1, dims) for dims in ([*range(rank - 1), k], [k, rank - 1], range(rank))]
    accumulator = _contract(op.input, op.weights, sizes(op.init), maps, [PARALLEL] * rank + [REDUCTION])
    return rescaled(op, accumulator, Rescale.of(attributes, attributes.shift_factor), channel_dimension=rank - 1)


def lower_matmul(op: ir.OpView, attributes: SimpleNamespace) -> ir.Value:
    rank = ir.RankedTensorType(op.init.type).rank
    batch, m, n, k = list(range(rank - 2)), rank - 2, rank - 1, rank
    maps = [projection(rank + 1, dims) for dims in ([*batch, m, k], [*batch, k, n], [*batch, m, n])]
    iterators = [PARALLEL] * rank + [REDUCTION]
    accumulator = _contract(op.input1, op.input2, sizes(op.init), maps, iterators, attributes.input1_unsigned)
    return rescaled(op, accumulator, Rescale.of(attributes, attributes.shift), channel_dimension=rank - 1)


def rescaled(
    op: ir.OpView,
    accumulator: ir.Value,
    rescale: Rescale,
    channel_dimension: int,
    accumulator_dimensions: Sequence[int] | None = None,
) -> ir.Value:
    """The output of `op` from its accumulator without bias.

    Args:
      channel_dimension: dimension of the output that the pairs of `scale_bias` belong to.
      accumulator_dimensions: dimensions of the output that the accumulator has; all when omitted.
    """
    rank = ir.RankedTensorType(op.init.type).rank
    target = element_type(op.init)
    dimensions = range(rank) if accumulator_dimensions is None else accumulator_dimensions
    if isinstance(target, ir.FloatType):
        return biased(op, accumulator, channel_dimension, dimensions)
    bias, multiplier = parameters = pairs(op.scale_bias)
    maps = [projection(rank, dimensions), projection(rank, range(rank))]
    if not parameters.per_channel:
        return build_generic(
            [accumulator],
            op.init,
            maps,
            [PARALLEL] * rank,
            lambda value, _: rescale.apply(value, bias, multiplier, target),
        )
    maps[1:1] = [projection(rank, [channel_dimension])] * 2
    return build_generic(
        [accumulator, bias, multiplier],
        op.init,
        maps,
        [PARALLEL] * rank,
        lambda value, bias, multiplier, _: rescale.apply(value, bias, multiplier, target),
    )


def biased(op: ir.OpView, accumulator: ir.Value, channel_dimension: int, dimensions: Sequence[int]) -> ir.Value:
    """`bf16(accumulator + bias)` of an f32 accumulator that has the `dimensions` of the output."""
    rank, single, half = ir.RankedTensorType(op.init.type).rank, ir.F32Type.get(), ir.BF16Type.get()
    if [element_type(value) for value in (accumulator, op.scale_bias, op.init)] != [single, single, half]:
        raise Unsupported(f"a float result of type {element_type(op.init)}: it is bf16, with a bias of f32")
    per_channel = ir.RankedTensorType(op.scale_bias.type).shape != [1]
    tensors = [accumulator, op.scale_bias] if per_channel else [accumulator]
    maps = [projection(rank, dims) for dims in (dimensions, [channel_dimension])[: len(tensors)]]
    bias = None if per_channel else weight_values(op.scale_bias, 1)[0]

    def body(value: ir.Value, *others: ir.Value) -> ir.Value:
        return convert_float(arith.addf(value, others[0] if per_channel else bias), half)

    return build_generic(tensors, op.init, [*maps, projection(rank, range(rank))], [PARALLEL] * rank, body)


def zeros(shape: Sequence[int | ir.Value], type_: ir.Type) -> ir.Value:
    """A tensor of zeros to accumulate into."""
    return linalg.fill(scalar_constant(type_, 0), outs=[tensor.empty(shape, type_)])


@dataclass(frozen=True)
class _ConvolutionLoops:
    """Loops of a convolution: batch, [group,] [output channel,] image, [input channel,] window.

    With groups, channels are split in (group, channel of the group). A channel of a group that has only one, as in a
    depthwise convolution, is not a loop.
    """

    groups: int
    split_input: bool
    split_output: bool
    spatial: int
    channel_dimension: int

    @classmethod
    def of(cls, op: ir.OpView, attributes: SimpleNamespace, channel_dimension: int) -> "_ConvolutionLoops":
        groups = attributes.groups
        outputs, inputs_per_group, *window = ir.RankedTensorType(op.weights.type).shape
        split_input, split_output = groups == 1 or inputs_per_group > 1, groups == 1 or outputs > groups
        return cls(groups, split_input, split_output, len(window), channel_dimension)

    @property
    def names(self) -> list[str]:
        outer = ["n", *["g"] * (self.groups > 1), *["o"] * self.split_output]
        image, window = (["y", "x"][-self.spatial :], ["i", "j"][-self.spatial :])
        return [*outer, *image, *["c"] * self.split_input, *window]

    @property
    def iterators(self) -> list[linalg.IteratorType]:
        return [REDUCTION if name in "cij" else PARALLEL for name in self.names]

    def maps(self, attributes: SimpleNamespace) -> list[ir.AffineMap]:
        """Indexing maps of the padded input, the weights and the accumulator."""
        names = self.names
        loop = {name: ir.AffineExpr.get_dim(position) for position, name in enumerate(names)}
        image = [loop[name] for name in names if name in "yx"]
        window = [loop[name] for name in names if name in "ij"]
        positions = [
            at * stride + offset * dilation
            for at, stride, offset, dilation in zip(image, attributes.stride, window, attributes.dilation, strict=True)
        ]
        group = [loop["g"]] if self.groups > 1 else []
        inputs = [loop["c"]] if self.split_input else []
        outputs = [loop["o"]] if self.split_output else []
        source = [loop["n"], *positions]
        source[self.channel_dimension : self.channel_dimension] = [*group, *inputs]
        weights = [*group, *outputs, *(inputs or [ir.AffineExpr.get_constant(0)]), *window]
        accumulator = [loop["n"], *group, *outputs, *image]
        return [ir.AffineMap.get(len(names), 0, results) for results in (source, weights, accumulator)]


def _contract(
    source: ir.Value,
    weights: ir.Value,
    output_sizes: Sequence[int | ir.Value],
    maps: Sequence[ir.AffineMap],
    iterators: Sequence[linalg.IteratorType],
    unsigned: bool = False,
) -> ir.Value:
    """The sums of products, as integers, in f32 for bf16. `unsigned` tells how to read the elements of `source`."""
    half, single = ir.BF16Type.get(), ir.F32Type.get()
    if element_type(source) == element_type(weights) == half:

        def multiply_add_floats(value: ir.Value, weight: ir.Value, total: ir.Value) -> ir.Value:
            return arith.addf(total, arith.mulf(convert_float(value, single), convert_float(weight, single)))

        return build_generic([source, weights], zeros(output_sizes, single), maps, iterators, multiply_add_floats)
    accumulator = accumulator_type(element_type(source), weight=element_type(weights))

    def multiply_add(value: ir.Value, weight: ir.Value, total: ir.Value) -> ir.Value:
        product = arith.muli(extend(value, accumulator, unsigned), extend(weight, accumulator))
        return arith.addi(total, product)

    return build_generic([source, weights], zeros(output_sizes, accumulator), maps, iterators, multiply_add)


def _pad(value: ir.Value, pad: Sequence[int], fill: int, channel_dimension: int) -> ir.Value:
    left, right, *vertical = pad
    low, high = [*vertical[:1], left], [*vertical[1:], right]
    low.insert(channel_dimension - 1, 0)
    high.insert(channel_dimension - 1, 0)
    return pad_with(value, [0, *low], [0, *high], fill)


def _split(value: ir.Value, dimension: int, groups: int) -> ir.Value:
    """Splits a channel dimension in (group, channel of the group)."""
    shaped = ir.RankedTensorType(value.type)
    constant = elements.constant_value(value)
    if constant is not None:
        shape = list(shaped.shape)
        shape[dimension : dimension + 1] = [groups, shape[dimension] // groups]
        return arith.constant(None, elements.from_numpy(constant.reshape(shape), shaped.element_type))
    split_sizes = sizes(value)
    split_sizes[dimension : dimension + 1] = [groups, shaped.shape[dimension] // groups]
    static = [size if isinstance(size, int) else ir.ShapedType.get_dynamic_size() for size in split_sizes]
    dynamic = [size for size in split_sizes if not isinstance(size, int)]
    result = ir.RankedTensorType.get(static, shaped.element_type)
    return tensor.expand_shape(result, value, _reassociation(shaped.rank, dimension), dynamic, static)


def _merge(value: ir.Value, dimension: int, like: ir.Type) -> ir.Value:
    """Merges a split dimension of the accumulator; the shape is that of the type `like`."""
    shape = ir.RankedTensorType(like).shape
    result = ir.RankedTensorType.get(shape, element_type(value))
    return tensor.collapse_shape(result, value, _reassociation(len(shape), dimension))


def _reassociation(rank: int, dimension: int) -> ir.ArrayAttr:
    groups = (
        [[d] for d in range(dimension)] + [[dimension, dimension + 1]] + [[d + 1] for d in range(dimension + 1, rank)]
    )
    index = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(index, d) for d in group]) for group in groups])
