# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model with its executors, on arrays by name."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx
from torch_mlir import ir

import torq_mlir
from e2e.backends import execution
from torq_mlir.backends.interpreter import Interpreter
from torq_mlir.report import Row

if TYPE_CHECKING:
    import torch

OnResult = Callable[[ir.Operation, Sequence[np.ndarray], Sequence[np.ndarray]], Sequence[np.ndarray] | None]


class Compiled:
    """A model compiled to torq_hl.

    Attributes:
      module: the torq_hl.
      inputs: descriptions of the inputs, in order.
    """

    def __init__(self, model: "onnx.ModelProto | torch.export.ExportedProgram"):
        self._model = torq_mlir.compile(model)
        self.module: ir.Module = self._model.module
        self.inputs = self._model.inputs
        self._executors: dict[str, torq_mlir.CompiledModel] = {}

    @property
    def nodes(self) -> tuple[Row, ...]:
        """What became of each node of the source model but quantizations that are part of others."""
        return self._model.report().listed

    def interpret(self, feeds: Mapping[str, np.ndarray], on_result: OnResult | None = None) -> dict[str, np.ndarray]:
        """Runs the numpy interpreter; see `torq_mlir.backends.interpreter.Interpreter` for `on_result`."""
        # A module computes on signless integers, whose arrays are signed.
        arrays = [_signed(array) for array in self._inputs(feeds).values()]
        results = self._interpreter(arrays, on_result=on_result)
        outputs = self._model.outputs
        return {info.name: array.view(info.dtype) for info, array in zip(outputs, results, strict=True)}

    def execute(self, feeds: Mapping[str, np.ndarray], executor: str) -> dict[str, np.ndarray]:
        """Runs machine code, of the backend of that name."""
        if executor not in self._executors:
            self._executors[executor] = torq_mlir.CompiledModel(self.module, backend=execution(executor))
        results = self._executors[executor](**self._inputs(feeds))
        return {info.name: array for info, array in zip(self._model.outputs, results, strict=True)}

    def _inputs(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {info.name: feeds[info.name] for info in self._model.inputs}

    @functools.cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.module)


def _signed(array: np.ndarray) -> np.ndarray:
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array
