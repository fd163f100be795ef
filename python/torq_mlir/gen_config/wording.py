# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures and names as people read them: the same words in the terminal, in the progress display and on the page."""

import math
from collections.abc import Mapping

from torq_mlir.gen_config.files import ExecutorResult, Metrics, Status, Tolerance

# Flags that have a value whether it matters or not.
_SMALL_PRINT = frozenset({"image-mean", "image-std", "percentile", "seed"})


def printable(text: str) -> str:
    """`text` on one line, without what a terminal would act on."""
    return "".join(character if character.isprintable() else " " for character in text)


def number(value: float) -> str:
    """Up to four significant digits: "0", "1", "0.25", "1.5e-07"."""
    return f"{value:.4g}"


def decibels(value: float) -> str:
    """One decimal; "inf" for equal values."""
    return f"{value:.1f}" if math.isfinite(value) else str(value)


def duration(seconds: float) -> str:
    """In the unit that leaves three digits: "850 ns", "12.3 us", "4.56 ms", "1.20 s"."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * scale:
            return f"{_three_digits(seconds / scale)} {unit}"
    return f"{seconds:.2f} s"


def _three_digits(value: float) -> str:
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def largest_difference(metrics: Metrics) -> str:
    """ "3 LSB" for quantized outputs, "0.0012" for float ones."""
    if metrics.max_lsb is None:
        return number(metrics.max_abs)
    return f"{number(metrics.max_lsb)} LSB"


def differences(metrics: Metrics) -> str:
    """ "equal", or how many elements differ and by how much."""
    if not metrics.mismatches:
        return "equal"
    return f"{metrics.mismatches} of {metrics.elements} differ, by up to {largest_difference(metrics)}"


def limits(metrics: Metrics, tolerance: Tolerance) -> str:
    """The part of the tolerance that the figures are judged by."""
    if metrics.max_lsb is None:
        return f"{number(tolerance.atol)} + {number(tolerance.rtol)} of {number(metrics.max_reference)}"
    share = "" if tolerance.mismatch_rate >= 1 else f" in {number(100 * tolerance.mismatch_rate)} % of the elements"
    return f"{number(tolerance.max_lsb)} LSB{share}"


def result_line(result: ExecutorResult) -> str:
    """What came of a layer on an executor, after its status."""
    if result.status in (Status.SUCCESS, Status.DIFFERENCE) and result.metrics is not None:
        return differences(result.metrics)
    return printable(result.reason)


def shown_flags(flags: Mapping[str, object]) -> list[str]:
    """Flags as they would be given, without small print and those that are not set: "full-integer", "batch=1"."""
    return [
        _flag(name, value)
        for name, value in flags.items()
        if not (value is None or value is False or value == () or name in _SMALL_PRINT)
    ]


def _flag(name: str, value: object) -> str:
    if value is True:
        return name
    return f"{name}={','.join(value) if isinstance(value, tuple) else value}"
