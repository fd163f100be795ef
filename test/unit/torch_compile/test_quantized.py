# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models under `torch.compile(model, backend="torq")`: the integers of `torq_mlir.compile`, bit for bit."""

import copy

import numpy as np
import pytest
import torch
from quantized_networks import QuantizedConv, fake_quantized, images

import torq_mlir
from torq_mlir.pytorch import backend
from torq_mlir.pytorch.dynamo import CompiledGraph

# Of all executors, which give the same bits, the one that starts fastest.
QUICKLY = {"backend": "interpreter"}


def expected(module: torch.nn.Module, *inputs: torch.Tensor) -> torch.Tensor:
    """What the compiled program gives."""
    program = torch.export.export(module, inputs)
    (output,) = torq_mlir.compile(program, **QUICKLY)(*(each.numpy() for each in inputs))
    return torch.from_numpy(output)


def check_bits(actual: torch.Tensor, wanted: torch.Tensor) -> None:
    np.testing.assert_array_equal(actual.numpy(), wanted.numpy(), strict=True)


class Recording:
    """The backend, which keeps the graphs it has compiled."""

    def __init__(self) -> None:
        self.graphs: list[CompiledGraph] = []

    def __call__(self, *arguments, **options) -> CompiledGraph:
        self.graphs.append(backend(*arguments, **options))
        return self.graphs[-1]

    def models(self) -> list[torq_mlir.CompiledModel]:
        return [each.model for graph in self.graphs for each in graph.specializations.values() if each is not None]


def test_integers_with_a_dynamic_batch(fallbacks):
    module, recording = QuantizedConv(), Recording()
    compiled = torch.compile(module, backend=recording, options=QUICKLY)
    for batch in (2, 3, 3):
        check_bits(compiled(images(batch)), expected(module, images(batch)))
    assert len(recording.graphs) == 2  # one for the first batch, one for all others
    assert len(recording.models()) == 2
    for model in recording.models():
        text = model.mlir(elide=True)
        assert text.count("torq_hl.conv2d") == 1
        assert "linalg.conv" not in text
    assert fallbacks() == []


def test_a_change_of_parameters_is_seen(fallbacks):
    module, x = QuantizedConv(), images(2)
    changed = copy.deepcopy(module)
    changed.weight.neg_()
    compiled = torch.compile(module, backend="torq", options=QUICKLY)

    def check() -> None:
        torch.testing.assert_close(compiled(x), module(x), rtol=0, atol=0.0501)  # one step of the quantization

    check()
    module.load_state_dict(changed.state_dict())
    check()
    module.bias.mul_(-2)
    module.scales.data = module.scales * 1.5
    check()
    module.load_state_dict(QuantizedConv().state_dict(), assign=True)
    check_bits(compiled(x), expected(QuantizedConv(), x))
    assert fallbacks() == []


@pytest.mark.slow
def test_parameters_of_inference_mode_are_compared_by_value():
    with torch.inference_mode():
        module = QuantizedConv()
        compiled = torch.compile(module, backend="torq", options=QUICKLY)
        first = compiled(images(2))
        module.weight.neg_()
        check_bits(compiled(images(2)), expected(module, images(2)))
        assert not torch.equal(first, compiled(images(2)))


@pytest.mark.slow
def test_without_no_grad():
    """The outputs of a quantization have no gradients, whatever the parameters have."""
    module = QuantizedConv()
    with torch.enable_grad():
        output = torch.compile(module, backend="torq", fullgraph=True, options=QUICKLY)(images(2))
    assert not output.requires_grad
    check_bits(output, expected(module, images(2)))


class Counting(torch.nn.Module):
    """It adds to a buffer that it quantizes with, so that this buffer is no constant."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total += x
        return fake_quantized(self.total, 0.1, 0)


def test_a_buffer_that_is_updated_is_no_constant(fallbacks):
    module, eager = Counting(), Counting()
    compiled = torch.compile(module, backend="torq", options=QUICKLY)
    for _ in range(3):
        x = torch.tensor([0.25, 0.5, -1.0, 3.0])
        torch.testing.assert_close(compiled(x), eager(x), rtol=0, atol=0.1)
        torch.testing.assert_close(module.total, eager.total, rtol=0, atol=0)
    assert fallbacks() == []


@pytest.mark.slow
def test_no_more_constants_than_are_quantized():
    """Parameters of a float model are inputs, so that no write to them is missed."""
    layer = torch.nn.Linear(4, 3)
    compiled = torch.compile(layer, backend="torq", options=QUICKLY)
    x = torch.randn(2, 4)
    compiled(x)
    layer.weight.data.zero_()  # which PyTorch counts no version of
    torch.testing.assert_close(compiled(x), layer.bias.expand(2, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"backend": "jit", "opt_level": 0}, {"num_threads": 1, "cpu": "generic"}],
    ids=["jit", "cpu"],
)
def test_options(options):
    module, recording = QuantizedConv(), Recording()
    check_bits(torch.compile(module, backend=recording, options=options)(images(2)), expected(module, images(2)))
    (model,) = recording.models()
    assert model.backend == options.get("backend", "cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 2}, "the backend torq has no option 'threads'; its options are backend, cpu, num_threads, "),
        ({"num_threads": 0}, "the number of threads is 0, not 1 or more"),
        ({"backend": "gpu"}, "there is no backend 'gpu'"),
        ({"float": "f8"}, "f8"),
        ({"freeze": "no"}, "the option freeze is 'no', not True, False or None"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(Exception, match=message):
        torch.compile(torch.nn.ReLU(), backend="torq", options=options)(torch.ones(2))


def test_modes():
    with pytest.raises(Exception, match="the backend torq has no modes such as 'reduce-overhead'; it has options"):
        torch.compile(torch.nn.ReLU(), backend="torq", mode="reduce-overhead")(torch.ones(2))
