# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement and interpolation in exported programs: on integers, with the values of eager mode."""

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed  # its import registers the operators
from torch import nn
from torch.nn import functional

import torq_mlir
from torq_mlir.executing import BACKENDS

_ops = torch.ops.quantized_decomposed
_SCALE = 0.05


def _dequantized(x: torch.Tensor) -> torch.Tensor:
    parameters = (_SCALE, 3, -128, 127, torch.int8)
    return _ops.dequantize_per_tensor(_ops.quantize_per_tensor(x, *parameters), *parameters)


class Between(nn.Module):
    """A function between quantized tensors; further inputs are its own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, *others):
        return _dequantized(self.function(_dequantized(x), *others))


def _image(*shape: int) -> torch.Tensor:
    return 3 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


IMAGE = _image(1, 8, 5, 6)
# What each function becomes; some of these move data on the host besides.
CASES = {
    "nearest": (lambda x: functional.interpolate(x, scale_factor=2), (IMAGE,), {"ResizeNearestNeighbor"}),
    "bilinear": (
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
        (IMAGE,),
        {"depthwise_conv2d", "DepthToSpace"},
    ),
    "bilinear, corners": (
        lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        (IMAGE,),
        {"conv2d", "fully_connected"},
    ),
    "pixel shuffle": (lambda x: functional.pixel_shuffle(x, 2), (IMAGE,), {"DepthToSpace"}),
    "reflection": (lambda x: functional.pad(x, (1, 2, 0, 1), mode="reflect"), (IMAGE,), {"gather"}),
    "embedding": (
        lambda x, i: functional.embedding(i, x),
        (_image(10, 4), torch.tensor([[0, 9, 3], [1, 1, 2]])),
        {"gather"},
    ),
    "selection": (
        lambda x, i: torch.index_select(x, 1, i),
        (IMAGE, torch.tensor([0, 7, 3])),
        {"gather"},
    ),
    "selection in several images": (
        lambda x, i: torch.index_select(x, 1, i),
        (_image(2, 8, 5, 6), torch.tensor([0, 7, 3])),
        {"transpose", "gather"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_movement(name):
    function, inputs, expected = CASES[name]
    program = torch.export.export(Between(function).eval(), inputs)
    compiled = torq_mlir.compile(program, backend="interpreter")
    row = next(row for row in compiled.report().rows if any("torq_hl" in each for each in row.operations))
    assert {each.removeprefix("torq_hl.") for each in row.operations if each.startswith("torq_hl.")} == expected
    (actual,) = compiled(*(value.numpy() for value in inputs))
    steps = np.rint((actual - program.module()(*inputs).numpy()) / _SCALE)
    assert np.abs(steps).max() <= (1 if "linear" in name else 0)
    assert np.count_nonzero(steps) <= 0.15 * steps.size  # ties of four weights, which the NPU rounds up


_POSITIONS = torch.tensor([1, 2, 2, 0])
# torch-mlir has a dialect of its own for these.
SCANS = {
    "sums": lambda x: x.cumsum(1),
    "sorted": lambda x: x.sort(-1, descending=True),
    "greatest": lambda x: x.topk(2),
    "scattered": lambda x: x.scatter(1, x.argsort(1), x),
    "written rows": lambda x: torch.zeros(6, 6).index_put((torch.tensor([3, 1, 2, 0]),), x),
    "added rows": lambda x: x.index_put((_POSITIONS,), x, accumulate=True) + x,
    "nothing at all": lambda x: x[:0].cumsum(0),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_scans_sorts_and_scatters(backend):
    class All(nn.Module):
        def forward(self, x):
            return [function(x) for function in SCANS.values()]

    x = _image(4, 6)
    compiled = torq_mlir.compile(torch.export.export(All(), (x,)), backend=backend)
    expected = torch.utils._pytree.tree_leaves(All()(x))
    for actual, value in zip(compiled(x.numpy()), expected, strict=True):
        np.testing.assert_allclose(actual, value.numpy(), rtol=1e-6, atol=1e-6)
