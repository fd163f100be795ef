# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random quantized graphs, as a hypothesis strategy, and the check that each goes through."""

from hypothesis import strategies as st

from e2e.random_graphs import elementwise, movement, weighted, windows
from e2e.random_graphs.builder import Builder, Draw, RandomGraph
from e2e.random_graphs.check import check_graph
from e2e.random_graphs.qparams import Computed, output_qparams

_OPERATIONS = (
    weighted.convolution,
    *weighted.OPERATIONS,
    *elementwise.OPERATIONS,
    *windows.OPERATIONS,
    *movement.OPERATIONS,
)


@st.composite
def quantized_graphs(draw: Draw, most_operations: int = 6) -> RandomGraph:
    """Valid models in QDQ form, with an input each.

    Every quantized tensor has parameters for the values that it has on that input, so that results use their range.
    Values of constants and inputs come from a seed; all else is drawn, and shrinks.
    """
    b = Builder(draw)
    for _ in range(draw(st.integers(1, most_operations))):
        _quantize(b, draw(st.sampled_from(_OPERATIONS))(b))
    return b.build()


def _quantize(b: Builder, computed: Computed) -> None:
    """Quantizes a result: as it is, after an activation, or both, or in two ways."""
    if b.one_in(3):
        if b.one_in(3):  # what the activation reads has another reader
            b.quantize(computed.name, output_qparams(b, computed))
        activation = b.pick(elementwise.FUNCTIONS if b.one_in(6) else elementwise.CLAMPS)
        computed = Computed(activation(b, computed.name), computed.unit, computed.least_scale, computed.sources)
    b.quantize(computed.name, output_qparams(b, computed))
    if b.one_in(10):
        b.quantize(computed.name, output_qparams(b, computed))


__all__ = ["RandomGraph", "check_graph", "quantized_graphs"]
