# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the arguments and results of a module are made of the inputs and outputs of a compiled model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from torch.utils import _pytree as pytree

from torq_mlir import interface
from torq_mlir.compiler import CompiledModel, DynamicModel
from torq_mlir.errors import InputError


class FlatStructure:
    """That of a model from ONNX: inputs by position or by name; the output, or a tuple of several."""

    def __init__(self, model: CompiledModel | DynamicModel) -> None:
        self._inputs = model.inputs

    def inputs(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed for each input, by name.

        Raises:
          InputError: one is missing, unknown or given twice.
        """
        return interface.name_arrays(self._inputs, arguments, keywords)

    def outputs(self, values: Sequence[Any]) -> Any:
        """What a call returns."""
        return values[0] if len(values) == 1 else tuple(values)


class ProgramStructure:
    """That of an exported program: nested arguments, constants among them, and nested results."""

    def __init__(self, text: str) -> None:
        """Args:
        text: as `frontends.fx.call_structure` writes it.
        """
        described = json.loads(text)
        self._arguments, self._results = (pytree.treespec_loads(described[side]) for side in ("in", "out"))
        self._inputs, self._outputs = described["inputs"], described["outputs"]

    def inputs(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed for each input, by name.

        Raises:
          InputError: the arguments are not nested as those that were exported, or a constant is another one.
        """
        try:
            leaves = self._arguments.flatten_up_to((tuple(arguments), dict(keywords)))
        except ValueError as error:
            raise InputError(f"expected the arguments {self._expected()}: {' '.join(str(error).split())}") from None
        given = {}
        for expected, leaf in zip(self._inputs, leaves, strict=True):
            if "name" in expected:
                given[expected["name"]] = leaf
            elif type(leaf) is not type(expected["constant"]) or leaf != expected["constant"]:
                constant = expected["constant"]
                raise InputError(f"the program was exported for the argument {constant!r}, not {leaf!r}")
        return given

    def _expected(self) -> str:
        """Names of the inputs as they are nested: `(x, {'h': state_h}), {'scale': scale}`."""
        names = (_Name(each["name"]) if "name" in each else each["constant"] for each in self._inputs)
        arguments, keywords = self._arguments.unflatten(names)
        return f"{arguments}, {keywords}"

    def outputs(self, values: Sequence[Any]) -> Any:
        """What a call returns."""
        given = iter(values)
        return self._results.unflatten([None if name is None else next(given) for name in self._outputs])


class _Name(str):
    __repr__ = str.__str__
