# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a quantized model to torq_hl, and to results."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from torch_mlir import ir

from torq_mlir import dialects, interface, passes, pipelines
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import CompileError, InputError
from torq_mlir.files import write_atomically
from torq_mlir.frontends.tensor_info import TensorInfo
from torq_mlir.importing import import_model
from torq_mlir.report import Report, SourceNode, build_report, read_refusals

if TYPE_CHECKING:
    import onnx
    import torch

# Of a model that comes from ONNX; that of an exported program starts with "fx".
LEVELS = ("onnx", "torch", "linalg", "torq-hl")
BACKENDS = ("jit", "interpreter")

# What leads from the torch dialect to the next levels.
_PIPELINES = ("torq-torch-to-linalg", "torq-linalg-to-torq-hl")
_REPORT = "torq-report"
# Elements above which a constant is left out of elided text.
_ELISION_LIMIT = 16

Executable = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


def compile(
    model: "str | os.PathLike | bytes | onnx.ModelProto | torch.export.ExportedProgram",
    *,
    backend: str = "jit",
    batch: int | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
) -> "CompiledModel":
    """Compile a quantized ONNX model or exported PyTorch program to torq_hl.

    Args:
      model: ONNX in the QDQ or the QOperator format, or a mixture: a path, a serialized model or a ModelProto. Or a
        program of `torch.export`, of a model that PT2E or torchao has quantized, or the path of one that ends in
        ".pt2". It is not modified. What is not quantized stays in float, on the host.
      backend: what executes the result: "jit" (machine code for this host) or "interpreter" (numpy, slower, the
        definition of what the operations compute). Both give the same bits.
      batch: size of the first dimension of each input, where the model leaves it open.
      input_shapes: shapes of inputs that have open dimensions, by name.

    Raises:
      ModelError: the file is not a model or truncated, an input has a dimension that stays open, or an operator, a type
        or the opset is not supported. The message is one line that names the node.
      CompileError: the model is well-formed but cannot be compiled, such as a bias that does not fit 32 bits.
      ValueError: there is no such backend.
    """
    _check_backend(backend)
    imported = import_model(model, batch=batch, input_shapes=input_shapes)
    module, levels = imported.module, {}
    for level, pipeline in zip((imported.level, *LEVELS[1:]), (imported.pipeline, *_PIPELINES), strict=False):
        levels[level] = module.operation.clone().operation
        _lower(module, pipeline, imported.nodes)
    function = interface.entry_function(module)
    interface.describe(function, imported.inputs, imported.outputs, imported.state, imported.updates)
    return CompiledModel(module, backend=backend, levels=levels, nodes=imported.nodes)


class CompiledModel:
    """A model in torq_hl, callable on numpy arrays.

        compiled = torq_mlir.compile("model.onnx")
        (logits,) = compiled(image)               # by position
        (logits,) = compiled(data=image)          # by name
        (logits,) = compiled.run(None, {"data": image})     # as onnxruntime.InferenceSession.run

    Machine code is made at the first call.

    Attributes:
      inputs, outputs: `TensorInfo` of each, in order: name, shape, dtype, scale and zero_point. Scale and zero point
        are those of quantized inputs and outputs, None for others.
      backend: what executes it.
      module: the module in torq_hl.
      levels: the module at each level that is known, by name, as `mlir` prints it. Not to be modified.
      state: values of the buffers that calls update, by name. To start again, put the first ones back.
    """

    def __init__(
        self,
        module: ir.Module,
        *,
        backend: str = "jit",
        levels: Mapping[str, ir.Operation] | None = None,
        nodes: Sequence[SourceNode] = (),
    ) -> None:
        """Wrap a module in torq_hl; `compile` and `load` are what one usually calls.

        Args:
          levels: the modules it came from, by level.
          nodes: operators of the source model, for the report.

        Raises:
          CompileError: the module has no function `main` and no other single public function.
          ValueError: there is no such backend.
        """
        _check_backend(backend)
        self.module = module
        self.backend = backend
        function = interface.entry_function(module)
        self._arguments, self._results = interface.read(function)
        self._updates = interface.read_updates(function, self._results)
        self.state = interface.read_state(function, self._arguments)
        self.inputs = tuple(info for info in self._arguments if info.name not in self.state)
        self.outputs = tuple(
            info for info, updated in zip(self._results, self._updates, strict=True) if updated is None
        )
        self.levels = {**(levels or {}), LEVELS[-1]: module.operation}
        self._nodes = tuple(nodes)
        self._report: Report | None = None
        self._executable: Executable | None = None

    def __call__(self, /, *arrays: np.ndarray, **named: np.ndarray) -> list[np.ndarray]:
        """The outputs, in order, for inputs by position, by name, or the first ones by position and others by name.

        As in PyTorch, an array whose tensor the program updates is written to.

        Raises:
          InputError: an input is missing, unknown, of another shape or dtype, or is updated and cannot be written to.
          CompileError: the backend has no code for an operation.
        """
        given = interface.name_arrays(self.inputs, arrays, named)
        for name in given.keys() & set(self._updates):
            interface.check_writable(name, given[name])
        operands = interface.arrange(self._arguments, given | self.state)
        if self._executable is None:
            self._executable = _EXECUTABLES[self.backend](self.module)
        outputs = []
        for info, updated, result in zip(self._results, self._updates, self._executable(operands), strict=True):
            value = interface.restore(info, result)
            if updated is None:
                outputs.append(value)
            elif updated in self.state:
                self.state[updated] = value
            else:
                given[updated][...] = value
        return outputs

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The outputs of these names, in that order; all of them for None.

        Raises:
          InputError: as for a call, or there is no output of a name.
        """
        results = dict(zip((info.name for info in self.outputs), self(**input_feed), strict=True))
        for name in output_names or ():
            if name not in results:
                raise InputError(f"the model has no output '{name}'; its outputs are {', '.join(map(repr, results))}")
        return [results[name] for name in output_names or results]

    def mlir(self, level: str = "torq-hl", *, elide: bool = False, debug_info: bool = False) -> str:
        """The IR as text.

        Args:
          level: "onnx" or "fx" (as imported), "torch" (with quantized_decomposed), "linalg" (the same on builtin
            tensors) or "torq-hl".
          elide: leave out constants of more than 16 elements. Such text is for reading: it does not compile.
          debug_info: print locations, which name the nodes of the source model.

        Raises:
          ValueError: there is no such level.
          CompileError: the model was loaded from torq_hl, so that earlier levels are not known.
        """
        return self._level(level).get_asm(**_print_flags(elide, debug_info))

    def write_mlir(
        self, file: IO[bytes], level: str = "torq-hl", *, elide: bool = False, debug_info: bool = False
    ) -> None:
        """Write what `mlir` returns to a binary file, as it is printed: constants can be of hundreds of megabytes.

        Raises:
          as `mlir`.
        """
        self._level(level).print(file=file, binary=True, **_print_flags(elide, debug_info))

    def _level(self, level: str) -> ir.Operation:
        if level in self.levels:
            return self.levels[level]
        loaded = len(self.levels) == 1
        if loaded and level in ("fx", *LEVELS):
            raise CompileError(f"a model loaded from torq_hl has no IR at level {level}")
        known = ", ".join(LEVELS if loaded else self.levels)
        raise ValueError(f"there is no level {level!r}; the levels are {known}")

    def report(self) -> Report:
        """What became of each operator of the source model, who executes it, and why what stays on the host does."""
        if self._report is None:
            self._report = self._make_report()
        return self._report

    def _make_report(self) -> Report:
        function = interface.entry_function(self.module)
        if _REPORT in function.attributes:
            return Report.from_dict(json.loads(ir.StringAttr(function.attributes[_REPORT]).value))
        return build_report(function, self._nodes, self._refusals() if "linalg" in self.levels else {})

    def _refusals(self) -> dict[str, str]:
        """Why operations were not converted: only the passes know, and they say it when asked to."""
        module = self.levels["linalg"].clone()
        pipelines.run(module, _explaining(pipelines.named[_PIPELINES[-1]]), verify=False)
        return read_refusals(interface.entry_function(module))

    def save(self, path: str | os.PathLike) -> None:
        """Write the module with its constants, inputs, outputs and report; `CompiledModel.load` gives it back.

        Args:
          path: MLIR text where it ends in ".mlir", MLIR bytecode otherwise. A file of that name is replaced once the
            new one is complete.

        Raises:
          OSError: the file cannot be written.
        """
        module = self.module.operation.clone().operation
        function = interface.entry_function(module)
        with module.context:
            function.attributes[_REPORT] = ir.StringAttr.get(json.dumps(self.report().to_dict()))
        if Path(path).suffix == ".mlir":
            write_atomically(path, lambda file: module.print(file=file, binary=True, **_print_flags(debug_info=True)))
        else:
            write_atomically(path, lambda file: module.write_bytecode(file))

    @classmethod
    def load(cls, path: str | os.PathLike, *, backend: str = "jit") -> "CompiledModel":
        """A model that `save` or `torq-compile` wrote, or other torq_hl in MLIR's text or bytecode.

        Raises:
          CompileError: the file is not MLIR, or has no function `main` and no other single public function.
          OSError: the file cannot be read.
          ValueError: there is no such backend.
        """
        context = ir.Context()
        dialects.register(context)
        try:
            module = ir.Module.parse(Path(path).read_bytes(), context)
        except ir.MLIRError as error:
            first = error.error_diagnostics[0].message if error.error_diagnostics else str(error)
            raise CompileError(f"{path}: not a module of torq_hl: {' '.join(first.split())}") from None
        return cls(module, backend=backend)


def _print_flags(elide: bool = False, debug_info: bool = False) -> dict[str, Any]:
    limit = _ELISION_LIMIT if elide else None
    return {"large_elements_limit": limit, "enable_debug_info": debug_info, "assume_verified": True}


def _lower(module: ir.Module, pipeline: str, nodes: Sequence[SourceNode]) -> None:
    """Run a pipeline, and verify once what it leaves: to verify after each pass takes longer than the passes."""
    try:
        pipelines.run(module, pipeline, verify=False)
        module.operation.verify()
    except pipelines.PipelineFailure as failure:
        raise CompileError(_explain_failure(failure, nodes)) from failure
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        names = ", ".join(source_names(first.location)) or "the module"
        raise CompileError(f"{names}: {pipeline} left invalid IR: {' '.join(first.message.split())}") from error


def _explain_failure(failure: pipelines.PipelineFailure, nodes: Sequence[SourceNode]) -> str:
    """The first error that a pass reported, with the name of the source node it is about."""
    if not failure.diagnostics:
        return str(failure)
    first = failure.diagnostics[0]
    names = source_names(first.location)
    if first.message.startswith("failed to legalize operation"):  # torch-mlir prints the operation, constants and all
        described = [f"{node.name} ({node.op_type})" for node in nodes if node.name in names]
        return f"{', '.join(described or names)}: there is no lowering of this form of the operator"
    if not names:
        return str(failure)
    return f"{', '.join(names)}: {' '.join(first.message.split())}"


def _explaining(pipeline: str) -> str:
    """The passes of `pipeline` up to the last one that can explain what it leaves, with explanations."""
    parsed, registry = pipelines.parse(pipeline), passes.registry()
    explains = [
        element.name in registry and any(option.name == "explain" for option in registry[element.name].options)
        for element in parsed.elements
    ]
    last = max(index for index, value in enumerate(explains) if value)
    pairs = zip(parsed.elements[: last + 1], explains, strict=False)
    elements = (f"{element.name}{{explain=true}}" if explain else str(element) for element, explain in pairs)
    return f"{parsed.anchor}({','.join(elements)})"


def _check_backend(backend: str) -> None:
    if backend not in BACKENDS:
        raise ValueError(f"there is no backend {backend!r}; the backends are {', '.join(BACKENDS)}")


def _jit(module: ir.Module) -> Executable:
    from torq_mlir.backends import jit

    return jit.compile(module)


def _interpreter(module: ir.Module) -> Executable:
    from torq_mlir.backends import interpreter

    return interpreter.Interpreter(module)


_EXECUTABLES: Mapping[str, Callable[[ir.Module], Executable]] = {"jit": _jit, "interpreter": _interpreter}

__all__ = ["BACKENDS", "LEVELS", "CompiledModel", "TensorInfo", "compile"]
