# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m e2e.onnx_suite`: runs the suite, and compares with what it is expected to do."""

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence

import onnx

from e2e.onnx_suite import record, suite
from e2e.onnx_suite.running import run_all

_PROGRESS_EVERY = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tests that the arguments select; returns the exit code."""
    options = _parser().parse_args(arguments)
    names = [name for name in suite.tests() if options.filter.search(name)]
    if not names:
        print(f"no test matches {options.filter.pattern!r}", file=sys.stderr)
        return 1
    outcomes, start = [], time.perf_counter()
    for outcome in run_all(names, options.jobs):
        outcomes.append(outcome)
        if options.verbose:
            print(f"{outcome.name}: {outcome.status.value} {outcome.reason}".rstrip(), file=sys.stderr)
        if len(outcomes) % _PROGRESS_EVERY == 0 or len(outcomes) == len(names):
            counts = Counter(each.status.value for each in outcomes)
            seconds = time.perf_counter() - start
            print(f"[{len(outcomes)}/{len(names)}] {_listed(counts)}, {seconds:.0f} s", file=sys.stderr)
    if options.update:
        return _update(outcomes)
    unexpected = record.Record.read().unexpected(outcomes)
    print("\n".join([*unexpected, f"{_listed(Counter(each.status.value for each in outcomes))}"]))
    return 1 if unexpected else 0


def _listed(counts: Counter) -> str:
    return ", ".join(f"{counts[status.value]} {status.value}" for status in suite.Status if counts[status.value])


def _update(outcomes: Sequence[suite.Outcome]) -> int:
    """Write what was found of these tests; what is neither passed nor refused cannot be expected."""
    found = record.Record.of(onnx.__version__, outcomes)
    if len(outcomes) < len(suite.tests()):
        found = record.Record.read().updated(found, [each.name for each in outcomes])
    found.write()
    record.PAGE.write_text(record.page_with(found, record.PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    unexpected = found.unexpected(outcomes)
    print("\n".join(unexpected))
    return 1 if unexpected else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.onnx_suite", description=__doc__)
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), metavar="RE", help="only these tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="tests that run at a time")
    parser.add_argument("--update", action="store_true", help="write what is found to the record and to the page")
    parser.add_argument("--verbose", action="store_true", help="print each test as it ends")
    return parser


if __name__ == "__main__":
    sys.exit(main())
