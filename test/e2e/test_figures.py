# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/models.md has the figures of the networks."""

import json
from pathlib import Path

import pytest

from e2e import figures
from e2e.__main__ import as_json
from e2e.backends import Backend
from e2e.cases import registry
from e2e.runner import judge

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
# What does not depend on the machine: how many values, nodes and layers there are, and who computes them.
STRUCTURE = slice(0, 6)


def documented():
    lines = PAGE.read_text(encoding="utf-8").partition(figures.BEGIN)[2].partition(figures.END)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def result(name, **changes):
    whole = {"max_lsb": 1, "mismatch_rate": 0.1, "sqnr_db": 31.07, "cosine": 0.999, "top1": 1.0}
    report = {
        "failures": [],
        "layers": 3,
        "elements": 12345,
        "mismatches": 6,
        "max_lsb": 1,
        "agreement": whole,
        "nodes": {"nss": 4, "host": 1, "-": 2},
        "host_operators": ["Softmax"],
    }
    return {"name": name, "report": report | changes}


def test_every_network_has_a_row():
    assert [row[0].strip("`") for row in documented()] == list(figures.CASES)
    assert set(figures.CASES) <= set(registry())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v2.full-integer", "bert_tiny.full-integer", "squeezenet.qdq-per-channel"])
def test_rows_are_what_the_cases_give(name):
    report = registry()[name].check(Backend.INTERPRETER)
    made = figures.cells(json.loads(json.dumps(as_json(judge(name, report, 0.0, {})))))
    (row,) = (row for row in documented() if row[0] == f"`{name}`")
    assert row[STRUCTURE] == made[STRUCTURE]


def test_table():
    page = f"before\n{figures.BEGIN}{figures.END}after\n"
    results = {name: result(name) for name in figures.CASES}
    full = figures.with_table(page, results)
    assert full.startswith("before\n")
    assert full.endswith("after\n")
    first = f"| `{figures.CASES[0]}` | 3 | 7 | 6 | `Softmax` | 12,345 | 6 | 31.1 | 1.00 |"
    assert full.splitlines()[4] == first
    assert figures.with_table(full, {}) == full
    (changed,) = (
        line
        for line in figures.with_table(full, {figures.CASES[1]: result(figures.CASES[1], layers=5)}).splitlines()
        if line.startswith(f"| `{figures.CASES[1]}`")
    )
    assert changed.split(" | ")[1] == "5"


def test_a_page_without_a_table():
    with pytest.raises(ValueError, match="no table"):
        figures.with_table("", {})
