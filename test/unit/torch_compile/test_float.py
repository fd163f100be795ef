# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float models and functions under `torch.compile(..., backend="torq")`: what PyTorch gives, and all that it does.

Sums of floats are taken in another order than in PyTorch: results differ by some units in the last place of the terms.
"""

import copy
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional

QUICKLY = {"backend": "jit", "opt_level": 0}


def compile(model, **options):
    return torch.compile(model, backend="torq", options=QUICKLY, **options)


def check(model, *inputs, **options) -> None:
    """Results, their strides, inputs and buffers after a call are those of a call in eager mode."""
    eager, model = copy.deepcopy(model), compile(model, **options)
    for _ in range(2):
        ours, theirs = (copy.deepcopy(inputs) for _ in range(2))
        actual, expected = model(*ours), eager(*theirs)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5, check_stride=True)
        torch.testing.assert_close(ours, theirs)
        if isinstance(eager, nn.Module):
            torch.testing.assert_close(model.state_dict(), {f"_orig_mod.{k}": v for k, v in eager.state_dict().items()})


class Attention(nn.Module):
    """Tokens are indices; the batch norm is in training mode, and updates its statistics."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.table, self.norm, self.project = nn.Embedding(9, 8), nn.BatchNorm1d(8), nn.Linear(8, 24)

    def forward(self, tokens):
        x = self.norm(self.table(tokens).transpose(1, 2)).transpose(1, 2)
        q, k, v = self.project(x).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def test_a_network(fallbacks):
    check(Attention(), torch.arange(10).reshape(2, 5) % 9, fullgraph=True)
    assert fallbacks() == []


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_strides_and_dtypes(dtype, fallbacks):
    x = torch.randn(6, 4, dtype=dtype).t()[::2]
    check(lambda x: (x * 2, (x + 1).contiguous(), torch.relu(x)[0].expand(2, 6)), x)
    assert fallbacks() == []


def test_operators_that_torch_mlir_gets_wrong(fallbacks):
    """A reciprocal of zero would end the process, and the approximation of GELU has another constant there."""
    x = torch.tensor([0.0, -0.0, 2.0, -1.5, 3.0, float("inf")])
    check(lambda x: (1 / x, x.int().reciprocal()), x)
    actual = compile(lambda x: functional.gelu(x, approximate="tanh"))(x[:5])
    torch.testing.assert_close(actual, functional.gelu(x[:5], approximate="tanh"), rtol=1e-6, atol=1e-6)
    assert fallbacks() == []


def test_results_that_share_memory(fallbacks):
    def function(x, y):
        z = x + y
        views = z.view(-1)
        z.mul_(2)
        first, second = z.chunk(2)
        return x.view(-1), y[0], z, views, first, second.t(), (x - y).t()

    x, y = torch.randn(4, 2), torch.randn(4, 2)
    check(function, x, y)
    flat, row, z, views, first, second, difference = compile(function)(x, y)
    flat.zero_()
    row.zero_()
    views[-1] = 7
    assert not x.any()
    assert not y[0].any()
    assert z[3, 1] == second[1, 1] == 7
    assert first.data_ptr() == z.data_ptr()
    assert difference.untyped_storage().data_ptr() != z.untyped_storage().data_ptr()
    assert fallbacks() == []


def test_inputs_that_are_written_to(fallbacks):
    def function(x, y):
        x[:, 1] = y.sum()
        return x.view(2, 3, 2), y * 2

    check(function, torch.randn(4, 3), torch.randn(2))
    x = torch.zeros(4, 3)
    version = x._version
    (flat, _) = compile(function)(x, torch.ones(2))
    assert x._version > version
    assert flat.data_ptr() == x.data_ptr()
    assert fallbacks() == []


def test_inputs_that_share_memory_with_one_that_is_written_to(fallbacks):
    def function(x, y):
        x.add_(1)
        return y * 2

    compiled, base = compile(function), torch.arange(4.0)
    torch.testing.assert_close(compiled(torch.zeros(3), base[1:]), torch.tensor([2.0, 4.0, 6.0]))
    torch.testing.assert_close(compiled(base[:3], base[1:]), torch.tensor([4.0, 6.0, 6.0]))
    torch.testing.assert_close(base, torch.tensor([1.0, 2.0, 3.0, 3.0]))
    assert fallbacks() == ["memory that the graph writes to is that of several of its inputs"]


def test_results_that_are_no_tensors(fallbacks):
    def function(x, scale, steps):
        return {"size": x.shape[0] * 2, "nothing": None, "scaled": (x * scale, steps + 1), "best": x.argmax()}

    check(function, torch.randn(5), 2.5, 3, dynamic=True)
    assert fallbacks() == []


@pytest.mark.slow
def test_empty_tensors_and_strided_updates(fallbacks):
    check(lambda x: x + 1, torch.zeros(0, 3))
    check(lambda x: x.mul_(2), torch.randn(3, 4).t())
    check(lambda x, y: torch.meshgrid(x, y, indexing="ij"), torch.randn(3), torch.randn(2))
    assert fallbacks() == []


@pytest.mark.slow
def test_graph_breaks(fallbacks):
    def function(x):
        y = x * 2
        if y.sum() > 0:  # depends on values: there are two graphs for either way
            return y + 1
        return y - 1

    check(function, torch.ones(3))
    check(function, -torch.ones(3))
    assert fallbacks() == []


@pytest.mark.slow
def test_marked_dimensions(fallbacks):
    compiled = compile(nn.Linear(4, 2), fullgraph=True)
    for batch in (3, 4):
        x = torch.randn(batch, 4)
        torch._dynamo.mark_dynamic(x, 0)
        torch.testing.assert_close(compiled(x), compiled._orig_mod(x))
    assert fallbacks() == []


@pytest.mark.slow
def test_frozen_parameters():
    layer, x = nn.Linear(4, 3), torch.randn(2, 4)
    compiled = torch.compile(layer, backend="torq", options={**QUICKLY, "freeze": True})
    for _ in range(2):
        torch.testing.assert_close(compiled(x), layer(x))
        layer.weight.mul_(2)


@pytest.mark.slow
def test_threads(fallbacks):
    """PyTorch itself compiles in one thread only; what is compiled runs in all of them."""
    layer, results = nn.Linear(16, 16), {}
    compiled, inputs = compile(layer), [torch.randn(4, 16) for _ in range(4)]
    compiled(inputs[0])

    def run(number: int) -> None:
        with torch.no_grad():
            results[number] = [compiled(inputs[number]) for _ in range(5)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, x in enumerate(inputs):
        torch.testing.assert_close(results[number], [layer(x)] * 5)
    assert fallbacks() == []


@pytest.mark.slow
def test_inference_mode(fallbacks):
    def function(x):
        x.add_(1)
        return x * 2

    with torch.inference_mode():
        check(function, torch.randn(3))
        check(nn.Linear(3, 2), torch.randn(4, 3))
    assert fallbacks() == []
