# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running the passes of a pipeline."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from torch_mlir import ir

from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import CompileError
from torq_mlir.passes import PassInfo, registry
from torq_mlir.pipelines import wheel
from torq_mlir.pipelines.instrumentation import Instrumentation
from torq_mlir.pipelines.named import named
from torq_mlir.pipelines.scheduling import PassError, ScheduledPass, ScheduledPipeline, schedule
from torq_mlir.pipelines.syntax import PassText, PipelineText


class PipelineFailure(CompileError):
    """A pass failed.

    Attributes:
      pass_name: flag of the pass.
      operation: the op it ran on, as in `'func.func' @main`.
      diagnostics: the errors it reported; none where a diagnostic handler of the context has had them.
    """

    def __init__(self, pass_name: str, operation: str, diagnostics: Sequence[ir.DiagnosticInfo]):
        super().__init__(pass_name, operation, diagnostics)
        self.pass_name, self.operation, self.diagnostics = pass_name, operation, tuple(diagnostics)

    def __str__(self) -> str:
        where = f"pass {self.pass_name} failed on {self.operation}"
        if not self.diagnostics:
            return where
        first = self.diagnostics[0]
        source = ", ".join(source_names(first.location)) or _file_position(first.location)
        reason = " ".join(first.message.split())
        return f"{source}: {reason} ({where})" if source else f"{reason} ({where})"


def _file_position(location: ir.Location) -> str:
    if isinstance(location, ir.FileLineColLoc):
        return f"{location.filename}:{location.start_line}:{location.start_col}"
    return ""


class Pipeline:
    """Python and C++ passes that run on a module, made for one context."""

    def __init__(
        self, text: str, context: ir.Context, *, verify: bool = True, passes: Mapping[str, PassInfo] | None = None
    ):
        """A pipeline with its outermost anchor, such as `builtin.module(canonicalize,func.func(cse))`.

        Args:
          verify: verify the op that a pass ran on after each pass.
          passes: the passes in Python; those declared in Passes.td by default.

        Raises:
          PipelineSyntaxError: the text cannot be run as it is written.
        """
        self._root = schedule(text, context, registry() if passes is None else passes, named)
        self._instrumentations: list[Instrumentation] = []
        for scheduled in self.passes():
            scheduled.manager.enable_verifier(verify)

    def __str__(self) -> str:
        """The text with pipelines expanded and the values of all options."""
        return str(self._root)

    @property
    def root(self) -> ScheduledPipeline:
        return self._root

    def passes(self) -> Iterator[ScheduledPass]:
        """All passes, in order."""
        return _passes(self._root)

    def add_instrumentation(self, instrumentation: Instrumentation) -> None:
        """Lets `instrumentation` take part in all runs; after a pass the last added one is called first."""
        self._instrumentations.append(instrumentation)
        for scheduled in self.passes():
            instrumentation.prepare_pass(scheduled)

    def run(self, module: ir.Module | ir.Operation) -> None:
        """Runs all passes on `module`, in place.

        Raises:
          PipelineFailure: a pass failed or left invalid IR; `module` is then in an unknown state.
        """
        operation = module.operation
        if self._root.anchor not in (operation.name, "any"):
            raise ValueError(f"can't run '{self._root.anchor}' pass manager on '{operation.name}' op")
        self._run_pipeline(self._root, operation)

    def _run_pipeline(self, pipeline: ScheduledPipeline, operation: ir.Operation) -> None:
        for element in pipeline.elements:
            if isinstance(element, ScheduledPass):
                self._run_pass(element, operation)
                continue
            for child in element.children(operation):
                for instrumentation in self._instrumentations:
                    instrumentation.before_pipeline(element, child)
                try:
                    self._run_pipeline(element, child)
                finally:
                    for instrumentation in reversed(self._instrumentations):
                        instrumentation.after_pipeline(element, child)

    def _run_pass(self, scheduled: ScheduledPass, operation: ir.Operation) -> None:
        for instrumentation in self._instrumentations:
            instrumentation.before_pass(scheduled, operation)
        try:
            scheduled.run(operation)
        except BaseException as exception:
            for instrumentation in reversed(self._instrumentations):
                instrumentation.after_pass_failed(scheduled, operation)
            if isinstance(exception, PassError):
                raise PipelineFailure(scheduled.name, _describe(operation), exception.diagnostics) from None
            raise
        for instrumentation in reversed(self._instrumentations):
            instrumentation.after_pass(scheduled, operation)


def run(
    module: ir.Module | ir.Operation,
    pipeline: str,
    *,
    verify: bool = True,
    instrumentations: Iterable[Instrumentation] = (),
) -> None:
    """Runs a pipeline on `module`, in place.

    Args:
      pipeline: the text of a pipeline of Python and C++ passes, or the name of a pipeline.
      verify: verify the op that a pass ran on after each pass.
      instrumentations: what is called around each pass.

    Raises:
      PipelineSyntaxError: the text cannot be run as it is written.
      PipelineFailure: a pass failed or left invalid IR; `module` is then in an unknown state.
    """
    prepared = Pipeline(named.get(pipeline, pipeline), module.context, verify=verify)
    for instrumentation in instrumentations:
        prepared.add_instrumentation(instrumentation)
    prepared.run(module)


def nest(
    elements: Iterable[PassText], context: ir.Context, *, passes: Mapping[str, PassInfo] | None = None
) -> PipelineText:
    """The pipeline on `builtin.module` that runs each pass on the op it is for, as mlir-opt runs a list of flags.

    Raises:
      PassParseError: a pass is unknown or its options are wrong.
    """
    passes = registry() if passes is None else passes
    nested: list[PassText | PipelineText] = []
    for element in elements:
        anchor = "builtin.module"
        if element.name in passes:
            operation = passes[element.name].operation
            anchor = anchor if operation == "any" else operation
        elif element.name not in named:
            anchor = wheel.required_anchor(element, context)
        nested.append(element if anchor == "builtin.module" else PipelineText(anchor, (element,)))
    return PipelineText("builtin.module", tuple(nested))


def _passes(pipeline: ScheduledPipeline) -> Iterator[ScheduledPass]:
    for element in pipeline.elements:
        if isinstance(element, ScheduledPass):
            yield element
        else:
            yield from _passes(element)


def _describe(operation: ir.Operation) -> str:
    if "sym_name" in operation.attributes:
        return f"'{operation.name}' @{ir.StringAttr(operation.attributes['sym_name']).value}"
    return f"'{operation.name}'"
