# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of torq-opt and its help."""

import textwrap

from torq_mlir.passes import registry
from torq_mlir.pipelines import NAMED_PIPELINES

from .command_line import Option, comma_separated, format_entry, unsigned
from .sources import DEFAULT_SPLIT_MARKER

TOOL = "torq-opt"

_LEVELS = ("all", "only-expected")


def _level(text: str) -> str:
    if text not in _LEVELS:
        raise ValueError(f"Cannot find option named '{text}'!")
    return text


_GENERAL = (
    Option("o", "Output filename; written only on success", str, "-", None, "filename"),
    Option(
        "pass-pipeline",
        "Textual description of the pass pipeline to run, with the op it runs on, e.g. "
        "builtin.module(torq-signed-storage,func.func(canonicalize,cse))",
        str,
        None,
        None,
        "string",
    ),
    Option("verify-each", "Run the verifier after each pass", default=True),
    Option("allow-unregistered-dialect", "Allow operation with no registered dialects"),
    Option("emit-bytecode", "Emit bytecode when generating output"),
    Option(
        "dump-pass-pipeline", "Print the pipeline that will be run, with all passes and the values of their options"
    ),
    Option("show-dialects", "Print the list of registered dialects and exit"),
    Option("mlir-disable-threading", "Accepted for compatibility: torq-opt runs in one thread"),
    Option("help", "Display this text"),
    Option("h", "Alias for --help"),
    Option("version", "Display the versions of torq-mlir and torch-mlir"),
)

_TESTING = (
    Option(
        "split-input-file",
        f"Split the input file into chunks at '{DEFAULT_SPLIT_MARKER}' or another marker and process each on its own",
        str,
        None,
        DEFAULT_SPLIT_MARKER,
        "marker",
    ),
    Option(
        "output-split-marker", "Split marker to use for merging the output", str, DEFAULT_SPLIT_MARKER, None, "string"
    ),
    Option(
        "verify-diagnostics",
        "Check that diagnostics match the comments `expected-error@+1 {{text}}` on the corresponding line; "
        "only-expected allows others besides",
        _level,
        None,
        "all",
        "|".join(_LEVELS),
    ),
)

_PRINTING = (
    Option("mlir-elide-elementsattrs-if-larger", "Elide constants with more elements", unsigned, None, None, "uint"),
    Option(
        "mlir-elide-resource-strings-if-larger", "Elide resources with more characters", unsigned, None, None, "uint"
    ),
    Option("mlir-print-debuginfo", "Print locations"),
    Option("mlir-pretty-debuginfo", "Print locations for people; the output cannot be parsed"),
    Option("mlir-print-op-generic", "Print the generic op form"),
    Option("mlir-print-local-scope", "Print without aliases of attributes, types and locations"),
    Option("mlir-print-skip-regions", "Skip regions when printing ops"),
    Option("mlir-use-nameloc-as-prefix", "Print SSA IDs with the names of locations as prefixes"),
)

_PASSES = tuple[str, ...]()
_TRACING = (
    Option(
        "mlir-print-ir-before", "Print IR before specified passes", comma_separated, _PASSES, None, "pass,...", True
    ),
    Option("mlir-print-ir-after", "Print IR after specified passes", comma_separated, _PASSES, None, "pass,...", True),
    Option("mlir-print-ir-before-all", "Print IR before each pass"),
    Option("mlir-print-ir-after-all", "Print IR after each pass"),
    Option("mlir-print-ir-after-change", "When printing the IR after a pass, only print if the IR changed"),
    Option("mlir-print-ir-after-failure", "Print the IR after a pass that failed"),
    Option("mlir-print-ir-module-scope", "When printing IR for a pass always print the top-level operation"),
    Option(
        "dump-ir-directory",
        "Write the IR after each pass to numbered files in a directory, with large constants elided",
        str,
        None,
        None,
        "directory",
    ),
    Option("mlir-timing", "Display execution times"),
)

_GROUPS = {
    "General options": _GENERAL,
    "Testing": _TESTING,
    "Printing the output": _PRINTING,
    "Watching passes": _TRACING,
}
OPTIONS = tuple(option for group in _GROUPS.values() for option in group)

_INTRODUCTION = f"""\
OVERVIEW: torq-mlir modular optimizer driver
USAGE: {TOOL} [options] <input file>          reads stdin for - or no file

Runs passes in the order of their flags. All options may be spelled with one or two dashes.

  {TOOL} model.mlir --torq-fuse-quantized-ops=explain --canonicalize
  {TOOL} model.mlir --torq-linalg-to-torq-hl -o model.torq.mlir
  {TOOL} model.mlir --pass-pipeline='builtin.module(func.func(torq-signed-storage,canonicalize{{top-down=false}}),cse)'

The flags of the C++ passes of the torch-mlir wheel work as well, those of torch-mlir (torch-mlir-opt --help lists
them) and of MLIR (https://mlir.llvm.org/docs/Passes). Options of a pass are given as --pass='name=value name=value'.
"""


def help_text() -> str:
    """What --help prints."""
    parts = [_INTRODUCTION]
    for title, options in _GROUPS.items():
        parts += [f"{title}:\n"]
        parts += [f"{format_entry(option.usage, option.help)}" for option in options]
        parts += [""]
    parts.append("Passes:\n")
    for info in registry().values():
        parts.append(format_entry(f"--{info.name}", info.summary))
        parts += [
            format_entry(f"--{option.name}=<{option.placeholder}>", option.description, indent=4)
            for option in info.options
        ]
        parts.append(f"\n{textwrap.indent(info.description, ' ' * 6)}\n")
    parts.append("Pass Pipelines:\n")
    for name, pipeline in NAMED_PIPELINES.items():
        parts.append(format_entry(f"--{name}", pipeline.summary))
        parts.append(f"\n{_wrapped_pipeline(pipeline.text)}\n")
    return "\n".join(parts)


def _wrapped_pipeline(text: str) -> str:
    spaced = text.replace(",", ", ")
    return textwrap.fill(spaced, 100, initial_indent=" " * 6, subsequent_indent=" " * 8, break_on_hyphens=False)


def version_text() -> str:
    """What --version prints."""
    from importlib.metadata import version  # only here: it is slow to import

    return f"{TOOL} (torq-mlir {version('torq-mlir')}, torch-mlir {version('torch-mlir')})\n"
