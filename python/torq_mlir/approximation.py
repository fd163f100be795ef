# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the conversion to torq_hl may compute other than the source model, as options of its pass."""

from collections.abc import Sequence

from torq_mlir import pipelines

# Where what is not quantized is computed, and what may be computed in integers that follow it only nearly.
FLOATS = ("host", "bf16")
APPROXIMATIONS = ("softmax", "normalization")

_CONVERSION = "convert-linalg-to-torq-hl"


def approximating(pipeline: str, float: str, approximate: Sequence[str]) -> str:
    """`pipeline`, with these options of its conversion.

    Raises:
      ValueError: there is no such place for floats, or no such approximation.
    """
    if float not in FLOATS:
        raise ValueError(f"float is one of {', '.join(FLOATS)}, not {float!r}")
    if isinstance(approximate, str) or not set(approximate) <= set(APPROXIMATIONS):
        raise ValueError(f"approximate is a sequence of {', '.join(APPROXIMATIONS)}, not {approximate!r}")
    options = [f"float={float}"] * (float != FLOATS[0])
    options += [f"approximate={','.join(approximate)}"] * bool(approximate)
    return _with_conversion(pipeline, pipelines.PassText(_CONVERSION).with_options(*options))


def exact(pipeline: str) -> str:
    """`pipeline` without these options, which are all that its conversion has."""
    return _with_conversion(pipeline, pipelines.PassText(_CONVERSION))


def _with_conversion(pipeline: str, conversion: pipelines.PassText) -> str:
    parsed = pipelines.parse(pipeline)
    elements = (conversion if getattr(each, "name", "") == _CONVERSION else each for each in parsed.elements)
    return str(pipelines.PipelineText(parsed.anchor, tuple(elements)))
