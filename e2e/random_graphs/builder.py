# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A QDQ graph under construction, with the values that its tensors have for one input."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

from e2e.float64_ops import OPERATORS
from e2e.graph import attributes_of

OPSET = 21
_MOST_ELEMENTS = 1024
_SIZES = (3, 4, 5, 2, 1, 7, 9)
# Real numbers are of about this magnitude, so that results of activations differ.
_MAGNITUDES = (1.0, 0.25, 4.0, 20.0, 1e-3)

T = TypeVar("T")
# Draws an integer from 0 to below a number.
Choose = Callable[[int], int]


@dataclasses.dataclass(frozen=True)
class QParams:
    """Scale and zero point of a tensor, and its storage type."""

    scale: np.float32
    zero_point: int
    dtype: np.dtype

    def quantize(self, real: np.ndarray) -> np.ndarray:
        limits = np.iinfo(self.dtype)
        quantized = np.rint(real / np.float64(self.scale)) + self.zero_point
        return np.asarray(np.clip(quantized, limits.min, limits.max)).astype(self.dtype)

    def dequantize(self, integers: np.ndarray) -> np.ndarray:
        return np.asarray((integers.astype(np.float64) - self.zero_point) * np.float64(self.scale))


@dataclasses.dataclass(frozen=True, eq=False)
class Tensor:
    """A quantized tensor; `real` are its values, float64."""

    name: str
    qparams: QParams
    real: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.real.shape


@dataclasses.dataclass(frozen=True)
class RandomGraph:
    """A model with its inputs by name; prints as ONNX text."""

    model: onnx.ModelProto
    feeds: dict[str, np.ndarray]

    def __repr__(self) -> str:
        return onnx.printer.to_text(self.model)


class Builder:
    """Adds nodes to a graph; every method that adds one returns the name of its output.

    Attributes:
      rng: of the values of constants and inputs; everything else is drawn.
      real: values of float tensors and of constants, by name.
    """

    def __init__(self, choose: Choose):
        self._choose = choose
        self.rng = np.random.default_rng(self.integer(0, 2**16))
        self.real: dict[str, np.ndarray] = {}
        self.integer_inputs = not self.one_in(3)
        self.dtype = np.dtype(self.pick((np.int8, np.uint8)))
        self.tensors: list[Tensor] = []
        self._dequantized: dict[str, str] = {}
        self._used: set[str] = set()
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: list[onnx.TensorProto] = []
        self._feeds: dict[str, np.ndarray] = {}

    # What is drawn; the first and the least alternative is what a failure shrinks to.

    def pick(self, options: Sequence[T]) -> T:
        return options[self._choose(len(options))]

    def integer(self, least: int, most: int) -> int:
        return least + self._choose(most - least + 1)

    def one_in(self, count: int) -> bool:
        return self.integer(1, count) == count

    def permutation(self, count: int) -> list[int]:
        rest = list(range(count))
        return [rest.pop(self._choose(len(rest))) for _ in range(count)]

    def shape(self, *ranks: int) -> tuple[int, ...]:
        """A random shape of one of some ranks; images have a small batch."""
        rank = self.pick(ranks)
        sizes = [self.pick(_SIZES) for _ in range(rank)]
        if rank > 2:
            sizes[0] = self.pick((1, 2))
        while math.prod(sizes) > _MOST_ELEMENTS:
            sizes[sizes.index(max(sizes))] = 2
        return tuple(sizes)

    # Constants and nodes.

    def constant(self, array: np.ndarray) -> str:
        """An initializer."""
        name = f"c{len(self._initializers)}"
        self._initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        self.real[name] = array.astype(np.float64) if array.dtype == np.float32 else array
        return name

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """A node on floats, which is computed at once; an empty name is an operand left out."""
        name = self._add(op_type, inputs, attributes)
        operands = [self.real[operand] if operand else None for operand in inputs]
        attributes = attributes_of(self._nodes[-1])
        self.real[name] = np.asarray(OPERATORS[op_type](attributes, *operands), np.float64)
        return name

    def _add(self, op_type: str, inputs: Sequence[str], attributes: dict[str, Any]) -> str:
        name = f"{op_type.lower()}_{len(self._nodes)}"
        self._used.update(inputs)
        self._nodes.append(helper.make_node(op_type, list(inputs), [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    # Quantized tensors.

    def quantize(self, name: str, qparams: QParams) -> Tensor:
        scale, zero_point = self._parameters(qparams)
        output = self._add("QuantizeLinear", [name, scale, zero_point], {})
        tensor = Tensor(output, qparams, qparams.dequantize(qparams.quantize(self.real[name])))
        self.tensors.append(tensor)
        return tensor

    def dequantize(self, tensor: Tensor) -> str:
        """The real values of a tensor: of a node that is already there, or of one more."""
        known = self._dequantized.get(tensor.name)
        if known is not None and not self.one_in(3):
            return known
        name = self._add("DequantizeLinear", [tensor.name, *self._parameters(tensor.qparams)], {})
        self.real[name] = tensor.real
        self._dequantized[tensor.name] = name
        return name

    def dequantized_constant(
        self, integers: np.ndarray, scale: np.ndarray, zero_point: np.ndarray | None, axis: int = 1
    ) -> str:
        """Stored constants with a scale, or with one for each index of `axis`."""
        inputs = [self.constant(integers), self.constant(scale)]
        if zero_point is not None:
            inputs.append(self.constant(zero_point))
        attributes = {"axis": axis} if scale.ndim else {}
        name = self._add("DequantizeLinear", inputs, attributes)
        shape = [-1 if d == axis else 1 for d in range(integers.ndim)] if scale.ndim else []
        zeros = 0.0 if zero_point is None else zero_point.astype(np.float64).reshape(shape)
        self.real[name] = (integers.astype(np.float64) - zeros) * scale.astype(np.float64).reshape(shape)
        return name

    def _parameters(self, qparams: QParams) -> tuple[str, str]:
        return self.constant(np.float32(qparams.scale)), self.constant(np.asarray(qparams.zero_point, qparams.dtype))

    def input(self, shape: Sequence[int]) -> Tensor:
        """An input of the model, of integers or of floats that are quantized."""
        qparams = self._input_qparams()
        limits = np.iinfo(qparams.dtype)
        integers = np.asarray(self.rng.integers(limits.min, limits.max, shape, qparams.dtype, endpoint=True))
        real, name = qparams.dequantize(integers), f"x{len(self._feeds)}"
        if self.integer_inputs:
            self._feeds[name] = integers
            tensor = Tensor(name, qparams, real)
            self.tensors.append(tensor)
            return tensor
        self._feeds[name] = real.astype(np.float32)
        self.real[name] = self._feeds[name].astype(np.float64)
        return self.quantize(name, qparams)

    def _input_qparams(self) -> QParams:
        dtype = self.storage()
        limits = np.iinfo(dtype)
        magnitude = self.pick(_MAGNITUDES)
        kind = self.pick(("any", "one", "power of two"))
        scale = magnitude / 128 * self.rng.uniform(0.5, 1.0)
        if kind == "one":
            scale = 1.0
        elif kind == "power of two":
            scale = 2.0 ** round(math.log2(scale))
        middle = (limits.min + limits.max + 1) // 2
        zero_point = self.pick((middle, int(self.rng.integers(limits.min, limits.max + 1)), limits.min, limits.max))
        return QParams(np.float32(scale), int(zero_point), dtype)

    def storage(self) -> np.dtype:
        """The storage type of the graph's tensors, and now and then the other one."""
        if self.one_in(8):
            return np.dtype(np.uint8 if self.dtype == np.int8 else np.int8)
        return self.dtype

    def source(self, *ranks: int, where: Callable[[Tensor], bool] = lambda tensor: True) -> Tensor:
        """A tensor of one of some ranks, the last ones first: one that is there, or an input of the model."""
        fitting = [tensor for tensor in reversed(self.tensors) if len(tensor.shape) in ranks and where(tensor)]
        if fitting and not self.one_in(6):
            return self.pick(fitting)
        return self.input(self.shape(*ranks))

    def operand(self, shape: Sequence[int]) -> Tensor:
        """A tensor of a shape: one that is there, or an input of the model."""
        fitting = [tensor for tensor in reversed(self.tensors) if tensor.shape == tuple(shape)]
        if fitting and not self.one_in(3):
            return self.pick(fitting)
        return self.input(shape)

    def build(self) -> RandomGraph:
        """The checked model; what nothing reads is an output of it, as integers or as floats."""
        outputs = []
        for tensor in self.tensors:
            if tensor.name in self._used and not (self.one_in(8) and tensor.name not in self._feeds):
                continue
            as_integers = tensor.name not in self._feeds and not self.one_in(4)
            name = tensor.name if as_integers else self._add_output(tensor)
            element = helper.np_dtype_to_tensor_dtype(tensor.qparams.dtype if as_integers else np.dtype(np.float32))
            outputs.append(helper.make_tensor_value_info(name, element, tensor.shape))
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self._feeds.items()
        ]
        graph = helper.make_graph(self._nodes, "random", inputs, outputs, self._initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model, full_check=True)
        return RandomGraph(model, self._feeds)

    def _add_output(self, tensor: Tensor) -> str:
        return self._add("DequantizeLinear", [tensor.name, *self._parameters(tensor.qparams)], {})
