# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network of PyTorch, quantized with the PT2E flow of torchao, then run with torq-mlir in two ways.

    python quantized_network.py

* `torch.compile(model, backend="torq")`, which takes the model as it is;
* `torq_mlir.torch_module(torq_mlir.compile(program))`, a module of a program that is compiled ahead.
"""

import warnings

import torch
from torch import nn
from torch.export import Dim
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

import torq_mlir


class Network(nn.Module):
    """A convolution, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(1, 8, 3, padding=1)
        self.classifier = nn.Linear(8 * 4 * 4, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = nn.functional.max_pool2d(torch.relu(self.features(images)), 2)
        return self.classifier(features.flatten(1))


def quantize(model: nn.Module, calibration: torch.Tensor) -> nn.Module:
    """The model with int8 weights and activations, for any batch."""
    dynamic_shapes = {"images": {0: Dim("batch", max=64)}}
    exported = torch.export.export(model, (calibration,), dynamic_shapes=dynamic_shapes).module()
    # Any quantizer will do that quantizes what operators return; ExecuTorch has this one for its users.
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(exported, quantizer)
    prepared(calibration)
    return convert_pt2e(prepared)


@torch.no_grad()
def main() -> None:
    torch.manual_seed(0)
    model = Network().eval()
    quantized = quantize(model, torch.randn(32, 1, 8, 8))
    images = torch.randn(4, 1, 8, 8)
    reference, in_float = quantized(images), model(images)

    compiled = torch.compile(quantized, backend="torq")
    logits = compiled(images)
    print(f"torch.compile, quantized: {_difference(logits, reference)} from PyTorch, quantized")
    print(f"                          {_difference(logits, in_float)} from PyTorch, float")

    in_float_compiled = torch.compile(model, backend="torq", options={"backend": "jit"})
    print(f"torch.compile, float:     {_difference(in_float_compiled(images), in_float)} from PyTorch, float")

    ahead = torq_mlir.compile(torch.export.export(quantized, (images,)), backend="interpreter")
    module = torq_mlir.torch_module(ahead)
    print(f"a module: {module}")
    print(f"the same bits: {torch.equal(module(images), logits)}")
    print(ahead.report())


def _difference(actual: torch.Tensor, expected: torch.Tensor) -> str:
    return f"{(actual - expected).abs().max().item():.1e}"


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torchao and PyTorch warn of what they will change
        main()
