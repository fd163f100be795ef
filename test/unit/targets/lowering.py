# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lowers modules to TOSA or StableHLO and runs them."""

from collections.abc import Sequence

import numpy as np
from modules_under_test import module_of
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from torq_mlir import pipelines
from torq_mlir.dialects import elements
from torq_mlir.execution import compile_linalg

TARGETS = ("tosa", "stablehlo")


def convert(module: ir.Module, target: str, *, fuse: bool = False) -> ir.Module:
    """Converts in place what is of quantized_decomposed."""
    fusion = f"torq-fuse-quantized-ops-{target}{{explain=true}}," if fuse else ""
    pipelines.run(module, f"builtin.module({fusion}convert-quantized-decomposed-to-{target},canonicalize,cse)")
    assert "quantized_decomposed." not in module.operation.get_asm(large_elements_limit=16)
    return module


def execute(module: ir.Module, target: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Runs a converted module, which is lowered in place."""
    pipelines.run(module, f"torq-{target}-to-linalg")
    return compile_linalg(module, opt_level=0)(inputs)


def reference(module: ir.Module, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Runs a module of StableHLO alone in its reference interpreter."""
    with module.context, ir.Location.unknown():
        function_type = ir.FunctionType(ir.TypeAttr(module.body.operations[0].attributes["function_type"]).value)
        attributes = [
            elements.from_numpy(array, ir.RankedTensorType(type_).element_type)
            for array, type_ in zip(inputs, function_type.inputs, strict=True)
        ]
        return [elements.to_numpy(each) for each in _stablehlo.eval_module(module, attributes)]


def signless(array: np.ndarray) -> np.ndarray:
    """As arrays of unsigned storage are passed."""
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def integer_type(dtype: np.dtype) -> ir.IntegerType:
    """With its sign."""
    width, signed = 8 * np.dtype(dtype).itemsize, np.dtype(dtype).kind == "i"
    return ir.IntegerType.get_signed(width) if signed else ir.IntegerType.get_unsigned(width)


def element_type(dtype: np.dtype) -> ir.Type:
    """With the sign of integers; a boolean is i1."""
    return integer_type(dtype) if np.dtype(dtype).kind in "iu" else elements.element_type(np.dtype(dtype))


class Batch:
    """Computations that are compiled together, which takes less time than one by one."""

    def __init__(self) -> None:
        self._cases = []

    def add(self, name: str, inputs: Sequence[np.ndarray], expected: Sequence[np.ndarray], body) -> None:
        """A computation: `body` builds its results from values of the inputs."""
        inputs, expected = ([signless(np.asarray(each)) for each in arrays] for arrays in (inputs, expected))
        self._cases.append((name, inputs, expected, body))

    def module(self, *, dynamic: bool = False) -> ir.Module:
        return module_of(self.inputs, self._build, dynamic)

    @property
    def inputs(self) -> list[np.ndarray]:
        return [array for _, inputs, _, _ in self._cases for array in inputs]

    def check(self, results: Sequence[np.ndarray]) -> None:
        """Compares results, bit for bit."""
        remaining = iter(results)
        for name, _, expected, _ in self._cases:
            for index, wanted in enumerate(expected):
                actual = next(remaining)
                assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape), f"{name}: result {index}"
                np.testing.assert_array_equal(_bits(actual), _bits(wanted), err_msg=f"{name}: result {index}")
        assert next(remaining, None) is None

    def _build(self, *arguments: ir.Value) -> list[ir.Value]:
        values, results = iter(arguments), []
        for name, inputs, _, body in self._cases:
            with ir.Location.name(name):
                built = body(*(next(values) for _ in inputs))
            results += built if isinstance(built, list | tuple) else [built]
        return results


def _bits(array: np.ndarray) -> np.ndarray:
    """As integers, so that every NaN is the same. The sign of zero is not looked at: StableHLO's is not specified."""
    if array.dtype.kind in "biu":
        return array
    array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array) + np.zeros((), array.dtype)
    return array.view(f"u{array.dtype.itemsize}")
