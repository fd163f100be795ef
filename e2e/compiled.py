# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler, as the harness uses it: a model in, the module and its two executors out."""

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from torch_mlir import ir

from torq_mlir import pipelines
from torq_mlir.backends import interpreter, jit
from torq_mlir.frontends import onnx as onnx_frontend

OnResult = Callable[[ir.Operation, Sequence[np.ndarray], Sequence[np.ndarray]], Sequence[np.ndarray] | None]


class Compiled:
    """A model compiled to torq_hl.

    Attributes:
      module: level 3 of the IR.
      inputs, outputs: names in order.
    """

    def __init__(self, model: onnx.ModelProto):
        self._context = ir.Context()
        loaded = onnx_frontend.load(model)
        self.inputs = [info.name for info in onnx_frontend.model_inputs(loaded)]
        self._output_dtypes = {info.name: info.dtype for info in onnx_frontend.model_outputs(loaded)}
        self.outputs = list(self._output_dtypes)
        self.module = onnx_frontend.import_model(loaded, self._context)
        pipelines.run(self.module, pipelines.named["torq-onnx-to-torq-hl"])

    def interpret(self, feeds: Mapping[str, np.ndarray], on_result: OnResult | None = None) -> dict[str, np.ndarray]:
        """Runs the numpy interpreter; see `torq_mlir.backends.interpreter.Interpreter` for `on_result`."""
        return self._named(self._interpreter(self._storage(feeds), on_result=on_result))

    def execute(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the code of the JIT."""
        return self._named(self._executable(self._storage(feeds)))

    @functools.cached_property
    def _interpreter(self) -> interpreter.Interpreter:
        return interpreter.Interpreter(self.module)

    @functools.cached_property
    def _executable(self) -> Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]:
        return jit.compile(self.module)

    def _storage(self, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The inputs in order; storage is signless, and its arrays are signed."""
        arrays = [feeds[name] for name in self.inputs]
        return [array.view(np.int8) if array.dtype == np.uint8 else array for array in arrays]

    def _named(self, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        named = dict(zip(self.outputs, arrays, strict=True))
        return {name: array.view(self._output_dtypes[name]) for name, array in named.items()}
