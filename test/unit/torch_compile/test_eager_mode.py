# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the backend does not compile runs as PyTorch runs it, with one line in the log that says why."""

import re

import pytest
import torch
from torch import nn
from torch.nn import functional

from torq_mlir.errors import CompileError
from torq_mlir.pytorch import specialization


def compile(model, **options):
    return torch.compile(model, backend="torq", options={"backend": "jit", "opt_level": 0}, **options)


def _assertion(x):
    torch._assert_async(x.sum() > -1e9)
    return x + 1


def _autocast(x):
    with torch.autocast("cpu", torch.bfloat16):
        return x @ x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            lambda x: torch.linalg.svd(x + 1)[1],
            r"linalg_svd \(aten\.linalg_svd\): there is no lowering of this form of the operator",
        ),
        (lambda x: torch.fft.rfft(x).real, r"fft_rfft \(aten\.fft_rfft\): dtype complex64 is not supported"),
        (lambda x: functional.dropout(x, 1.0), r"dropout \(aten\.native_dropout\): random numbers are not supported"),
        (_assertion, r"_assert_async\w*: assertions about values are not supported"),
        (
            _autocast,
            r"matmul \(wrap_with_autocast\): control flow and other operators with subgraphs are not supported",
        ),
        (torch.vmap(lambda x: x * 2), r"\w+: transforms of torch\.func such as vmap and grad are not supported"),
    ],
    ids=["svd", "fft", "dropout", "assertion", "autocast", "vmap"],
)
def test_reasons(function, reason, fallbacks):
    compiled, x = compile(function, fullgraph=True), torch.randn(4, 4)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), function(x))
    (line,) = fallbacks()
    assert re.match(reason, line)


def test_inputs_that_are_not_on_the_host(fallbacks):
    assert compile(lambda x: x + 1)(torch.empty(3, device="meta")).device.type == "meta"
    assert compile(lambda x: (x + 1, torch.ones(2, device="meta") * 2))(torch.ones(3))[1].device.type == "meta"
    assert fallbacks() == [
        "a tensor is on meta; what is compiled runs on the CPU",
        "ones is on meta; what is compiled runs on the CPU",
    ]


def test_training(fallbacks):
    """Gradients and steps are those of PyTorch."""
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), torch.randn(5, 4)
    compiled = compile(model)
    with torch.enable_grad():
        compiled(x).square().sum().backward()
        gradient = model[0].weight.grad.clone()
        model.zero_grad()
        model(x).square().sum().backward()
    torch.testing.assert_close(gradient, model[0].weight.grad)
    assert fallbacks() == ["the results have gradients; call it under torch.no_grad() or torch.inference_mode()"]
    torch.testing.assert_close(compiled.eval()(x), model.eval()(x))  # without gradients it is compiled after all
    assert len(fallbacks()) == 1


@pytest.mark.slow
def test_gradients_of_what_is_written_to(fallbacks):
    def function(x, weight):
        x.mul_(weight)
        return weight.detach() * 2

    with torch.enable_grad():
        x, weight = torch.full((3,), 3.0), torch.ones(3, requires_grad=True)
        compile(function)(x, weight)
        x.sum().backward()
    torch.testing.assert_close(weight.grad, torch.full((3,), 3.0))
    assert len(fallbacks()) == 1


def test_a_graph_that_switches_gradients_off(fallbacks):
    def function(x):
        torch.set_grad_enabled(False)
        return x + 1

    with torch.enable_grad():
        torch.testing.assert_close(compile(function)(torch.ones(3)), torch.full((3,), 2.0))
        assert not torch.is_grad_enabled()
    assert fallbacks() == []


@pytest.mark.slow
def test_a_part_that_is_not_supported(fallbacks):
    """Graphs before and after it are compiled."""

    def function(x):
        y = torch.relu(x)
        torch._dynamo.graph_break()
        z = torch.linalg.svd(y)[1]
        torch._dynamo.graph_break()
        return z * 2

    x = torch.randn(3, 3)
    torch.testing.assert_close(compile(function)(x), function(x))
    assert len(fallbacks()) == 1


@pytest.mark.slow
def test_too_many_shapes(fallbacks, monkeypatch):
    monkeypatch.setattr("torq_mlir.pytorch.dynamo._MOST_COMPILED", 1)
    compiled = compile(lambda x: x * 2, dynamic=True)
    for size in range(2, 5):
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x), x * 2)
    assert fallbacks() == ["it has been compiled for 1 other shapes or values"]


def test_recurrent_networks(fallbacks):
    """TorchDynamo leaves them to PyTorch, and compiles what is around them."""
    model = nn.LSTM(4, 3, batch_first=True)
    x = torch.randn(2, 5, 4)
    torch.testing.assert_close(compile(lambda x: model(x)[0] * 2)(x), model(x)[0] * 2)
    assert fallbacks() == []


def test_errors_of_a_computation(fallbacks, monkeypatch):
    """A computation that fails has written nothing."""
    compiled, x = compile(lambda x: x.add_(1)), torch.zeros(3)
    compiled(x)
    monkeypatch.setattr(specialization.compiler.CompiledModel, "evaluate", _failing)
    torch.testing.assert_close(compiled(x), torch.full((3,), 2.0))
    assert fallbacks() == ["add: an accumulator left int32"]


def _failing(*_):
    raise CompileError("add: an accumulator left int32")


@pytest.mark.parametrize(
    ("function", "values", "error"),
    [
        (lambda table, i: functional.embedding(i, table), [0, 1 << 40], "index out of range"),
        (lambda table, i: table[:, i - 1], [1, -9], "index -10 is out of bounds"),
        (lambda table, i: table.index_put_((i,), torch.ones(3)), [0, 1 << 40], "is out of bounds for dimension 0"),
        (lambda table, i: table.gather(0, i[None]), [0, -1], "index -1 is out of bounds for dimension 0 with size 4"),
        (
            lambda table, i: functional.cross_entropy(table[:2], i, reduction="sum"),
            [-100, 3],
            "Target 3 is out of bounds",
        ),
        (lambda table, i: table[0, 0] + torch.full_like(i, 7) % i, [1, 0], "ZeroDivisionError"),
    ],
    ids=["embedding", "index", "index_put_", "gather", "cross_entropy", "remainder"],
)
def test_values_that_pytorch_raises_an_error_for(function, values, error, fallbacks):
    """Compiled code would leave its memory, or end the process."""
    compiled, table = compile(function), torch.randn(4, 3)
    good = torch.full((2,), values[0])
    torch.testing.assert_close(compiled(table, good), function(table, good))
    assert fallbacks() == []
    with pytest.raises((IndexError, RuntimeError), match=error):
        compiled(table, torch.tensor(values))
    assert fallbacks() == ["an index is out of range, or a divisor is zero"]
    torch.testing.assert_close(compiled(table, good), function(table, good))


def test_indices_that_floats_decide(fallbacks):
    table = torch.randn(4, 3)
    check = compile(lambda x: (x[x.argmax(0)], x[:, [0, -1]], x.scatter(0, (x > 0).int().argmax(0)[None], 1.0)))
    torch.testing.assert_close(check(table), check._torchdynamo_orig_callable(table))
    assert fallbacks() == []


def test_errors_that_are_not_of_the_model_are_not_hidden(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(specialization.compiler, "compile", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        compile(lambda x: x + 1)(torch.ones(3))
