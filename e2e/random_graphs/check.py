# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of one random graph."""

from e2e.checks import Backend, Report, check_against_reference
from e2e.random_graphs.builder import RandomGraph


def check_graph(graph: RandomGraph, backend: Backend) -> Report:
    return check_against_reference(graph.model, [graph.feeds], frozenset(), backend)
