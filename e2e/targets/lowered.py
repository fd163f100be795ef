# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model in TOSA or StableHLO, and its execution through linalg."""

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from torq_mlir import pipelines
from torq_mlir.dialects import elements
from torq_mlir.execution import compile_linalg
from torq_mlir.importing import import_model

if TYPE_CHECKING:
    import onnx
    from torch.export import ExportedProgram

TARGETS = ("tosa", "stablehlo")


class Form(enum.Enum):
    """How quantized contractions compute."""

    FLOAT = "float"
    INTEGER = "integer"


class Lowered:
    """A model lowered to a target.

    Attributes:
      refusals: why contractions of quantized operands stayed in float, in integer form.
    """

    def __init__(self, model: "onnx.ModelProto | ExportedProgram", target: str, form: Form):
        imported = import_model(model)
        self._module, self._target, self._imported = imported.module, target, imported
        pipelines.run(self._module, imported.pipeline)
        pipelines.run(self._module, f"torq-torch-to-{target}")
        if form is Form.INTEGER:
            fusion = f"torq-fuse-quantized-ops-{target}{{explain=true}}"
            pipelines.run(self._module, f"builtin.module({fusion},canonicalize,cse)")
        self.refusals = _refusals(self._module.operation)
        pipelines.run(self._module, f"builtin.module(convert-quantized-decomposed-to-{target},canonicalize,cse)")
        self._state = dict(imported.state)
        self._executable = None

    @property
    def text(self) -> str:
        """The module, without the elements of large constants."""
        return self._module.operation.get_asm(large_elements_limit=16)

    @property
    def is_all_stablehlo(self) -> bool:
        """Whether there are no operations of other dialects, such as the conversion of torch makes for scalars."""
        dialects: set[str] = set()

        def collect(operation: ir.Operation) -> ir.WalkResult:
            dialects.add(operation.name.partition(".")[0])
            return ir.WalkResult.ADVANCE

        self._module.operation.walk(collect)
        return dialects <= {"builtin", "func", "stablehlo"}

    def reference(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results that the reference interpreter of StableHLO computes, of a model without state.

        It ends the process at an operation of another dialect.
        """
        with self._module.context, ir.Location.unknown():
            function = self._module.body.operations[0]
            types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
            attributes = [
                elements.from_numpy(array, ir.RankedTensorType(type_).element_type)
                for array, type_ in zip(inputs, types, strict=True)
            ]
            results = [elements.to_numpy(each) for each in _stablehlo.eval_module(self._module, attributes)]
        return self._typed(results)

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """The results of a call; what it updates is the state of the next one."""
        if self._executable is None:
            pipelines.run(self._module, f"torq-{self._target}-to-linalg")
            self._executable = compile_linalg(self._module)
        given = iter(inputs)
        names = [info.name for info in self._imported.inputs]
        arrays = [self._state[name] if name in self._state else next(given) for name in names]
        results = self._typed(self._executable([_signed(array) for array in arrays]))
        updates = self._imported.updates or [None] * len(results)
        self._state.update((name, array) for name, array in zip(updates, results, strict=True) if name is not None)
        return [array for name, array in zip(updates, results, strict=True) if name is None]

    def _typed(self, results: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [array.view(info.dtype) for array, info in zip(results, self._imported.outputs, strict=True)]


def _signed(array: np.ndarray) -> np.ndarray:
    """A module computes on signless integers, whose arrays are signed."""
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def _refusals(root: ir.Operation) -> list[str]:
    found = []

    def collect(operation: ir.Operation) -> ir.WalkResult:
        if "torq_hl.refusal" in operation.attributes:
            found.append(ir.StringAttr(operation.attributes["torq_hl.refusal"]).value)
        return ir.WalkResult.ADVANCE

    root.walk(collect)
    return found
