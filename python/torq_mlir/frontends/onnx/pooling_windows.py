# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling with `ceil_mode`, written without it, and padding that torch-mlir counts wrongly, on its own.

ONNX Runtime and PyTorch leave out a window that would start in the padding at the end. ONNX's shape inference counts
it, and torch-mlir divides an average that counts padding by what a window has beyond the padding as well, as ONNX
Runtime does in QLinearAveragePool alone.
"""

import onnx
from onnx import helper

from .graph_edits import Rewriting

_POOLING = ("AveragePool", "MaxPool", "QLinearAveragePool")


def rewrite(graph: onnx.GraphProto) -> bool:
    """Gives pooling operators the padding that makes as many windows without `ceil_mode`.

    Averages over windows with gaps that count different padding on both sides are padded before. Stops at the first
    operator that has fewer windows than its type says.

    Args:
      graph: with types, which are right up to that operator; modified.

    Returns:
      Whether there is such an operator: the types have to be inferred anew.
    """
    rewriting = Rewriting(graph)
    found = False
    for node in rewriting:
        if not found and node.op_type in _POOLING:
            found = _rewrite(rewriting, node)
    return found


def _rewrite(rewriting: Rewriting, node: onnx.NodeProto) -> bool:
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    source, result = rewriting.shape(node.input[0]), rewriting.shape(node.output[0])
    if attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or None in source or attributes.get("channels_last"):
        return False
    if not attributes.get("ceil_mode"):
        _correct_count(rewriting, node, attributes)
        return False
    rank = len(source) - 2
    kernel = attributes["kernel_shape"]
    strides, dilations = (attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    pads = attributes.get("pads", [0] * 2 * rank)
    counts, ends = [], []
    for axis in range(rank):
        size, extent = source[axis + 2] + pads[axis], (kernel[axis] - 1) * dilations[axis] + 1
        count = -(-(size + pads[axis + rank] - extent) // strides[axis]) + 1
        count -= (count - 1) * strides[axis] >= size
        counts.append(count)
        ends.append(max((count - 1) * strides[axis] + extent - size, 0))
    longer = any(end > pad for end, pad in zip(ends, pads[rank:], strict=True))
    if longer and attributes.get("count_include_pad") and not node.domain:
        _pad_before(rewriting, node, pads)
        ends = [max(end - pad, 0) for end, pad in zip(ends, pads[rank:], strict=True)]
        pads = [0] * 2 * rank
        rewriting.drop(node, "count_include_pad")
        del attributes["count_include_pad"]
    pads = [*pads[:rank], *ends]
    rewriting.set(node, pads=pads)
    rewriting.drop(node, "ceil_mode")
    _correct_count(rewriting, node, attributes | {"pads": pads})
    return list(result[2:]) != counts


def _correct_count(rewriting: Rewriting, node: onnx.NodeProto, attributes: dict) -> None:
    """Pads before, where a window with gaps counts padding that is not the same on both sides."""
    pads, dilations = attributes.get("pads", []), attributes.get("dilations", [1])
    same = pads[: len(pads) // 2] == pads[len(pads) // 2 :]
    if attributes.get("count_include_pad") and max(dilations) > 1 and not same:
        _pad_before(rewriting, node, pads)
        rewriting.drop(node, "count_include_pad", "pads")


def _pad_before(rewriting: Rewriting, node: onnx.NodeProto, pads: list[int]) -> None:
    """Padding that counts, as zeros of the input."""
    rank = len(pads) // 2
    shape = rewriting.shape(node.input[0])
    sizes = [size + pads[axis] + pads[axis + rank] for axis, size in enumerate(shape[2:])]
    amounts = rewriting.integers(node, [0, 0, *pads[:rank], 0, 0, *pads[rank:]])
    if any(pads):
        node.input[0] = rewriting.compute(node, "Pad", [node.input[0], amounts], [*shape[:2], *sizes])
