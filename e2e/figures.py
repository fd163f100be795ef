# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m e2e.figures docs/models.md`: runs whole networks and puts the results into the table of a page."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.__main__ import as_json, summary
from e2e.backends import Backend
from e2e.cases import registry
from e2e.models.built import BUILT
from e2e.models.light import LIGHT
from e2e.runner import run_all

CASES = (*(f"{name}.full-integer" for name in BUILT), *(f"{name}.qdq-per-channel" for name in LIGHT))
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
_HEADER = ("model", "layers", "nodes", "on the NPU", "of the host", "elements", "differ by one", "SQNR, dB", "top-1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases that are selected and updates their rows; the others keep theirs."""
    parser = argparse.ArgumentParser(prog="python -m e2e.figures", description=__doc__)
    parser.add_argument("page", type=Path, help="the Markdown file to update")
    parser.add_argument("--filter", type=re.compile, default="", metavar="RE", help="only cases whose name it matches")
    options = parser.parse_args(arguments)
    page = options.page.read_text(encoding="utf-8")
    names = [name for name in CASES if re.search(options.filter, name)]
    results = []
    for result in run_all(registry, names, Backend.INTERPRETER, jobs=1, expected_failures={}):
        print(f"{result.name}: {result.status.value}, {result.seconds:.1f} s", file=sys.stderr)
        results.append(result)
    good = {result.name: as_json(result) for result in results if result.is_good}
    options.page.write_text(with_table(page, good), encoding="utf-8")
    print(summary(results, sum(result.seconds for result in results)))
    return 0 if len(good) == len(results) else 1


def with_table(page: str, results: Mapping[str, Mapping]) -> str:
    """The page with the rows of `results` put in; those of other cases stay.

    Raises:
      ValueError: the page has no place for the table.
    """
    before, begin, rest = page.partition(BEGIN)
    table, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"there is no table between {BEGIN.strip()} and {END.strip()}")
    known = {line.split("`")[1]: line for line in table.splitlines() if "`" in line}
    known |= {name: _line(cells(result)) for name, result in results.items()}
    rows = [known[name] for name in CASES if name in known]
    return "".join([before, begin, "\n".join([_line(_HEADER), _line(["---"] * len(_HEADER)), *rows]), "\n", end, after])


def cells(result: Mapping) -> list[str]:
    """The row of a result as `python -m e2e --json` writes it."""
    report = result["report"]
    nodes, whole = report["nodes"], report["agreement"]
    total = sum(nodes.values())
    return [
        f"`{result['name']}`",
        str(report["layers"]),
        str(total),
        str(total - nodes.get("host", 0)),
        ", ".join(f"`{name}`" for name in report["host_operators"]),
        f"{report['elements']:,}",
        f"{report['mismatches']:,}",
        f"{whole['sqnr_db']:.1f}",
        f"{whole['top1']:.2f}",
    ]


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


if __name__ == "__main__":
    raise SystemExit(main())
