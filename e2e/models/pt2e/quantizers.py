# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recipes: how the PT2E flow of torchao quantizes a model."""

import dataclasses
import warnings
from collections.abc import Callable

import torch
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, QuantizationSpec, Quantizer
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)
from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

_EPS = 2**-12
_ops = torch.ops.aten
_WEIGHTED = (_ops.conv1d.default, _ops.conv2d.default, _ops.conv_transpose2d.input, _ops.linear.default)
_QUANTIZED = (*_WEIGHTED, _ops.matmul.default, _ops.bmm.default, _ops.add.Tensor, _ops.mul.Tensor, _ops.cat.default)
_ACTIVATIONS = (_ops.relu.default, _ops.relu_.default, _ops.relu6.default, _ops.hardtanh.default)


class SpecificationQuantizer(Quantizer):
    """Quantizes products, sums and concatenations with one specification for activations and one for weights."""

    def __init__(self, activation: QuantizationSpec, weight: QuantizationSpec):
        super().__init__()
        self.activation, self.weight = activation, weight

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        for node in model.graph.nodes:
            if node.target in _QUANTIZED:
                self._annotate(node)
        return model

    def _annotate(self, node: torch.fx.Node) -> None:
        operands = node.args[0] if node.target is _ops.cat.default else node.args[:2]
        specifications = {
            operand: self.weight if operand.op == "get_attr" else self.activation
            for operand in operands
            if isinstance(operand, torch.fx.Node)
        }
        activation = next(iter(node.users)) if len(node.users) == 1 else None
        fused = activation is not None and activation.target in _ACTIVATIONS
        output = None if fused else self.activation
        node.meta["quantization_annotation"] = QuantizationAnnotation(specifications, output, _annotated=True)
        if fused:
            annotation = QuantizationAnnotation(output_qspec=self.activation, _annotated=True)
            activation.meta["quantization_annotation"] = annotation

    def validate(self, model: torch.fx.GraphModule) -> None:
        """Anything that can be annotated is fine."""


def _activation(dtype: torch.dtype, low: int, high: int, scheme: torch.qscheme) -> QuantizationSpec:
    return QuantizationSpec(dtype, MinMaxObserver.with_args(eps=_EPS), low, high, scheme)


def _weight(dtype: torch.dtype, low: int, high: int, scheme: torch.qscheme) -> QuantizationSpec:
    per_channel = scheme in (torch.per_channel_symmetric, torch.per_channel_affine)
    observer = PerChannelMinMaxObserver if per_channel else MinMaxObserver
    return QuantizationSpec(dtype, observer.with_args(eps=_EPS), low, high, scheme, ch_axis=0 if per_channel else None)


def _xnnpack(**options) -> Quantizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


def _x86(**options) -> Quantizer:
    config = get_default_x86_inductor_quantization_config(**options)
    quantizer = X86InductorQuantizer().set_global(config)
    return quantizer.set_function_type_qconfig(torch.matmul, quantizer.get_global_quantization_config())


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A way to quantize.

    Attributes:
      quantizer: makes a quantizer of torchao.
      trained: the model is trained with fake quantization, for a few steps, before it is converted.
      dynamic: parameters of activations are chosen at run time.
    """

    quantizer: Callable[[], Quantizer]
    trained: bool = False
    dynamic: bool = False


def _specified(activation: QuantizationSpec, weight: QuantizationSpec) -> Recipe:
    return Recipe(lambda: SpecificationQuantizer(activation, weight))


_AFFINE, _SYMMETRIC = torch.per_tensor_affine, torch.per_tensor_symmetric

RECIPES: dict[str, Recipe] = {
    "per-channel": Recipe(lambda: _xnnpack(is_per_channel=True)),
    "per-tensor": Recipe(lambda: _xnnpack()),
    "narrow": Recipe(lambda: _xnnpack(is_per_channel=True, act_qmin=-100, act_qmax=100, weight_qmin=-7, weight_qmax=7)),
    "x86": Recipe(lambda: _x86()),
    "x86-narrow": Recipe(lambda: _x86(reduce_range=True)),
    "symmetric": _specified(
        _activation(torch.int8, -127, 127, _SYMMETRIC), _weight(torch.int8, -127, 127, torch.per_channel_symmetric)
    ),
    "u8": _specified(
        _activation(torch.uint8, 0, 255, _AFFINE), _weight(torch.int8, -127, 127, torch.per_channel_symmetric)
    ),
    "affine-weights": _specified(
        _activation(torch.int8, -128, 127, _AFFINE), _weight(torch.int8, -128, 127, torch.per_channel_affine)
    ),
    "u8-weights": _specified(
        _activation(torch.uint8, 0, 255, _AFFINE), _weight(torch.uint8, 0, 255, torch.per_tensor_affine)
    ),
    "qat": Recipe(lambda: _xnnpack(is_per_channel=True, is_qat=True), trained=True),
    "dynamic": Recipe(lambda: _xnnpack(is_per_channel=True, is_dynamic=True), dynamic=True),
    "dynamic-u8": Recipe(lambda: _x86(is_dynamic=True), dynamic=True),
}
