# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of the benchmarks."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks import measuring, targets
from benchmarks.models import WORKLOADS
from benchmarks.peers import PEERS
from benchmarks.results import Results
from benchmarks.session import Session
from torq_mlir.backends.cpu import detect
from torq_mlir.backends.cpu.peak import peak_gmacs

_BEGIN, _END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->\n"
# Columns of a table that goes to a file.
_WIDTH = 160
_EPILOG = """\
examples:
  python -m benchmarks                                      everything; some minutes
  python -m benchmarks --models resnet50 --threads 1 --quick
  python -m benchmarks --json bench.json --plot bench.png
  python -m benchmarks --check                              exit status 1 if a target is missed

The runtimes take turns in one process that is pinned to as many cores as threads are used. Nothing else should run on
the machine.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    effort = measuring.QUICK if options.quick else measuring.FULL
    results = measure(options.models, options.peers, sorted(set(options.threads)), effort, console)
    console.print(results.table())
    peaks = ", ".join(f"{peak:.0f} GMAC/s on {threads}" for threads, peak in results.peaks.items())
    console.print(f"peak of {detect().name}: {peaks}; copy: {results.copy_bandwidth / 1e9:.1f} GB/s")
    for line in results.skipped:
        console.print(f"skipped: {line}")
    outcomes = targets.outcomes(results)
    for outcome in outcomes if options.check else ():
        console.print(str(outcome), highlight=False)
    if options.json:
        options.json.write_text(results.to_json(outcomes))
    if options.plot:
        results.plot(options.plot)
    if options.page:
        before, rest = options.page.read_text().split(_BEGIN)
        options.page.write_text(f"{before}{_BEGIN}{results.markdown()}{_END}{rest.split(_END)[1]}")
    return int(options.check and any(outcome.missed for outcome in outcomes))


def measure(
    models: Sequence[str], peers: Sequence[str], threads: Sequence[int], effort: measuring.Effort, console: Console
) -> Results:
    """Measures every model with every peer and number of threads."""
    with measuring.pinned(1):
        results = Results({1: peak_gmacs(detect())}, measuring.copy_bandwidth())
    session = Session(results, peers, effort)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(models) * len(threads))
        for count in threads:
            with measuring.pinned(count):
                results.peaks[count] = peak_gmacs(detect(), count)
                for model in models:
                    progress.update(task, description=f"{model}, {count} threads")
                    session.measure(model, count)
                    progress.advance(task)
    return results


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times quantized models with torq-mlir and with other runtimes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shown = [name for name in WORKLOADS if name != "tiny"]
    parser.add_argument(
        "--models", type=_names(WORKLOADS), default=shown, metavar="NAME,...", help=", ".join(WORKLOADS)
    )
    parser.add_argument("--peers", type=_names(PEERS), default=list(PEERS), metavar="NAME,...", help=", ".join(PEERS))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    default = [1, 2] if cores > 1 else [1]
    parser.add_argument("--threads", type=_counts, default=default, metavar="N,...", help="numbers of threads")
    parser.add_argument("--quick", action="store_true", help="few runs: whether it works, not how fast it is")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="write a bar chart, as PNG or what else matplotlib can"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="replace the table in a Markdown file")
    parser.add_argument("--check", action="store_true", help="compare with the targets; exit status 1 if one is missed")
    return parser


def _names(known: Sequence[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
        return names

    return parse


def _counts(text: str) -> list[int]:
    numbers = text.split(",")
    if not all(number.isdecimal() and int(number) > 0 for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of positive numbers")
    return [int(number) for number in numbers]


if __name__ == "__main__":
    sys.exit(main())
