# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of dynamic shapes, compiled for those of each call."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from torq_mlir import interface
from torq_mlir.errors import InputError
from torq_mlir.frontends.tensor_info import TensorInfo

if TYPE_CHECKING:
    from torq_mlir.compiler import CompiledModel
    from torq_mlir.report import Report

# Compiled models that are kept; the least recently used one is forgotten.
_MOST_KEPT = 16

Shapes = Mapping[str, Sequence[int]]


class DynamicModel:
    """A program whose inputs have dynamic dimensions, such as the batch.

        model = torq_mlir.compile(program)            # exported with dynamic_shapes
        (logits,) = model(images)                     # any batch that the program was exported for
        model.specialized({"x": (4, 8)}).save(path)   # torq_hl of static shapes

    torq_hl has static shapes: the first call with inputs of other shapes than before compiles the program for them, the
    next ones use that.

    Attributes:
      inputs: `TensorInfo` of each, with -1 for a dynamic dimension.
      example: the program compiled for the shapes that it was exported with.
      state: values of the buffers that calls update, by name, whatever the shapes of a call.
    """

    def __init__(
        self, inputs: Sequence[TensorInfo], example_shapes: Shapes, compile: Callable[[Shapes], "CompiledModel"]
    ) -> None:
        """Compile for the first shapes; `torq_mlir.compile` is what one usually calls.

        Args:
          example_shapes: what the program was exported with.
          compile: gives the model for static shapes of the inputs, by name.

        Raises:
          ModelError, CompileError: as `compile`.
        """
        self.inputs = tuple(inputs)
        self._compile = compile
        self._compiled: OrderedDict[tuple, CompiledModel] = OrderedDict()
        self.state: dict[str, np.ndarray] = {}
        self.example = self.specialized(example_shapes)

    def specialized(self, input_shapes: Shapes) -> "CompiledModel":
        """The model for static shapes; it shares its state.

        Args:
          input_shapes: by the name of the input; of all that have a dynamic dimension.

        Raises:
          ModelError: the program was not exported for a shape, or one is missing.
        """
        key = tuple(sorted((name, tuple(shape)) for name, shape in input_shapes.items()))
        if key not in self._compiled:
            model = self._compile(dict(key))
            if self._compiled:
                model.state = self.state
            else:
                self.state = model.state
            self._compiled[key] = model
        self._compiled.move_to_end(key)
        if len(self._compiled) > _MOST_KEPT:
            self._compiled.popitem(last=False)
        return self._compiled[key]

    def __call__(self, /, *arrays: np.ndarray, **named: np.ndarray) -> list[np.ndarray]:
        """As `CompiledModel`, for inputs of any shape that the program was exported for.

        Raises:
          InputError: an input is missing, unknown, or of another rank.
          ModelError: the program was not exported for the shape of an input.
        """
        given = interface.name_arrays(self.inputs, arrays, named)
        return self._specialized_for(given)(**given)

    def evaluate(
        self, inputs: Mapping[str, np.ndarray], state: Mapping[str, np.ndarray]
    ) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """As `CompiledModel.evaluate`, for inputs of any shape that the program was exported for.

        Raises:
          as a call.
        """
        return self._specialized_for(inputs).evaluate(inputs, state)

    def _specialized_for(self, given: Mapping[str, object]) -> "CompiledModel":
        shapes = {}
        for info in self.inputs:
            shape = np.shape(given[info.name])
            if len(shape) != len(info.shape):
                expected, actual = (interface.format_shape(each) for each in (info.shape, shape))
                raise InputError(f"input '{info.name}' has shape {expected}, but the array has {actual}")
            if -1 in info.shape:
                shapes[info.name] = shape
        return self.specialized(shapes)

    def __reduce__(self) -> tuple:
        raise TypeError("a DynamicModel cannot be pickled; save its program, or pickle what `specialized` returns")

    @property
    def structure(self) -> str | None:
        """As that of a `CompiledModel`."""
        return self.example.structure

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """Those of `example`, whose shapes are not those of every call."""
        return self.example.outputs

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """As `CompiledModel.run`."""
        return interface.select_outputs(self.outputs, self(**input_feed), output_names)

    def mlir(self, level: str = "torq-hl", *, elide: bool = False, debug_info: bool = False) -> str:
        """The IR of `example` as text."""
        return self.example.mlir(level, elide=elide, debug_info=debug_info)

    def report(self) -> "Report":
        """The report of `example`."""
        return self.example.report()
