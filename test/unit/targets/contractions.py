# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the torch dialect with a contraction of dequantized operands."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from torq_mlir import dialects, pipelines

_BUILTIN = {np.int8: "si8", np.uint8: "ui8", np.float32: "f32", np.int32: "si32", np.float64: "f64", np.int64: "si64"}


@dataclass
class Window:
    """Arguments of a convolution, for each spatial dimension."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int] = ()
    groups: int = 1
    transposed: bool = False


@dataclass
class Quantization:
    """Constant parameters: numbers, or arrays along an axis."""

    scale: float | np.ndarray
    zero_point: int | np.ndarray = 0
    axis: int | None = None
    low: int | None = None
    high: int | None = None

    def bounds(self, dtype) -> tuple[int, int]:
        limits = np.iinfo(dtype)
        low, high = (int(limits.min), int(limits.max)) if self.low is None else (self.low, self.high)
        return low, high


@dataclass
class Function:
    """Text of a function that is built step by step; values are given and returned by name."""

    inputs: list[tuple[str, np.ndarray]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    literals: dict[str, np.ndarray] = field(default_factory=dict)

    def input(self, array: np.ndarray) -> str:
        name = f"%arg{len(self.inputs)}"
        self.types[name] = tensor(array.shape, array.dtype)
        self.inputs.append((name, array))
        return name

    def add(self, operation: str, operands: Sequence[str], result: str, attributes: str = "") -> str:
        """An operation in its generic form; operands and the result have types."""
        name = f"%v{len(self.types)}"
        types = ", ".join(self.types[operand] for operand in operands)
        self.lines.append(f'{name} = "{operation}"({", ".join(operands)}) {attributes} : ({types}) -> {result}')
        self.types[name] = result
        return name

    def literal(self, array: np.ndarray) -> str:
        array = np.asarray(array)
        values = ", ".join(map(_number, array.ravel().tolist()))
        element = _BUILTIN[array.dtype.type]
        shape = "x".join(map(str, array.shape))
        flat = f"dense<[{values}]> : tensor<{array.size}x{element}>"
        if array.ndim != 1:
            flat = f"dense<{_nested(array)}> : tensor<{shape}{'x' if shape else ''}{element}>"
        return self.add("torch.vtensor.literal", [], tensor(array.shape, array.dtype), f"{{value = {flat}}}")

    def number(self, value: float | int | bool | None) -> str:
        if value is None:
            return self.add("torch.constant.none", [], "!torch.none")
        if isinstance(value, bool):
            return self.add("torch.constant.bool", [], "!torch.bool", f"{{value = {str(value).lower()}}}")
        if isinstance(value, int):
            return self.add("torch.constant.int", [], "!torch.int", f"{{value = {value} : i64}}")
        return self.add("torch.constant.float", [], "!torch.float", f"{{value = {float(value)!r} : f64}}")

    def integers(self, values: Sequence[int]) -> str:
        return self.add("torch.prim.ListConstruct", [self.number(int(each)) for each in values], "!torch.list<int>")

    def quantize(self, value: str, q: Quantization, dtype) -> str:
        return self._quantized("quantize", value, q, dtype, _BUILTIN[dtype])

    def dequantize(self, value: str, q: Quantization, dtype) -> str:
        return self._quantized("dequantize", value, q, dtype, "f32")

    def _quantized(self, way: str, value: str, q: Quantization, dtype, element: str) -> str:
        low, high = q.bounds(dtype)
        attributes = f"quant_min = {low} : i64, quant_max = {high} : i64, dtype = {_BUILTIN[dtype]}"
        result = with_element(self.types[value], element)
        if q.axis is None:
            operands = [self.number(float(q.scale)), self.number(int(q.zero_point))]
            return self.add(f"quantized_decomposed.{way}_per_tensor", [value, *operands], result, f"{{{attributes}}}")
        operands = [self.literal(np.float32(q.scale)), self.literal(np.int64(q.zero_point))]
        attributes += f", axis = {q.axis} : i64"
        return self.add(f"quantized_decomposed.{way}_per_channel", [value, *operands], result, f"{{{attributes}}}")

    def convolution(self, x: str, w: str, bias: str | None, window: Window, shape: Sequence[int]) -> str:
        bias = bias or self.number(None)
        zeros = [0] * len(window.stride)
        arguments = [
            self.integers(window.stride),
            self.integers(window.padding),
            self.integers(window.dilation or [1] * len(zeros)),
        ]
        others = [self.number(window.transposed), self.integers(zeros), self.number(window.groups)]
        return self.add("torch.aten.convolution", [x, w, bias, *arguments, *others], tensor(shape, np.float32))

    def product(self, name: str, x: str, w: str, shape: Sequence[int]) -> str:
        return self.add(f"torch.aten.{name}", [x, w], tensor(shape, np.float32))

    def plus(self, x: str, bias: str) -> str:
        return self.add("torch.aten.add.Tensor", [x, bias, self.number(1)], self.types[x])

    def relu(self, x: str) -> str:
        return self.add("torch.aten.relu", [x], self.types[x])

    def module(self, *results: str) -> ir.Module:
        arguments = ", ".join(f"{name}: {self.types[name]}" for name, _ in self.inputs)
        types = ", ".join(self.types[name] for name in results)
        text = "\n".join(self.lines)
        context = ir.Context()
        dialects.register(context)
        body = f"func.func @main({arguments}) -> ({types}) {{\n{text}\nreturn {', '.join(results)} : {types}\n}}"
        return ir.Module.parse(body, context)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The inputs, as arrays of signless storage."""
        return [array.view(np.int8) if array.dtype == np.uint8 else array for _, array in self.inputs]


def lower(module: ir.Module, target: str, *, fuse: bool = True) -> ir.Module:
    """To a target with quantized_decomposed, contractions of integers where it fuses."""
    pipelines.run(module, f"torq-torch-to-{target}")
    if fuse and target == "linalg":
        pipelines.run(module, "builtin.module(torq-signed-storage,torq-fuse-quantized-ops,canonicalize,cse)")
    elif fuse:
        pipelines.run(module, f"builtin.module(torq-fuse-quantized-ops-{target}{{explain=true}},canonicalize,cse)")
    return module


def tensor(shape: Sequence[int], dtype) -> str:
    """A torch tensor type."""
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{_BUILTIN[np.dtype(dtype).type]}>"


def with_element(type_: str, element: str) -> str:
    return f"{type_.rpartition(',')[0]},{element}>"


def _number(value: float) -> str:
    return str(int(value)) if isinstance(value, int) else f"{value:.17e}"


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return _number(array.item())
    return f"[{', '.join(_nested(each) for each in array)}]"
