# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All intermediate tensors of a compiled model against ONNX Runtime, in one run.

What ONNX Runtime computes takes the place of the result of each layer: every layer is compared on the same inputs, and
the first one that differs is the one at fault.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from torch_mlir import ir

import torq_mlir
from torq_mlir import interface
from torq_mlir.backends.interpreter import Interpreter
from torq_mlir.dialects.locations import source_names
from torq_mlir.quantization.preparation import QUANTIZING

# Operations that make no values of the model's.
_NO_VALUES = frozenset({"arith.constant", "tensor.empty", "linalg.fill", "func.return"})
# How unsigned storage is kept: less by 128.
_SIGN_BIT = np.uint8(128)

Pairs = dict[str, tuple[np.ndarray, np.ndarray]]


class LayerwiseRun:
    """A compiled model whose operations are known by the tensors of the source model that they give."""

    def __init__(self, compiled: torq_mlir.CompiledModel, model: onnx.ModelProto) -> None:
        """
        Args:
          compiled: of `model`.
        """
        self._compiled = compiled
        self._order = {node.name: index for index, node in enumerate(model.graph.node)}
        self._tensors = {node.name: _tensors_of(node, model) for node in model.graph.node}
        function = interface.entry_function(compiled.module)
        self._operations = self._last_operations(function)

    def run(self, feed: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> Pairs:
        """Our values and the expected ones of each tensor that some operation gives, in the order of the model.

        Args:
          feed: the inputs of the model.
          expected: all tensors by name.
        """
        found: Pairs = {}

        def on_result(
            operation: ir.Operation, operands: Sequence[np.ndarray], results: Sequence[np.ndarray]
        ) -> Sequence[np.ndarray] | None:
            node = self._operations.get(operation.operation)
            if node is None or len(results) != 1:
                return None
            for name in self._tensors[node]:
                actual = _as_tensor(results[0], expected[name])
                if actual is not None:
                    found[name] = actual, expected[name]
                    return [_as_result(expected[name], actual, results[0])]
            return None

        arguments = interface.arrange(self._compiled.inputs, dict(feed))
        Interpreter(self._compiled.module)(arguments, on_result=on_result)
        position = {name: index for index, name in enumerate(expected)}
        return {name: found[name] for name in sorted(found, key=position.__getitem__)}

    def _last_operations(self, function: ir.Operation) -> dict[ir.Operation, str]:
        """For each node that has one, the operation that gives its result: the last one whose location ends with it."""
        last: dict[str, ir.Operation] = {}
        for each in function.regions[0].blocks[0].operations:
            operation = each.operation
            names = [name for name in source_names(operation.location) if name in self._order]
            if names and operation.name not in _NO_VALUES:
                last[max(names, key=self._order.__getitem__)] = operation
        return {operation: name for name, operation in last.items()}


def _tensors_of(node: onnx.NodeProto, model: onnx.ModelProto) -> list[str]:
    """The tensors that an operation of the node may give: its own result, or the one that this is quantized to."""
    own = [name for name in node.output if name]
    if node.op_type in QUANTIZING or len(own) != 1:
        return own if len(own) == 1 else []
    readers = (each for each in model.graph.node if each.op_type == "QuantizeLinear" and each.input[0] == own[0])
    return [*own, *(each.output[0] for each in readers)]


def _as_tensor(result: np.ndarray, expected: np.ndarray) -> np.ndarray | None:
    """The result of an operation as a tensor of the model; None if it is none that can be compared.

    Dimensions of size one may be elsewhere.
    """
    same_storage = result.dtype.itemsize == expected.dtype.itemsize and _kind(result) == _kind(expected)
    if not same_storage or _without_ones(result) != _without_ones(expected):
        return None
    reshaped = result.reshape(expected.shape)
    if expected.dtype != np.uint8:
        return reshaped.view(expected.dtype)
    flipped, stored = reshaped.view(np.uint8) ^ _SIGN_BIT, reshaped.view(np.uint8)
    # What only moves values of an unsigned input has them as they are.
    return stored if np.array_equal(stored, expected) else flipped


def _as_result(tensor: np.ndarray, actual: np.ndarray, result: np.ndarray) -> np.ndarray:
    """The inverse of `_as_tensor`, for the expected values."""
    stored = tensor
    if tensor.dtype == np.uint8 and not np.array_equal(actual, result.reshape(tensor.shape).view(np.uint8)):
        stored = tensor ^ _SIGN_BIT
    return np.ascontiguousarray(stored.view(result.dtype).reshape(result.shape))


def _kind(array: np.ndarray) -> str:
    return "i" if array.dtype.kind in "iub" else array.dtype.kind


def _without_ones(array: np.ndarray) -> list[int]:
    return [size for size in array.shape if size != 1]
