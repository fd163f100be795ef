# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of a model whose values decide what is computed: shapes, axes, slices, numbers of iterations.

What is compiled is static, so that these have to be constants.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from . import subgraphs

# Positions of such inputs, by operator.
_POSITIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "Split", "TopK", "OneHot", "Trilu"), (1,)),
    **dict.fromkeys(("CumSum", "CumProd", "CenterCropPad", "AffineGrid", "Upsample", "SplitToSequence"), (1,)),
    **dict.fromkeys(("SequenceAt", "SequenceErase"), (1,)),
    **dict.fromkeys((f"Reduce{kind}" for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min")), (1,)),
    **dict.fromkeys((f"Reduce{kind}" for kind in ("Prod", "Sum", "SumSquare")), (1,)),
    **dict.fromkeys(("ConstantOfShape", "BlackmanWindow", "HammingWindow", "HannWindow", "If"), (0,)),
    **dict.fromkeys(("DFT", "Dropout", "Col2Im"), (1, 2)),
    "Compress": (1,),
    "Loop": (0, 1),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "SequenceInsert": (2,),
    "Slice": (1, 2, 3, 4),
}
# Whose result says nothing of the values of what they read.
_OF_SHAPES = frozenset({"Shape", "Size"})


def names(model: onnx.ModelProto) -> frozenset[str]:
    """The inputs of a model whose values decide what it computes, directly or by what is computed of them."""
    graph = model.graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = {value.name for value in graph.input if value.type.HasField("tensor_type")} - constants
    producers = {output: node for node in graph.node for output in node.output}
    wanted = [name for node in graph.node for name in of_node(node)]
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in producers and producers[name].op_type not in _OF_SHAPES:
            wanted.extend((*producers[name].input, *subgraphs.captured(producers[name])))
    return frozenset(seen & inputs)


def of_node(node: onnx.NodeProto) -> list[str]:
    """The inputs of a node whose values decide what it computes."""
    positions = _POSITIONS.get(node.op_type, ()) if node.domain in ("", "ai.onnx") else ()
    return [node.input[position] for position in positions if position < len(node.input) and node.input[position]]


def with_values(model: onnx.ModelProto, values: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """A copy of a model with some of its inputs as constants."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = [value for value in copy.graph.input if value.name not in values]
    del copy.graph.input[:]
    copy.graph.input.extend(kept)
    copy.graph.initializer.extend(numpy_helper.from_array(np.asarray(v), name) for name, v in values.items())
    return copy


def of_open_shape(inputs: Sequence[onnx.ValueInfoProto]) -> set[str]:
    """The names of tensors whose shape is not static."""
    return {value.name for value in inputs if value.type.HasField("tensor_type") and not _is_static(value)}


def is_open_in_batch_alone(value: onnx.ValueInfoProto) -> bool:
    """Whether all sizes but the first one are static."""
    tensor = value.type.tensor_type
    return tensor.HasField("shape") and all(each.HasField("dim_value") for each in tensor.shape.dim[1:])


def _is_static(value: onnx.ValueInfoProto) -> bool:
    tensor = value.type.tensor_type
    return tensor.HasField("shape") and all(d.HasField("dim_value") and d.dim_value >= 0 for d in tensor.shape.dim)
