# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of torq-gen-config that work on a report: view and edit."""

import argparse
import sys

from torq_mlir.errors import TorqError

_EXECUTORS = ("nss", "css", "host")
_STATUSES = ("success", "difference", "error", "skipped")
# What `--fail-on` ends with; 1 is a command that failed, 2 one that was called wrongly.
NOT_GOOD_ENOUGH = 3

_VIEW_EPILOG = """\
examples:
  torq-gen-config view torq_gen_config_cnn.json                    a table of the layers and notes
  torq-gen-config view torq_gen_config_cnn.json 'Conv*'            some layers of it
  torq-gen-config view torq_gen_config_cnn.json --html report.html one page with everything, for a browser
  torq-gen-config view torq_gen_config_cnn.json --fail-on difference
                                                                   for CI: exit code 3 if a layer is not as it should be
"""

_EDIT_EPILOG = """\
examples:
  torq-gen-config edit torq_gen_config_cnn.json Conv_2 --executor css      one layer
  torq-gen-config edit torq_gen_config_cnn.json 'Conv*' --max-lsb 2        wildcards; what was measured is judged anew
  torq-gen-config edit torq_gen_config_cnn.json ALL --executor auto        back to what discovery recommends
  torq-gen-config edit torq_gen_config_cnn.json Gemm --executor null --dry-run
"""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `view` and `edit`; each sets `function`, which takes the options and returns the exit code."""
    _add_view(commands)
    _add_edit(commands)


def _add_view(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "view",
        help="show a report in the terminal or as a page",
        description="Shows the report of a discovery: which executor takes each layer, and why not the NPU.",
        epilog=_VIEW_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("report", help="torq_gen_config_<model>.json")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help="name, part of names, wildcard or ALL (default)")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page instead")
    parser.add_argument("--status", action="append", default=[], choices=_STATUSES, help="only layers that end so")
    parser.add_argument(
        "--executors",
        type=_executors,
        default=(),
        metavar="E1,E2",
        help="show only these executors; --fail-on judges the layers on them, whatever is recommended",
    )
    parser.add_argument(
        "--fail-on",
        choices=("difference", "error"),
        help=f"exit with {NOT_GOOD_ENOUGH} if a layer (of those named, if any are) or the full model ends so or worse",
    )
    parser.set_defaults(function=_view)


def _add_edit(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "edit",
        help="set executors and tolerances in a report",
        description="Changes layers of a report. `run` makes the compiler file from it.",
        epilog=_EDIT_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("report", help="torq_gen_config_<model>.json")
    parser.add_argument("layers", nargs="+", metavar="LAYER", help="exact name, part of names, wildcard, or ALL")
    parser.add_argument(
        "--executor",
        choices=(*_EXECUTORS, "null", "auto"),
        help="null leaves the layer to the compiler, auto is what discovery recommends",
    )
    parser.add_argument("--max-lsb", type=float, metavar="N", help="largest difference of a quantized output, in steps")
    parser.add_argument("--mismatch-rate", type=float, metavar="R", help="share of its elements that may differ")
    parser.add_argument("--rtol", type=float, metavar="R", help="of a float output, relative to its largest value")
    parser.add_argument("--atol", type=float, metavar="R", help="of a float output")
    parser.add_argument("--dry-run", action="store_true", help="only print what would change")
    parser.set_defaults(function=_edit)


def _executors(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    unknown = [name for name in names if name not in _EXECUTORS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is no executor: {', '.join(_EXECUTORS)}")
    return names


def _view(options: argparse.Namespace) -> int:
    from torq_mlir.gen_config import viewing

    if options.html is not None and (options.layers or options.status):
        raise TorqError("--html writes a page of all layers, without LAYER and --status; it can be filtered there")
    report = viewing.view(
        options.report,
        html=options.html,
        layers=options.layers,
        statuses=options.status,
        executors=options.executors or _EXECUTORS,
    )
    if options.html is not None:
        print(options.html)
    if options.fail_on is None:
        return 0
    found = viewing.failures(report, options.fail_on, options.executors, options.layers)
    for line in found:
        print(f"torq-gen-config view: {line}", file=sys.stderr)
    return NOT_GOOD_ENOUGH if found else 0


def _edit(options: argparse.Namespace) -> int:
    from torq_mlir.gen_config import editing

    limits = {name: getattr(options, name) for name in ("max_lsb", "mismatch_rate", "rtol", "atol")}
    if options.executor is None and all(value is None for value in limits.values()):
        raise TorqError("nothing to change: give --executor, --max-lsb, --mismatch-rate, --rtol or --atol")
    executor = {None: editing.KEEP, "null": None}.get(options.executor, options.executor)
    changes = editing.edit(options.report, options.layers, executor=executor, dry_run=options.dry_run, **limits)
    for change in changes:
        print(change)
    if not changes:
        print("nothing changes")
    elif options.dry_run:
        print("nothing was written (--dry-run)")
    return 0
