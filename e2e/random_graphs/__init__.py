# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random quantized graphs, and the check that each goes through."""

from e2e.random_graphs.check import check_graph
from e2e.random_graphs.generation import RandomGraph, quantized_graphs, seeded_graph

__all__ = ["RandomGraph", "check_graph", "quantized_graphs", "seeded_graph"]
