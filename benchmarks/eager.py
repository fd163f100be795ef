# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float ONNX models as PyTorch executes them in eager mode: one function for each operator."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional

from benchmarks.peers import UnsupportedError

Tensors = dict[str, torch.Tensor]


class EagerModel:
    """Calls PyTorch operator by operator."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Raises:
        UnsupportedError: there is no function for an operator.
        """
        missing = sorted({node.op_type for node in model.graph.node} - _FUNCTIONS.keys())
        if missing:
            raise UnsupportedError(f"no function for {', '.join(missing)}")
        self._constants = {each.name: _tensor(numpy_helper.to_array(each)) for each in model.graph.initializer}
        self._nodes = [
            (_FUNCTIONS[node.op_type], list(node.input), node.output[0], _attributes(node)) for node in model.graph.node
        ]
        self._outputs = [value.name for value in model.graph.output]

    def __call__(self, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        with torch.inference_mode():
            values = self._constants | {name: _tensor(array) for name, array in feeds.items()}
            for function, inputs, output, attributes in self._nodes:
                values[output] = function(attributes, *(values[name] if name else None for name in inputs))
            return [values[name].numpy() for name in self._outputs]


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


def _padded(x: torch.Tensor, attributes: Mapping[str, Any], value: float = 0.0) -> tuple[torch.Tensor, Any]:
    """The value, and the padding that the operator itself can do: the same before and behind."""
    pads = attributes.get("pads") or [0, 0, 0, 0]
    half = len(pads) // 2
    if pads[:half] == pads[half:]:
        return x, tuple(pads[:half])
    pairs = [amount for pair in zip(reversed(pads[:half]), reversed(pads[half:]), strict=True) for amount in pair]
    return functional.pad(x, pairs, value=value), 0


def _conv(attributes: Mapping[str, Any], x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None = None):
    x, padding = _padded(x, attributes)
    stride, dilation = attributes.get("strides", 1), attributes.get("dilations", 1)
    return functional.conv2d(x, w, b, stride, padding, dilation, attributes.get("group", 1))


def _max_pool(attributes: Mapping[str, Any], x: torch.Tensor) -> torch.Tensor:
    x, padding = _padded(x, attributes, -torch.inf)
    rounded_up = bool(attributes.get("ceil_mode", 0))
    return functional.max_pool2d(x, attributes["kernel_shape"], attributes.get("strides", 1), padding, 1, rounded_up)


def _average_pool(attributes: Mapping[str, Any], x: torch.Tensor) -> torch.Tensor:
    x, padding = _padded(x, attributes)
    counted = bool(attributes.get("count_include_pad", 0))
    stride = attributes.get("strides", 1)
    return functional.avg_pool2d(x, attributes["kernel_shape"], stride, padding, count_include_pad=counted)


def _gemm(attributes: Mapping[str, Any], a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None = None):
    if attributes.get("transA"):
        a = a.T
    return functional.linear(a, b if attributes.get("transB") else b.T, c)


def _layer_norm(attributes: Mapping[str, Any], x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None = None):
    return functional.layer_norm(x, scale.shape, scale, bias, attributes.get("epsilon", 1e-5))


def _reshape(_: Mapping[str, Any], x: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
    sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(shape.tolist())]
    return x.reshape(sizes)


def _gelu(attributes: Mapping[str, Any], x: torch.Tensor) -> torch.Tensor:
    approximate = attributes.get("approximate", b"none")
    return functional.gelu(x, approximate=approximate.decode())


_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "Add": lambda _, a, b: a + b,
    "AveragePool": _average_pool,
    "Clip": lambda _, x, low, high: torch.clamp(x, low, high),
    "Concat": lambda attributes, *values: torch.cat(values, attributes["axis"]),
    "Conv": _conv,
    "Dropout": lambda _, x, *ignored: x,
    "Flatten": lambda attributes, x: x.flatten(attributes.get("axis", 1)),
    "Gelu": _gelu,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda _, x: x.mean((2, 3), keepdim=True),
    "Identity": lambda _, x: x,
    "LayerNormalization": _layer_norm,
    "MatMul": lambda _, a, b: a @ b,
    "MaxPool": _max_pool,
    "Mul": lambda _, a, b: a * b,
    "Relu": lambda _, x: torch.relu(x),
    "Reshape": _reshape,
    "Softmax": lambda attributes, x: torch.softmax(x, attributes.get("axis", -1)),
    "Transpose": lambda attributes, x: x.permute(attributes["perm"]),
}
