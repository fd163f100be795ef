# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights scaled by what goes through them.

The means of channels stay: taking them out in every layer, as batch normalization does, makes a deep network of random
weights chaotic, and what it gives after quantization is noise.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from e2e.float64_ops import OPERATORS
from e2e.graph import attributes_of

_WEIGHTED = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})


def normalize(model: onnx.ModelProto, samples: Sequence[Mapping[str, np.ndarray]]) -> None:
    """Rescales the constant weights in place, in the order of the graph: each product gets a mean square of one."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values = [dict(sample) for sample in samples]
    for node in model.graph.node:
        outputs = [_evaluate(node, constants, known) for known in values]
        if node.op_type in _WEIGHTED and node.input[1] in constants:
            factor = _factor(outputs)
            for name in node.input[1:]:
                constants[name] = (constants[name] * factor).astype(np.float32)
            outputs = [output * factor for output in outputs]
        for known, output in zip(values, outputs, strict=True):
            known[node.output[0]] = output
    for tensor in model.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(constants[tensor.name], tensor.name))


def _evaluate(
    node: onnx.NodeProto, constants: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray]
) -> np.ndarray:
    operands = [(constants[name] if name in constants else values[name]) if name else None for name in node.input]
    return OPERATORS[node.op_type](attributes_of(node), *operands)


def _factor(outputs: Sequence[np.ndarray]) -> float:
    """What makes the mean square of some values one."""
    return 1 / math.sqrt(np.mean(np.square(np.stack(outputs))))
