# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move data, in the forms that torch-mlir lowers to the same values.

Its DepthToSpace in CRD mode takes the block for the channels where their numbers differ; a padding that crops is lost
where it adds as much on the other side; one in wrap mode is never done, and other modes than constant have no lowering
for vectors.
"""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from . import naming
from .graph_edits import Rewriting

_MODES = {b"edge": "edge", b"reflect": "reflect", b"wrap": "wrap"}


def rewrite_depth_to_space(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """CRD mode as reshapes around a transpose."""
    attributes = attributes_of(node)
    shape, result = rewriting.shape(node.input[0]), rewriting.shape(node.output[0])
    if attributes.get("mode", b"DCR") != b"CRD" or None in shape:
        return
    batch, channels, height, width = shape
    block = attributes["blocksize"]
    split = [batch, channels // block**2, block, block, height, width]
    order = [0, 1, 4, 2, 5, 3]
    blocks = rewriting.reshape(node, node.input[0], split)
    moved = rewriting.compute(node, "Transpose", [blocks], [split[d] for d in order], perm=order)
    become(rewriting, node, "Reshape", [moved, rewriting.integers(node, result)])


def rewrite_space_to_depth(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """CRD mode as reshapes around a transpose."""
    attributes = attributes_of(node)
    shape, result = rewriting.shape(node.input[0]), rewriting.shape(node.output[0])
    if attributes.get("mode", b"DCR") != b"CRD" or None in shape:
        return
    batch, channels, height, width = shape
    block = attributes["blocksize"]
    split = [batch, channels, height // block, block, width // block, block]
    order = [0, 1, 3, 5, 2, 4]
    blocks = rewriting.reshape(node, node.input[0], split)
    moved = rewriting.compute(node, "Transpose", [blocks], [split[d] for d in order], perm=order)
    become(rewriting, node, "Reshape", [moved, rewriting.integers(node, result)])


def rewrite_pad(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Crops as a slice before the padding; modes other than constant as gathers along each dimension."""
    shape, amounts = rewriting.shape(node.input[0]), _pad_amounts(rewriting, node)
    if amounts is None or None in shape or 0 in shape:
        return
    mode = _MODES.get(attributes_of(node).get("mode", b"constant"))
    if mode is not None:
        _rewrite_as_gathers(rewriting, node, shape, amounts, mode)
    elif any(min(pair) < 0 for pair in amounts.values()):
        _crop_before(rewriting, node, shape, amounts)


def _pad_amounts(rewriting: Rewriting, node: onnx.NodeProto) -> dict[int, tuple[int, int]] | None:
    """Elements added before and after, by dimension; None when they are not constant."""
    constants = [rewriting.constant(name) for name in node.input[1:2]]
    axes = list(range(len(rewriting.shape(node.input[0]))))
    if len(node.input) > 3 and node.input[3]:
        constants.append(rewriting.constant(node.input[3]))
    if not constants or any(constant is None for constant in constants):
        return None
    pads, *rest = (numpy_helper.to_array(constant).tolist() for constant in constants)
    chosen = [axis % len(axes) for axis in rest[0]] if rest else axes
    return {axis: (pads[i], pads[i + len(chosen)]) for i, axis in enumerate(chosen)}


def _rewrite_as_gathers(
    rewriting: Rewriting, node: onnx.NodeProto, shape: Sequence[int], amounts: dict[int, tuple[int, int]], mode: str
) -> None:
    value, sizes = node.input[0], list(shape)
    steps = [(axis, _positions(shape[axis], *pair, mode)) for axis, pair in amounts.items() if any(pair)]
    for axis, positions in steps[:-1]:
        sizes[axis] = len(positions)
        value = rewriting.compute(node, "Gather", [value, rewriting.integers(node, positions)], sizes, axis=axis)
    if steps:
        axis, positions = steps[-1]
        become(rewriting, node, "Gather", [value, rewriting.integers(node, positions)], axis=axis)
    else:
        become(rewriting, node, "Identity", [value])


def _positions(size: int, before: int, after: int, mode: str) -> list[int]:
    """The elements that a padded dimension consists of."""
    kept = np.arange(size)[max(-before, 0) : size - max(-after, 0)]
    return np.pad(kept, (max(before, 0), max(after, 0)), mode).tolist()


def _crop_before(
    rewriting: Rewriting, node: onnx.NodeProto, shape: Sequence[int], amounts: dict[int, tuple[int, int]]
) -> None:
    rank = len(shape)
    pairs = [amounts.get(axis, (0, 0)) for axis in range(rank)]
    starts = [max(-before, 0) for before, _ in pairs]
    ends = [size - max(-after, 0) for size, (_, after) in zip(shape, pairs, strict=True)]
    bounds = [rewriting.integers(node, values) for values in (starts, ends, range(rank))]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    node.input[0] = rewriting.compute(node, "Slice", [node.input[0], *bounds], sizes)
    node.input[1] = rewriting.integers(node, [max(pair[side], 0) for side in (0, 1) for pair in pairs])
    del node.input[3:]


def become(rewriting: Rewriting, node: onnx.NodeProto, op_type: str, inputs: Sequence[str], **attributes: int) -> None:
    """Makes a node another one of the same name and result."""
    rewriting.drop(node, *attributes_of(node))
    naming.stand_for(node, node)
    node.op_type = op_type
    del node.input[:]
    node.input.extend(inputs)
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())


def attributes_of(node: onnx.NodeProto) -> dict:
    """The values of the attributes of a node, by name."""
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
