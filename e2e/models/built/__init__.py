# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole networks of known architectures, small enough to run in seconds, with seeded weights of realistic scale."""

import dataclasses
from collections.abc import Callable

import numpy as np
import onnx

from e2e.models.built import mobile, samples, transformers, unet
from e2e.models.built.initialization import normalize
from e2e.models.network import seed_of

Feeds = dict[str, np.ndarray]
_INITIALIZATION_SAMPLES = 4


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A float model without a sensible scale, and how to draw its inputs.

    Attributes:
      network: builds the model.
      draw: seeded feeds of the float model.
    """

    network: Callable[[], onnx.ModelProto]
    draw: Callable[[np.random.Generator, onnx.ModelProto], Feeds] = samples.images


BUILT = {
    "mobilenet_v2": Architecture(mobile.mobilenet_v2),
    "mobilenet_v3_small": Architecture(mobile.mobilenet_v3_small),
    "efficientnet": Architecture(mobile.efficientnet),
    "unet": Architecture(unet.unet),
    "vit_tiny": Architecture(transformers.vit_tiny),
    "bert_tiny": Architecture(transformers.bert_tiny, samples.tokens),
}


def built_model(name: str) -> onnx.ModelProto:
    """One of `BUILT`, its weights scaled so that the values of every layer are of the order of one."""
    architecture = BUILT[name]
    model = architecture.network()
    rng = np.random.default_rng(seed_of(f"{name}.initialization"))
    normalize(model, [architecture.draw(rng, model) for _ in range(_INITIALIZATION_SAMPLES)])
    return model


def built_inputs(name: str, model: onnx.ModelProto, purpose: str, count: int) -> list[Feeds]:
    """`count` seeded feeds of a float model; those for different purposes differ."""
    rng = np.random.default_rng(seed_of(f"{name}.{purpose}"))
    return [BUILT[name].draw(rng, model) for _ in range(count)]
