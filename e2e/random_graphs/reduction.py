# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A smaller graph that fails as a seeded one does: fewer and lesser choices."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from e2e.random_graphs.builder import RandomGraph
from e2e.random_graphs.generation import random_graph

_LONGEST_RUN = 32


def seeded_choices(seed: int) -> list[int]:
    """The choices that `seeded_graph` makes."""
    rng, choices = np.random.default_rng(seed), []

    def choose(count: int) -> int:
        choices.append(int(rng.integers(count)))
        return choices[-1]

    random_graph(choose)
    return choices


def graph_of(choices: Sequence[int]) -> RandomGraph:
    """The graph of some choices: beyond their end the first alternative, and the last one for a greater number."""
    rest = iter(choices)
    return random_graph(lambda count: min(next(rest, 0), count - 1))


def reduce_choices(choices: list[int], fails: Callable[[RandomGraph], bool], most_attempts: int = 300) -> list[int]:
    """Choices of which no simpler ones were found whose graph fails."""
    attempts, improved = 0, True
    while improved:
        improved = False
        for simpler in _simpler(choices):
            attempts += 1
            if attempts > most_attempts:
                return choices
            if fails(graph_of(simpler)):
                choices, improved = simpler, True
                break
    return choices


def _simpler(choices: list[int]) -> Iterator[list[int]]:
    """Without runs of choices, the long ones first; then with a lesser choice."""
    if choices[0] > 0:
        for count in (0, choices[0] // 2, choices[0] - 1):  # operations
            yield [count, *choices[1:]]
    length = min(_LONGEST_RUN, len(choices) - 1)
    while length:
        for start in range(1, len(choices), max(1, length // 2)):
            yield choices[:start] + choices[start + length :]
        length //= 2
    for index, choice in enumerate(choices):
        for lesser in sorted({0, choice // 2, choice - 1}) if choice else ():
            yield [*choices[:index], lesser, *choices[index + 1 :]]
