# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions in the forms that torch-mlir lowers.

It has no lowering where the padding differs between the two sides of a dimension, nor of automatic padding, and that of
a depthwise one is not valid IR.
"""

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from torq_mlir.errors import ModelError

from . import naming
from .graph_edits import Rewriting


@dataclass(frozen=True)
class _Window:
    """What a transposed convolution does along each spatial dimension.

    Attributes:
      extents: elements that the kernel reaches over.
      begins, ends: elements that padding takes from the result, before its first and behind its last one.
      extra: elements that output_padding adds at the end.
    """

    strides: list[int]
    dilations: list[int]
    extents: list[int]
    begins: list[int]
    ends: list[int]
    extra: list[int]


def rewrite(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Writes a ConvTranspose so that it lowers: its padding as numbers, a depthwise one as a convolution.

    Raises:
      ModelError: it is depthwise and its weights are not constant.
    """
    channels, weights = rewriting.shape(node.input[0])[1], rewriting.shape(node.input[1])
    window = _window(rewriting, node)
    if window is None:
        return
    if node_group(node) == channels == weights[0] and weights[1] == 1 and channels > 1:
        _rewrite_depthwise(rewriting, node, window)
        return
    # What is taken from the end is what the result is not extended by.
    extra = [e + begin - end for e, begin, end in zip(window.extra, window.begins, window.ends, strict=True)]
    rewriting.set(node, pads=[*window.begins, *window.begins], output_padding=extra)
    rewriting.drop(node, "auto_pad", "output_shape")


def node_group(node: onnx.NodeProto) -> int:
    """The attribute `group`."""
    return next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)


def _window(rewriting: Rewriting, node: onnx.NodeProto) -> _Window | None:
    """None where nothing is known of the sizes, or where the result is longer than automatic padding can explain."""
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    source, weights = rewriting.shape(node.input[0]), rewriting.shape(node.input[1])
    sizes, result = source[2:], rewriting.shape(node.output[0])[2:]
    rank = len(sizes)
    if None in (*sizes, *weights, *result):
        return None
    strides, dilations = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    extra = attributes.get("output_padding", [0] * rank)
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(weights[2:], dilations, strict=True)]
    pads = attributes.get("pads", [0] * 2 * rank)
    begins, ends = list(pads[:rank]), list(pads[rank:])
    automatic = attributes.get("auto_pad", b"NOTSET")
    if automatic.startswith(b"SAME") or "output_shape" in attributes:
        full = zip(sizes, strides, extents, extra, result, strict=True)
        totals = [stride * (size - 1) + e + extent - wanted for size, stride, extent, e, wanted in full]
        less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
        begins, ends = (less, more) if automatic == b"SAME_UPPER" else (more, less)
    if min(begins) < 0:
        return None
    return _Window(list(strides), list(dilations), extents, begins, ends, list(extra))


def _rewrite_depthwise(rewriting: Rewriting, node: onnx.NodeProto, window: _Window) -> None:
    """A convolution of the input with zeros in between, by the weights in reverse."""
    node.input[1] = _reversed_weights(rewriting, node)
    node.input[0] = _with_zeros(rewriting, node, window)
    sides = list(zip(window.extents, window.begins, window.ends, window.extra, window.strides, strict=True))
    begins = [extent - 1 - begin for extent, begin, _, _, _ in sides]
    ends = [extent - end + extra - stride for extent, _, end, extra, stride in sides]
    node.input[0] = _cropped(rewriting, node, begins, ends)
    pads = [max(amount, 0) for amount in (*begins, *ends)]
    rewriting.set(node, pads=pads, strides=[1] * len(begins))
    rewriting.drop(node, "auto_pad", "output_shape", "output_padding")
    naming.stand_for(node, node)
    node.op_type = "Conv"


def _reversed_weights(rewriting: Rewriting, node: onnx.NodeProto) -> str:
    """The name of the weights with all windows turned around: of a constant, or of what dequantizes one."""
    name, dequantize = node.input[1], rewriting.producer(node.input[1])
    quantized = dequantize is not None and dequantize.op_type == "DequantizeLinear"
    constant = rewriting.constant(dequantize.input[0] if quantized else name)
    if constant is None:
        raise ModelError(f"{node.name} (ConvTranspose): a depthwise one needs constant weights")
    if quantized and any(attribute.name == "block_size" and attribute.i for attribute in dequantize.attribute):
        raise ModelError(f"{node.name} (ConvTranspose): a depthwise one needs weights that are not blocked")
    reversed_name = _reversed(rewriting, constant)
    if not quantized:
        return reversed_name
    result = f"{name}/reversed"
    if rewriting.producer(result) is None:
        copy = onnx.NodeProto.FromString(dequantize.SerializeToString())
        copy.input[0], copy.output[0], copy.name = reversed_name, result, f"{dequantize.name}/reversed"
        naming.stand_for(copy, dequantize)
        rewriting.insert(copy, rewriting.type(name), rewriting.shape(name))
    return result


def _reversed(rewriting: Rewriting, constant: TensorProto) -> str:
    array = numpy_helper.to_array(constant)
    turned = np.ascontiguousarray(np.flip(array, tuple(range(2, array.ndim))))
    tensor = numpy_helper.from_array(turned, f"{constant.name}/reversed")
    return rewriting.add_constant(tensor)


def _with_zeros(rewriting: Rewriting, node: onnx.NodeProto, window: _Window) -> str:
    """The input, each element followed by zeros up to the stride."""
    name, shape = node.input[0], rewriting.shape(node.input[0])
    if max(window.strides) == 1:
        return name
    elements, blocks, after = list(shape[:2]), list(shape[:2]), [0, 0]
    stretched = list(shape[:2])
    for size, stride in zip(shape[2:], window.strides, strict=True):
        elements += [size, 1]
        blocks += [size, stride]
        after += [0, stride - 1]
        stretched.append(size * stride)
    name = rewriting.reshape(node, name, elements)
    name = rewriting.compute(node, "Pad", [name, rewriting.integers(node, [0] * len(after) + after)], blocks)
    return rewriting.reshape(node, name, stretched)


def _cropped(rewriting: Rewriting, node: onnx.NodeProto, begins: list[int], ends: list[int]) -> str:
    """The input of the convolution without what negative padding takes from it."""
    name, shape = node.input[0], rewriting.shape(node.input[0])
    if min(*begins, *ends) >= 0:
        return name
    starts = [max(-begin, 0) for begin in begins]
    stops = [size - max(-end, 0) for size, end in zip(shape[2:], ends, strict=True)]
    bounds = [rewriting.integers(node, each) for each in (starts, stops, range(2, len(shape)))]
    sizes = [stop - start for start, stop in zip(starts, stops, strict=True)]
    return rewriting.compute(node, "Slice", [name, *bounds], [*shape[:2], *sizes])
