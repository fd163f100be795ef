# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m e2e.random_graphs`: checks the graphs of seeds, and makes those that fail smaller."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import onnx

from e2e.backends import Backend
from e2e.random_graphs.builder import RandomGraph
from e2e.random_graphs.check import check_graph
from e2e.random_graphs.reduction import graph_of, reduce_choices, seeded_choices
from torq_mlir.errors import TorqError


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks the graphs of the seeds that the arguments give; returns the exit code."""
    options = _parser().parse_args(arguments)
    failed = 0
    for seed in options.seeds:
        failure = first_failure(graph_of(seeded_choices(seed)))
        print(f"{seed}: {failure or 'pass'}")
        if failure is None:
            continue
        failed += 1
        graph = smaller_graph(seed, failure, options.attempts)
        print(f"{graph}\n{first_failure(graph)}")
        if options.save is not None:
            onnx.save(graph.model, options.save / f"{seed}.onnx")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.random_graphs", description=__doc__.partition(": ")[2])
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--attempts", type=int, default=300, metavar="N", help="smaller graphs to try")
    parser.add_argument("--save", type=Path, metavar="DIRECTORY", help="write the smaller models there")
    return parser


def first_failure(graph: RandomGraph) -> str | None:
    """What the check says first; None if it passes."""
    try:
        failures = check_graph(graph, Backend.ALL).failures
    except (TorqError, RuntimeError, ValueError, TypeError, LookupError) as error:
        return f"{type(error).__name__}: {error}"
    return failures[0] if failures else None


def smaller_graph(seed: int, failure: str, attempts: int) -> RandomGraph:
    """A graph that fails in the same words as that of a seed, but for names and numbers."""
    kind = _kind(failure)

    def fails(graph: RandomGraph) -> bool:
        found = first_failure(graph)
        return found is not None and _kind(found) == kind

    return graph_of(reduce_choices(seeded_choices(seed), fails, attempts))


def _kind(failure: str) -> str:
    return re.sub(r"\w*\d+(\.\d+)?\w*|\[[^]]*\]|\([^)]*\)", "", failure.splitlines()[0])[:60]


if __name__ == "__main__":
    sys.exit(main())
