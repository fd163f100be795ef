# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization parameters of computed tensors, from the values that they have."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from e2e.random_graphs.builder import Builder, QParams

# Of values that are about zero, whose range says nothing.
_LEAST_SCALE = 2.0**-24


@dataclasses.dataclass(frozen=True)
class Computed:
    """A float tensor to quantize.

    Attributes:
      unit: what its values are multiples of, such as the product of the scales of a convolution; None when unknown.
        An output scale of a power of two times it makes exact ties.
      least_scale: the computation on integers is not accurate enough for finer output scales.
      sources: parameters of tensors that it comes from, which an output often has too.
    """

    name: str
    unit: float | None = None
    least_scale: float = 0.0
    sources: Sequence[QParams] = ()


def output_qparams(b: Builder, computed: Computed) -> QParams:
    """Parameters whose range the values mostly use: just so, saturating, wastefully, or those of a source."""
    real = b.real[computed.name]
    low, high = min(real.min(initial=0.0), 0.0), max(real.max(initial=0.0), 0.0)
    finest = _LEAST_SCALE if computed.unit is None else computed.unit / 64
    fit = max((high - low) / 255, computed.least_scale, finest)
    kinds = ["fit", "unit", "same", "narrow", "wide", "one", "power of two"]
    kind = b.pick(kinds)
    usable = [qparams for qparams in computed.sources if fit / 8 <= qparams.scale and qparams.scale <= 64 * fit]
    if kind == "same" and usable:
        qparams = b.pick(usable)
        if qparams.scale >= computed.least_scale:
            return qparams
    scale = max(_scale(b, kind, fit, computed.unit), computed.least_scale)
    return _with_zero_point(b, np.float32(scale), low, high)


def _scale(b: Builder, kind: str, fit: float, unit: float | None) -> float:
    match kind:
        case "unit" if unit is not None and unit > 0:
            return unit * 2.0 ** math.ceil(math.log2(fit / unit))
        case "narrow":
            return fit * b.rng.uniform(0.1, 1.0)
        case "wide":
            return fit * b.rng.uniform(1.0, 16.0)
        case "one" if 1 / 8 < fit < 8:
            return 1.0
        case "power of two":
            return 2.0 ** math.ceil(math.log2(fit))
    return fit * b.rng.uniform(1.0, 1.02)


def _with_zero_point(b: Builder, scale: np.float32, low: float, high: float) -> QParams:
    """The zero point that centers the values, or another one: at the ends and in the middle of the range."""
    dtype = b.storage()
    limits = np.iinfo(dtype)
    middle = (limits.min + limits.max + 1) // 2
    centered = int(np.clip(round(limits.min - low / scale), limits.min, limits.max))
    zero_point = b.pick((centered, centered, middle, limits.min, limits.max, centered, centered))
    # An end of the range where all values are beyond it would make them all equal.
    if (zero_point == limits.min and high <= -low) or (zero_point == limits.max and -low <= high):
        zero_point = centered
    return QParams(scale, zero_point, dtype)
