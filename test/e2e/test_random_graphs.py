# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random quantized graphs: executors against each other, and layers against ONNX Runtime."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from e2e.backends import Backend
from e2e.random_graphs import check_graph, quantized_graphs, seeded_graph

CHUNK = 25
FAST_CHUNKS = 19
CHUNKS = 400
# Machine code takes longer to make than all the rest of a check.
COMPILED_EVERY = 16

OPERATORS = """
    ArgMax ArgMin Cast DepthToSpace Gather Resize SpaceToDepth Tile
    Abs Add And AveragePool Clip Concat Conv ConvTranspose Div Elu Equal Erf Exp Expand Flatten Gelu Gemm
    GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual HardSigmoid HardSwish LeakyRelu Less LessOrEqual MatMul Max
    MaxPool Min Mul Neg Not Or PRelu Pad ReduceMax ReduceMean ReduceMin ReduceSum Relu Reshape Sigmoid Slice Softmax
    Sqrt Squeeze Sub Tanh Transpose Unsqueeze Where Xor
"""


def chunk(number: int):
    return pytest.param(range(number * CHUNK, (number + 1) * CHUNK), id=f"{number * CHUNK}-{(number + 1) * CHUNK - 1}")


def check_seeds(seeds: range) -> None:
    failures = []
    for seed in seeds:
        report = check_graph(seeded_graph(seed), Backend.INTERPRETER if seed % COMPILED_EVERY else Backend.ALL)
        failures += [f"seed {seed}: {failure}" for failure in report.failures]
    assert not failures, "\n".join([*failures[:20], "smaller graphs: python -m e2e.random_graphs SEED ..."])


@pytest.mark.parametrize("seeds", [chunk(number) for number in range(FAST_CHUNKS)])
def test_seeded_graphs(seeds):
    check_seeds(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [chunk(number) for number in range(FAST_CHUNKS, CHUNKS)])
def test_more_seeded_graphs(seeds):
    check_seeds(seeds)


@settings(max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(quantized_graphs())
def test_graphs(graph):
    report = check_graph(graph, Backend.INTERPRETER)
    assert not report.failures, "\n".join(report.failures[:20])


def test_a_seed_gives_one_graph():
    first, second = seeded_graph(7), seeded_graph(7)
    assert first.model.SerializeToString(deterministic=True) == second.model.SerializeToString(deterministic=True)
    assert first.feeds.keys() == second.feeds.keys()
    assert all(np.array_equal(first.feeds[name], second.feeds[name]) for name in first.feeds)


def test_every_operator_is_generated():
    """And none appears in every other graph."""
    graphs = [{node.op_type for node in seeded_graph(seed).model.graph.node} for seed in range(600)]
    counts = {name: sum(name in ops for ops in graphs) for name in set().union(*graphs)}
    assert set(OPERATORS.split()) <= set(counts)
    assert min(counts[name] for name in OPERATORS.split()) >= 5
