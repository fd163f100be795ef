# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a quantized model to torq_hl, and to results."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from torch_mlir import ir

from torq_mlir import approximation, assignment, deviation, interface, persistence, pipelines
from torq_mlir.deviation import Deviation
from torq_mlir.dialects.modules import copy_module
from torq_mlir.dynamic_model import DynamicModel
from torq_mlir.errors import CompileError
from torq_mlir.executing import BACKENDS, Executable, Execution
from torq_mlir.files import write_atomically
from torq_mlir.frontends.tensor_info import TensorInfo
from torq_mlir.importing import dynamic_inputs, import_model, read_exported
from torq_mlir.lowering import explaining, lower
from torq_mlir.report import HOST, Refusal, Report, build_report, read_refusals
from torq_mlir.source_nodes import SourceNode

if TYPE_CHECKING:
    import onnx
    import torch

    from torq_mlir.backends.cpu import Profile

# Of a model that comes from ONNX; that of an exported program starts with "fx".
LEVELS = ("onnx", "torch", "linalg", "torq-hl")

# What leads from the torch dialect to the next levels.
_PIPELINES = ("torq-torch-to-linalg", "torq-linalg-to-torq-hl")
# Elements above which a constant is left out of elided text.
_ELISION_LIMIT = assignment.ELISION_LIMIT


def compile(
    model: "str | os.PathLike | bytes | onnx.ModelProto | torch.export.ExportedProgram",
    *,
    backend: str | Execution = "cpu",
    batch: int | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    float: str = "host",
    approximate: Sequence[str] = (),
    assignments: Mapping[str, str] | None = None,
    instrumentations: Sequence[pipelines.Instrumentation] = (),
    context: ir.Context | None = None,
) -> "CompiledModel | DynamicModel":
    """Compile a quantized ONNX model or exported PyTorch program to torq_hl.

    A program that was exported with dynamic dimensions, where neither `batch` nor `input_shapes` is given, is a
    `DynamicModel`: it takes inputs of any shape that the program was exported for.

    Args:
      model: ONNX in the QDQ or the QOperator format, or a mixture: a path, a serialized model or a ModelProto. Or a
        program of `torch.export`, of a model that PT2E or torchao has quantized, or the path of one that ends in
        ".pt2". It is not modified. What is not quantized stays in float, on the host.
      backend: what executes the result: "cpu" (kernels generated for this machine), "jit" (MLIR's own lowering) or
        "interpreter" (numpy, slower, the definition of what the operations compute), or "iree", with the extra of that
        name; or an `Execution`, which has the number of threads and other options. All give the same bits.
      batch: size of the first dimension of each input, where the model leaves it open.
      input_shapes: shapes of inputs that have open dimensions, by name.
      float: where what is not quantized is computed: "host", as the source model does, or "bf16", on the NPU where it
        has the operation, with 8 bits of precision.
      approximate: what to compute in integers on the NPU although they follow the float computation only nearly:
        "softmax", "normalization" (LayerNorm and RMSNorm). Where an option is given, the report has the error.
      assignments: "nss", "css" or "host" by `line:col` of an operator in the IR of the first level, as
        `mlir("onnx", elide=True)` prints it; "*" stands for all others. What is assigned to css computes on integers
        on the CPU, what is assigned to the host in float; what is not assigned goes to the NPU where that is possible.
      instrumentations: what is called around each pass, such as `pipelines.DumpIR`.
      context: of the modules; a new one by default.

    Raises:
      ModelError: the file is not a model or truncated, an input has a dimension that stays open, or an operator, a type
        or the opset is not supported. The message is one line that names the node.
      CompileError: the model is well-formed but cannot be compiled, such as a bias that does not fit 32 bits.
      ValueError: there is no such backend, place for floats or approximation.
    """
    backend = Execution.of(backend)
    lowering = approximation.approximating(pipelines.named[_PIPELINES[-1]], float, approximate)
    model = read_exported(model)
    if batch is None and input_shapes is None and (dynamic := dynamic_inputs(model)) is not None:
        options = {"backend": backend, "float": float, "approximate": approximate, "assignments": assignments}
        options |= {"instrumentations": instrumentations, "context": context}
        return DynamicModel(*dynamic, lambda shapes: compile(model, input_shapes=shapes, **options))
    imported = import_model(model, batch=batch, input_shapes=input_shapes, context=context)
    module, levels = imported.module, {}
    if assignments is not None:
        assignment.locate(module)
        lowering = assignment.assigning(lowering, assignments)
    steps = (imported.pipeline, *_PIPELINES[:-1], lowering)
    for level, pipeline in zip((imported.level, *LEVELS[1:]), steps, strict=False):
        levels[level] = module.operation.clone().operation
        lower(module, pipeline, imported.nodes, instrumentations)
    function = interface.entry_function(module)
    interface.describe(function, imported.inputs, imported.outputs, imported.state, imported.updates)
    known = {"nodes": imported.nodes, "lowering": lowering, "structure": imported.structure}
    return CompiledModel(module, backend=backend, levels=levels, **known)


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
      backend: name of what executes it. That is known for good once it has been called.
      module: the module in torq_hl.
      levels: the module at each level that is known, by name, as `mlir` prints it. Not to be modified.
      state: values of the buffers that calls update, by name. To start again, put the first ones back.
      updated: names of the inputs and buffers that calls update.
      structure: how a call is made of tensors, for `torch_module`; None if it comes from ONNX.
    """

    def __init__(
        self,
        module: ir.Module,
        *,
        backend: str | Execution = "cpu",
        levels: Mapping[str, ir.Operation] | None = None,
        nodes: Sequence[SourceNode] = (),
        lowering: str = pipelines.named[_PIPELINES[-1]],
        structure: str | None = None,
    ) -> None:
        """Wrap a module in torq_hl; `compile` and `load` are what one usually calls.

        Args:
          levels: the modules it came from, by level.
          nodes: operators of the source model, for the report.
          lowering: the pipeline that made it of the level before.
          structure: how a call is made of tensors, if it comes from an exported program: `fx.call_structure`.

        Raises:
          CompileError: the module has no function `main` and no other single public function.
          ValueError: there is no such backend.
        """
        self.module = module
        self._execution = Execution.of(backend)
        self.backend = self._execution.backend
        function = interface.entry_function(module)
        self._arguments, self._results = interface.read(function)
        self._updates = interface.read_updates(function, self._results)
        self.updated = frozenset(name for name in self._updates if name is not None)
        self.state = interface.read_state(function, self._arguments)
        self.inputs = tuple(info for info in self._arguments if info.name not in self.state)
        self.outputs = tuple(
            info for info, updated in zip(self._results, self._updates, strict=True) if updated is None
        )
        self.levels = {**(levels or {}), LEVELS[-1]: module.operation}
        self._nodes = tuple(nodes)
        self._lowering = lowering
        self.structure = structure or persistence.read_structure(function)
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
        for name in given.keys() & self.updated:
            interface.check_writable(name, given[name])
        outputs, updated = self.evaluate(given, self.state)
        for name, value in updated.items():
            if name in self.state:
                self.state[name] = value
            else:
                given[name][...] = value
        return outputs

    def evaluate(
        self, inputs: Mapping[str, np.ndarray], state: Mapping[str, np.ndarray]
    ) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """What a call computes, without its side effects: the outputs, and by name the new values of what it updates.

        Args:
          inputs, state: an array for each of `inputs` and of `state`, by name. None is written.

        Raises:
          as a call.
        """
        results = self.prepare()(interface.arrange(self._arguments, {**inputs, **state}))
        outputs, updated = [], {}
        for info, name, result in zip(self._results, self._updates, results, strict=True):
            value = interface.restore(info, result)
            if name is None:
                outputs.append(value)
            else:
                updated[name] = value
        return outputs, updated

    def prepare(self) -> Executable:
        """Make machine code now, not at the first call. The result takes the arguments of the function in the module.

        Raises:
          CompileError: as for a call.
        """
        if self._executable is None:
            self.backend, self._executable = self._execution.compile(self.module)
        return self._executable

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The outputs of these names, in that order; all of them for None.

        Raises:
          InputError: as for a call, or there is no output of a name.
        """
        return interface.select_outputs(self.outputs, self(**input_feed), output_names)

    def profile(self, /, *arrays: np.ndarray, **named: np.ndarray) -> "Profile":
        """How long each operation takes, in one call after another that warms up. Inputs are as for a call.

        Raises:
          InputError: as for a call.
          CompileError: as for a call, or the backend is not "cpu".
        """
        operands = interface.arrange(self._arguments, interface.name_arrays(self.inputs, arrays, named) | self.state)
        executable = self.prepare()
        if self.backend != "cpu":
            raise CompileError(f"the backend {self.backend!r} measures no times; cpu does")
        executable(operands)
        return executable.profile(operands)[1]

    def write_library(self, path: str | os.PathLike, *, prefix: str = "torq_model") -> Path:
        """Write machine code for C: a shared library (".so") or an object file (".o"), and beside it the header.

        Args:
          prefix: of the names of its functions.

        Returns:
          The path of the header.

        Raises:
          CompileError: a shape is not static, or there is no C compiler.
          OSError: a file cannot be written.
        """
        from torq_mlir.backends import cpu

        plan, program = cpu.plan_and_build(self.module, cpu.select(self._execution.cpu))
        return cpu.library.write(path, plan, program, self._arguments, self._results, prefix=prefix)

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

    def reassigned(self, assignments: Mapping[str, str], *, backend: str | Execution = "cpu") -> "CompiledModel":
        """The same model with other executors, from its linalg on.

        Args:
          assignments: as for `compile`. Lines and columns are known if it was compiled with some.
          backend: what executes it.

        Raises:
          CompileError: the model was loaded from torq_hl, or cannot be compiled so.
        """
        module = copy_module(self._level("linalg"))
        lowering = assignment.assigning(pipelines.named[_PIPELINES[-1]], assignments)
        lower(module, lowering, self._nodes)
        function, described = (interface.entry_function(each) for each in (module, self.module))
        for key in ("arg_attrs", "res_attrs"):
            function.attributes[key] = described.attributes[key]
        levels = {level: operation for level, operation in self.levels.items() if level != LEVELS[-1]}
        known = {"nodes": self._nodes, "lowering": lowering, "structure": self.structure}
        return CompiledModel(module, backend=backend, levels=levels, **known)

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
        if (kept := persistence.read_report(function)) is not None:
            return kept
        report = build_report(function, self._nodes, self._refusals() if "linalg" in self.levels else {})
        return dataclasses.replace(report, deviations=self.deviations())

    def deviations(
        self, inputs: Sequence[Mapping[str, np.ndarray]] | None = None, *, every_layer: bool = False
    ) -> tuple[Deviation, ...]:
        """The error of each part that the options `float` and `approximate` let compute other than the source model.

        Args:
          inputs: samples, arrays by name; by default two random ones, see `deviation.sample_inputs`.
          every_layer: also that of each operation of the NPU, which rounds integers where the source rounds floats.

        Raises:
          InputError: as for a call.
        """
        exact = approximation.exact(self._lowering)
        if every_layer:
            exact = assignment.assigning(exact, {"*": HOST})
        is_open = any(size < 0 for info in self.inputs for size in info.shape)
        if "linalg" not in self.levels or exact == self._lowering or (inputs is None and is_open):
            return ()
        samples = deviation.sample_inputs(self.inputs) if inputs is None else inputs
        named = (interface.name_arrays(self.inputs, (), dict(sample)) for sample in samples)
        operands = [interface.arrange(self._arguments, given | self.state) for given in named]
        return deviation.measure(self.levels["linalg"], self._lowering, exact, operands, every_layer)

    def _refusals(self) -> dict[str, Refusal]:
        """Why operations were not converted: only the passes know, and they say it when asked to."""
        module = self.levels["linalg"].clone()
        pipelines.run(module, explaining(self._lowering), verify=False)
        return read_refusals(interface.entry_function(module))

    def save(self, path: str | os.PathLike) -> None:
        """Write the module with its constants, inputs, outputs and report; `CompiledModel.load` gives it back.

        Args:
          path: MLIR text where it ends in ".mlir", MLIR bytecode otherwise. A file of that name is replaced once the
            new one is complete.

        Raises:
          OSError: the file cannot be written.
        """
        module = persistence.complete(self.module, self.report(), self.structure)
        if Path(path).suffix == ".mlir":
            write_atomically(path, lambda file: module.print(file=file, binary=True, **_print_flags(debug_info=True)))
        else:
            write_atomically(path, lambda file: module.write_bytecode(file))

    @classmethod
    def load(cls, path: str | os.PathLike, *, backend: str | Execution = "cpu") -> "CompiledModel":
        """A model that `save` or `torq-compile` wrote, or other torq_hl in MLIR's text or bytecode.

        Raises:
          CompileError: the file is not MLIR, or has no function `main` and no other single public function.
          OSError: the file cannot be read.
          ValueError: there is no such backend.
        """
        return cls(persistence.parse(Path(path).read_bytes(), path), backend=backend)

    def __reduce__(self) -> tuple:
        data = persistence.to_bytes(persistence.complete(self.module, self.report(), self.structure))
        return _restored, (data, self._execution, self.state)


def _restored(data: bytes, execution: Execution, state: Mapping[str, np.ndarray]) -> CompiledModel:
    model = CompiledModel(persistence.parse(data, "the pickled model"), backend=execution)
    model.state.update(state)
    return model


def _print_flags(elide: bool = False, debug_info: bool = False) -> dict[str, Any]:
    limit = _ELISION_LIMIT if elide else None
    return {"large_elements_limit": limit, "enable_debug_info": debug_info, "assume_verified": True}


__all__ = ["BACKENDS", "LEVELS", "CompiledModel", "DynamicModel", "Execution", "TensorInfo", "compile"]
