# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs from choices: those of a seed, or those of hypothesis."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from e2e.random_graphs import elementwise, movement, weighted, windows
from e2e.random_graphs.builder import Builder, Choose, RandomGraph
from e2e.random_graphs.qparams import Computed, output_qparams

_MOST_OPERATIONS = 6
_OPERATIONS = (
    weighted.convolution,
    *weighted.OPERATIONS,
    *elementwise.OPERATIONS,
    *windows.OPERATIONS,
    *movement.OPERATIONS,
)


def random_graph(choose: Choose) -> RandomGraph:
    """A valid model in QDQ form, with an input.

    Every quantized tensor has parameters for the values that it has on that input, so that results use their range.
    Values of constants and inputs come from one choice, that of a seed.
    """
    b = Builder(choose)
    for _ in range(b.integer(1, _MOST_OPERATIONS)):
        _quantize(b, b.pick(_OPERATIONS)(b))
    return b.build()


def seeded_graph(seed: int) -> RandomGraph:
    """The graph of a seed; those of different seeds have nothing in common."""
    rng = np.random.default_rng(seed)
    return random_graph(lambda count: int(rng.integers(count)))


@st.composite
def quantized_graphs(draw: Callable) -> RandomGraph:
    """Graphs whose choices hypothesis makes: one that fails shrinks."""
    return random_graph(lambda count: draw(st.integers(0, count - 1)))


def _quantize(b: Builder, computed: Computed) -> None:
    """Quantizes a result: as it is, after an activation, or both, or in two ways."""
    if b.one_in(3):
        if b.one_in(3):  # what the activation reads has another reader
            b.quantize(computed.name, output_qparams(b, computed))
        # Others enlarge the error of a bias that is rounded.
        functions = elementwise.FUNCTIONS if computed.least_scale == 0.0 and b.one_in(6) else elementwise.CLAMPS
        activation = b.pick(functions)
        computed = Computed(activation(b, computed.name), computed.unit, computed.least_scale, computed.sources)
    b.quantize(computed.name, output_qparams(b, computed))
    if b.one_in(10):
        b.quantize(computed.name, output_qparams(b, computed))
