# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Geometry of what the page draws as SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torq_mlir.gen_config.files import Values
from torq_mlir.gen_config.wording import number

# In units of the drawing.
WIDTH, HEIGHT = 320, 96
# What fills the bar of a signal to noise ratio, in dB.
_FULL_SQNR = 80.0


@dataclass(frozen=True)
class Histogram:
    """Two outlines in a drawing of WIDTH by HEIGHT, closed along the bottom, and what they say in words."""

    reference: str
    ours: str
    low: str
    high: str
    description: str


def histogram(values: Values) -> Histogram:
    """The outlines of both distributions; the square root keeps rare values visible."""
    tallest = max((*values.reference.counts, *values.ours.counts, 1))
    reference, ours = values.reference, values.ours
    return Histogram(
        _outline(reference.counts, tallest),
        _outline(ours.counts, tallest),
        number(values.low),
        number(values.high),
        f"{values.output}: reference from {number(reference.minimum)} to {number(reference.maximum)}, "
        f"ours from {number(ours.minimum)} to {number(ours.maximum)}",
    )


def _outline(counts: Sequence[int], tallest: int) -> str:
    points = [f"M0 {HEIGHT}"]
    for place, count in enumerate(counts):
        height = HEIGHT * (1 - math.sqrt(count / tallest))
        points.append(f"V{height:.1f}H{WIDTH * (place + 1) / len(counts):.1f}")
    return "".join([*points, f"V{HEIGHT}Z"])


def sqnr_percent(value: float) -> float:
    """Length of the bar for a signal to noise ratio in dB, from 0 to 100."""
    return 0.0 if math.isnan(value) else 100 * min(max(value / _FULL_SQNR, 0.0), 1.0)


def percent(value: float, largest: float) -> float:
    """Length of the bar for `value`, from 0 to 100, where `largest` fills it."""
    if math.isnan(value) or value <= 0:
        return 0.0
    return 100.0 if value >= largest else 100 * value / largest
