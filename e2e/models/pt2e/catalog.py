# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and their inputs, by the name of the model and of the recipe."""

import warnings
from collections.abc import Sequence

import torch
from torch.export import ExportedProgram

from e2e.models.pt2e import transformers  # noqa: F401  (its import registers models)
from e2e.models.pt2e.decoders import DECODERS
from e2e.models.pt2e.modules import MODULES, Model
from e2e.models.pt2e.operators import OPERATORS
from e2e.models.pt2e.programs import program_with_weights, quantized_program
from e2e.models.pt2e.quantizers import RECIPES
from e2e.models.pt2e.weights import WEIGHT_RECIPES

MODELS = MODULES | DECODERS

__all__ = ["MODELS", "OPERATORS", "batches", "exported", "quantized", "samples", "with_weights"]


def quantized(name: str, recipe: str, *, dynamic_batch: bool = False) -> ExportedProgram:
    """A model after calibration or training with one of `RECIPES`, of any batch or of that of its example."""
    return quantized_program(MODELS[name], RECIPES[recipe], dynamic_batch)


def with_weights(name: str, recipe: str) -> ExportedProgram:
    """A model whose linear layers one of `WEIGHT_RECIPES` has replaced."""
    return program_with_weights(MODELS[name], WEIGHT_RECIPES[recipe])


def exported(model: Model) -> ExportedProgram:
    """A model as it is."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.export.export(model.make(), model.inputs("example"))


def batches(model: Model, sizes: Sequence[int]) -> list[tuple[torch.Tensor, ...]]:
    """Seeded inputs of calls with these batches: the samples of a model of batch 1 or more, one after another."""
    calls = []
    for size in sizes:
        parts = [model.inputs(f"sample {index}") for index in range(size)]
        calls.append(tuple(torch.cat(each)[:size] for each in zip(*parts, strict=True)))
    return calls


def samples(model: Model, count: int) -> list[tuple[torch.Tensor, ...]]:
    """Seeded inputs of calls."""
    return [model.inputs(f"sample {index}") for index in range(count)]
