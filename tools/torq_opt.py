# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-opt: runs passes on a module, as mlir-opt does, in Python and C++."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from torch_mlir import ir

from torq_mlir import dialects, pipelines
from torq_mlir.files import write_atomically
from torq_mlir.passes import registry
from torq_mlir.pipelines import wheel

from . import command_line, sources
from .command_line import Arguments, InputError, UsageError
from .diagnostics import DiagnosticPrinter, DiagnosticVerifier
from .opt_options import OPTIONS, TOOL, help_text, version_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code is 0 for success."""
    try:
        parsed = command_line.parse(OPTIONS, sys.argv[1:] if arguments is None else arguments)
        if parsed.help or parsed.h or parsed.version:
            sys.stdout.write(version_text() if parsed.version else help_text())
            return 0
        return _Tool(parsed).run()
    except UsageError as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return 1
    except (InputError, pipelines.PipelineSyntaxError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of stdout has gone; what Python has yet to flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


class _Tool:
    """One run: options, context, passes and the modules they run on."""

    def __init__(self, arguments: Arguments):
        self._arguments = arguments
        if len(arguments.positional) > 1:
            limit = f"Can specify at most 1 positional arguments: See: {TOOL} --help"
            raise UsageError(f"Too many positional arguments specified!\n{limit}")
        self._printer = DiagnosticPrinter()
        self._context = ir.Context()
        self._context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
        self._context.emit_error_diagnostics = True
        dialects.register(self._context)
        self._timing = pipelines.Timing() if arguments.mlir_timing else None

    def run(self) -> int:
        if self._arguments.show_dialects:
            print(f"Available Dialects: {','.join(_available_dialects(self._context))}")
            return 0
        self._pipeline = self._make_pipeline()
        if self._arguments.dump_pass_pipeline:
            print(_pretty(self._pipeline), file=sys.stderr)
        try:
            succeeded, outputs = self._process_all()
            # A part of the output is written to stdout all the same, but no file is left behind.
            if succeeded or self._arguments.o == "-":
                self._write(outputs)
        finally:
            if self._timing:
                sys.stderr.write(self._timing.report())
        return 0 if succeeded else 1

    def _make_pipeline(self) -> pipelines.Pipeline:
        arguments = self._arguments
        text = arguments.pass_pipeline
        if text is not None and arguments.flags:
            raise InputError("<unknown>:0: error: '-pass-pipeline' option can't be used with individual pass options")
        if text is None:
            elements = [pipelines.PassText(name, options) for name, options in arguments.flags]
            self._check_passes([element.name for element in elements])
            try:
                text = str(pipelines.nest(elements, self._context))
            except pipelines.PassParseError as error:
                raise InputError(f"<unknown>:0: error: {error}") from None
        pipeline = pipelines.Pipeline(text, self._context, verify=arguments.verify_each)
        for instrumentation in self._instrumentations():
            pipeline.add_instrumentation(instrumentation)
        return pipeline

    def _check_passes(self, names: Sequence[str]) -> None:
        ours = [*registry(), *pipelines.named]
        for name in names:
            if name not in ours and not wheel.is_known(name, self._context):
                raise command_line.unknown_argument(TOOL, name, [*(option.name for option in OPTIONS), *ours])

    def _instrumentations(self) -> list[pipelines.Instrumentation]:
        arguments = self._arguments
        instrumentations: list[pipelines.Instrumentation] = []
        if self._timing:
            instrumentations.append(self._timing)
        if arguments.dump_ir_directory:
            instrumentations.append(pipelines.DumpIR(Path(arguments.dump_ir_directory)))
        self._check_printed("before", arguments.mlir_print_ir_before)
        self._check_printed("after", arguments.mlir_print_ir_after)
        before_all = arguments.mlir_print_ir_before_all
        after_all = arguments.mlir_print_ir_after_all or arguments.mlir_print_ir_after_failure
        instrumentations.append(
            pipelines.PrintIR(
                before=pipelines.EVERY_PASS if before_all else arguments.mlir_print_ir_before,
                after=pipelines.EVERY_PASS if after_all else arguments.mlir_print_ir_after,
                only_changes=arguments.mlir_print_ir_after_change,
                only_failures=arguments.mlir_print_ir_after_failure,
                module_scope=arguments.mlir_print_ir_module_scope,
                elements_limit=arguments.mlir_elide_elementsattrs_if_larger,
                resource_limit=arguments.mlir_elide_resource_strings_if_larger,
                debug_info=arguments.mlir_print_debuginfo,
                generic=arguments.mlir_print_op_generic,
            )
        )
        return instrumentations

    def _check_printed(self, when: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in registry() and not wheel.is_known(name, self._context):
                raise UsageError(f"for the --mlir-print-ir-{when} option: Cannot find option named '{name}'!")

    def _process_all(self) -> tuple[bool, list[bytes]]:
        """Whether all chunks of the input succeeded, and their outputs."""
        path = self._arguments.positional[0] if self._arguments.positional else "-"
        marker = self._arguments.split_input_file
        needs_text = bool(marker) or self._arguments.verify_diagnostics is not None
        try:
            source = sources.read(path, self._printer, needs_text=needs_text)
        except OSError as error:
            raise InputError(f"cannot open input file '{path}': {error.strerror}") from None
        chunks = [source] if not marker else list(sources.split(source, marker, self._printer))
        results = [self._process(chunk) for chunk in chunks]
        return all(succeeded for succeeded, _ in results), [output for _, output in results]

    def _process(self, chunk: sources.Chunk) -> tuple[bool, bytes]:
        """Whether a chunk succeeded, and its output."""
        level = self._arguments.verify_diagnostics
        if level is None:
            handler = self._context.attach_diagnostic_handler(self._printer)
            output = self._transform(chunk)
            handler.detach()
            return output is not None, output or b""
        verifier = DiagnosticVerifier(self._printer, chunk.name, chunk.text, chunk.line, level == "only-expected")
        handler = self._context.attach_diagnostic_handler(verifier)
        output = self._transform(chunk)
        handler.detach()
        return verifier.verify(), output or b""

    def _transform(self, chunk: sources.Chunk) -> bytes | None:
        """The text or bytecode of a chunk after the passes; None after an error, which has been reported."""
        try:
            with self._phase("Parser"):
                module = chunk.parse(self._context, self._printer)
        except ir.MLIRError:
            return None
        anchor, name = self._pipeline.root.anchor, module.operation.name
        if anchor not in (name, "any"):
            module.operation.location.emit_error(f"can't run '{anchor}' pass manager on '{name}' op")
            return None
        errors = self._printer.errors
        try:
            self._pipeline.run(module)
        except pipelines.PipelineFailure as failure:
            if self._arguments.verify_diagnostics is None and self._printer.errors == errors:
                self._printer.print_at(None, "error", f"{failure}, without a diagnostic")
            return None
        with self._phase("Output"):
            return self._print(module.operation)

    def _phase(self, name: str) -> contextlib.AbstractContextManager:
        return self._timing.phase(name) if self._timing else contextlib.nullcontext()

    def _print(self, operation: ir.Operation) -> bytes:
        arguments = self._arguments
        if arguments.emit_bytecode:
            buffer = io.BytesIO()
            operation.write_bytecode(buffer)
            return buffer.getvalue()
        text = operation.get_asm(
            binary=True,
            large_elements_limit=arguments.mlir_elide_elementsattrs_if_larger,
            large_resource_limit=arguments.mlir_elide_resource_strings_if_larger,
            enable_debug_info=arguments.mlir_print_debuginfo,
            pretty_debug_info=arguments.mlir_pretty_debuginfo,
            print_generic_op_form=arguments.mlir_print_op_generic,
            use_local_scope=arguments.mlir_print_local_scope,
            use_name_loc_as_prefix=arguments.mlir_use_nameloc_as_prefix,
            skip_regions=arguments.mlir_print_skip_regions,
            assume_verified=arguments.verify_each,
        )
        return text + b"\n"

    def _write(self, outputs: Sequence[bytes]) -> None:
        separator = f"{self._arguments.output_split_marker}\n".encode()
        data = separator.join(outputs)
        if self._arguments.o == "-":
            remaining = memoryview(data)
            while remaining:  # an unbuffered stdout may take a part only
                remaining = remaining[sys.stdout.buffer.write(remaining) :]
            sys.stdout.buffer.flush()
            return
        try:
            write_atomically(self._arguments.o, lambda file: file.write(data))
        except OSError as error:
            raise InputError(f"cannot open output file '{self._arguments.o}': {error.strerror}") from None


def _available_dialects(context: ir.Context) -> list[str]:
    """Names of the dialects that `context` can parse; the parser lists them when it meets another one."""
    notes: list[str] = []

    def keep_notes(diagnostic: ir.Diagnostic) -> bool:
        notes.extend(note.message for note in diagnostic.notes)
        return True

    handler = context.attach_diagnostic_handler(keep_notes)
    with contextlib.suppress(ir.MLIRError):
        ir.Module.parse("unknown.op", context)
    handler.detach()
    listed = re.search(r"Available dialects: ([^;]*?)[ (;]*(?:\* corresponding.*)?;", " ".join(notes))
    return sorted(name.split()[0] for name in listed[1].split(",")) if listed else []


def _pretty(pipeline: pipelines.Pipeline) -> str:
    """The pipeline as `--dump-pass-pipeline` prints it, one pass on a line."""

    def lines(parsed: pipelines.PipelineText, indent: str) -> str:
        inside = indent + "  "
        elements = (
            lines(element, inside) if isinstance(element, pipelines.PipelineText) else f"{inside}{element}"
            for element in parsed.elements
        )
        return f"{indent}{parsed.anchor}(\n" + ",\n".join(elements) + f"\n{indent})"

    parsed = pipelines.parse(str(pipeline))
    return f"Pass Manager with {len(parsed.elements)} passes:\n{lines(parsed, '')}\n"


if __name__ == "__main__":
    sys.exit(main())
