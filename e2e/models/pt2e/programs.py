# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models as programs of torch.export, which are also their reference: they run in eager mode."""

import warnings
from collections.abc import Callable

import torch
from torch.export import Dim, ExportedProgram
from torchao.quantization.pt2e import allow_exported_model_train_eval, move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from e2e.models.pt2e.modules import Model
from e2e.models.pt2e.quantizers import Recipe

_CALIBRATION_SAMPLES = 4
_TRAINING_STEPS = 3


def quantized_program(model: Model, recipe: Recipe, dynamic_batch: bool = False) -> ExportedProgram:
    """The model after calibration, or training, and conversion.

    Args:
      dynamic_batch: the first dimension of every input is one of any size.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        example = model.inputs("example")
        shapes = None
        if dynamic_batch:  # of a size that torch.export does not take for a special one, as it does 1
            example = tuple(torch.cat([each, each]) for each in example)
            shapes = tuple({0: Dim("batch")} for _ in example)
        module = torch.export.export(model.make(), example, dynamic_shapes=shapes).module()
        prepared = (_trained if recipe.trained else _calibrated)(module, model, recipe)
        return torch.export.export(convert_pt2e(prepared), example, dynamic_shapes=shapes)


def program_with_weights(model: Model, quantize: Callable[[torch.nn.Module], torch.nn.Module]) -> ExportedProgram:
    """The model with its linear layers replaced."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.export.export(quantize(model.make()), model.inputs("example"))


def _calibrated(module: torch.nn.Module, model: Model, recipe: Recipe) -> torch.nn.Module:
    prepared = prepare_pt2e(module, recipe.quantizer())
    with torch.no_grad():
        for sample in range(_CALIBRATION_SAMPLES):
            prepared(*model.inputs(f"calibration {sample}"))
    return prepared


def _trained(module: torch.nn.Module, model: Model, recipe: Recipe) -> torch.nn.Module:
    prepared = allow_exported_model_train_eval(prepare_qat_pt2e(module, recipe.quantizer()))
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.01)
    for step in range(_TRAINING_STEPS):
        optimizer.zero_grad()
        prepared(*model.inputs(f"training {step}")).square().mean().backward()
        optimizer.step()
    move_exported_model_to_eval(prepared)
    return prepared
