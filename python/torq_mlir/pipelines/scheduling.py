# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the text of a pipeline to passes that can run.

Each pass has a PassManager of its own, whether it is written in Python or C++: verification and printing of the IR
are then MLIR's for both kinds, a failure belongs to one pass, and instrumentation sees every pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from torq_mlir.passes import OptionError, PassFailure, PassInfo
from torq_mlir.pipelines import syntax, wheel
from torq_mlir.pipelines.syntax import PassText, PipelineSyntaxError, PipelineText


class PassError(Exception):
    """A pass failed; `diagnostics` are the errors that no diagnostic handler has had."""

    def __init__(self, diagnostics: Sequence[ir.DiagnosticInfo]):
        super().__init__()
        self.diagnostics = tuple(diagnostics)


class _PythonPass:
    """What a PassManager calls for a Python pass.

    An exception must not unwind through the C++ of the PassManager: it is kept, and raised again when that is left.
    """

    def __init__(self, info: PassInfo, options: Mapping[str, Any]):
        self._info = info
        self._options = options
        self._exception: BaseException | None = None

    def load(self) -> None:
        """Imports the implementation."""
        self._info.load()

    def __call__(self, operation: ir.Operation, external_pass: Any) -> None:
        try:
            with operation.context:
                self._info.run(operation, **self._options)
        except PassFailure:
            external_pass.signal_pass_failure()
        except BaseException as exception:
            self._exception = exception
            external_pass.signal_pass_failure()

    def take_exception(self) -> BaseException | None:
        """The exception that ended the last run, if one did."""
        exception, self._exception = self._exception, None
        return exception


@dataclass(eq=False)
class ScheduledPass:
    """A pass at its place in a pipeline.

    Attributes:
      name: flag of the pass.
      text: the pass in the text of a pipeline, with its options.
      manager: what runs it.
    """

    name: str
    text: str
    manager: PassManager
    dependent_dialects: tuple[str, ...] = ()
    python_pass: _PythonPass | None = None

    def load(self) -> None:
        """Imports what implements the pass; otherwise that happens when it first runs."""
        if self.python_pass:
            self.python_pass.load()

    def run(self, operation: ir.Operation) -> None:
        """Runs the pass on `operation`.

        Raises:
          PassError: the pass failed, or left invalid IR.
          Exception: whatever a Python pass raised other than PassFailure.
        """
        for dialect in self.dependent_dialects:
            operation.context.get_dialect_descriptor(dialect)
        try:
            self.manager.run(operation)
        except ir.MLIRError as error:
            exception = self.python_pass.take_exception() if self.python_pass else None
            if exception is None:
                raise PassError(error.error_diagnostics) from None
        else:
            return
        exception.add_note(f"raised by pass {self.text}")
        raise exception


@dataclass(eq=False)
class ScheduledPipeline:
    """Passes that run in order on each op named `anchor`, or on every isolated op for the anchor `any`."""

    anchor: str
    elements: list["ScheduledPass | ScheduledPipeline"] = field(default_factory=list)

    def __str__(self) -> str:
        texts = (element.text if isinstance(element, ScheduledPass) else str(element) for element in self.elements)
        return f"{self.anchor}({','.join(texts)})"

    def children(self, operation: ir.Operation) -> list[ir.Operation]:
        """The ops directly inside `operation` that the pipeline runs on."""
        inside = [child.operation for region in operation.regions for block in region for child in block]
        if self.anchor == "any":
            return [child for child in inside if child.has_trait(ir.IsIsolatedFromAboveTrait)]
        return [child for child in inside if child.name == self.anchor]

    def append(self, element: "ScheduledPass | ScheduledPipeline") -> None:
        """Adds an element; neighbours with one anchor become one pipeline, as in MLIR."""
        last = self.elements[-1] if self.elements else None
        mergeable = isinstance(element, ScheduledPipeline) and isinstance(last, ScheduledPipeline)
        if mergeable and last.anchor == element.anchor:
            for inner in element.elements:
                last.append(inner)
        else:
            self.elements.append(element)


def schedule(
    text: str, context: ir.Context, passes: Mapping[str, PassInfo], named: Mapping[str, str]
) -> ScheduledPipeline:
    """The passes of the pipeline `text`.

    Args:
      passes: passes in Python by name. Names found neither here nor in `named` are those of the wheel's C++ passes.
      named: texts of pipelines by name.

    Raises:
      PipelineSyntaxError: an element is unknown or does not fit its place or declaration.
    """
    return _Scheduler(text, context, passes, named).schedule()


class _Scheduler:
    def __init__(self, text: str, context: ir.Context, passes: Mapping[str, PassInfo], named: Mapping[str, str]):
        self._text = text
        self._context = context
        self._passes = passes
        self._named = named

    def schedule(self) -> ScheduledPipeline:
        return self._pipeline(syntax.parse(self._text))

    def _pipeline(self, pipeline: PipelineText) -> ScheduledPipeline:
        scheduled = ScheduledPipeline(pipeline.anchor)
        for element in pipeline.elements:
            if isinstance(element, PipelineText):
                scheduled.append(self._pipeline(element))
                continue
            for each in self._resolver(element)(element, pipeline.anchor):
                scheduled.append(each)
        return scheduled

    def _resolver(self, element: PassText) -> Callable[[PassText, str], list[ScheduledPass | ScheduledPipeline]]:
        if element.name in self._passes:
            return self._python_pass
        return self._named_pipeline if element.name in self._named else self._wheel_pass

    def _check_anchor(self, element: PassText, required: str, anchor: str) -> None:
        if required != anchor:
            reason = f"'{element.name}' runs on '{required}', not on '{anchor}'; did you intend to nest?"
            raise PipelineSyntaxError(self._text, element.position, reason)

    def _python_pass(self, element: PassText, anchor: str) -> list[ScheduledPass | ScheduledPipeline]:
        info = self._passes[element.name]
        if info.operation != "any":
            self._check_anchor(element, info.operation, anchor)
        try:
            options = info.parse_options(element.options or "")
        except OptionError as error:
            raise PipelineSyntaxError(self._text, element.position, str(error)) from None
        text = info.format(options)
        callback = _PythonPass(info, options)
        manager = PassManager(anchor, self._context)
        class_name = "".join(word.capitalize() for word in info.name.split("-"))
        manager.add(callback, name=class_name, argument=text, description=info.summary)
        return [ScheduledPass(info.name, text, manager, info.dependent_dialects, callback)]

    def _named_pipeline(self, element: PassText, anchor: str) -> list[ScheduledPass | ScheduledPipeline]:
        if element.options:
            raise PipelineSyntaxError(self._text, element.position, f"pipeline '{element.name}' has no options")
        pipeline = schedule(self._named[element.name], self._context, self._passes, self._named)
        self._check_anchor(element, pipeline.anchor, anchor)
        return pipeline.elements

    def _wheel_pass(self, element: PassText, anchor: str) -> list[ScheduledPass | ScheduledPipeline]:
        try:
            return self._expanded(wheel.expand(element, anchor, self._context))
        except wheel.PassParseError as error:
            raise PipelineSyntaxError(self._text, element.position, str(error)) from None

    def _expanded(self, pipeline: PipelineText) -> list[ScheduledPass | ScheduledPipeline]:
        elements: list[ScheduledPass | ScheduledPipeline] = []
        for element in pipeline.elements:
            if isinstance(element, PipelineText):
                elements.append(ScheduledPipeline(element.anchor, self._expanded(element)))
            else:
                manager = PassManager.parse(f"{pipeline.anchor}({element})", self._context)
                elements.append(ScheduledPass(element.name, str(element), manager))
        return elements
