# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ passes and pipelines of the torch-mlir wheel.

The bindings have no list of them. Whether one exists, which op it runs on and what its options mean shows when it is
parsed at an anchor.
"""

import re

from torch_mlir import ir
from torch_mlir._mlir_libs import (
    _stablehlo,
    _torchMlir,  # noqa: F401  (its import registers the torch passes)
)
from torch_mlir.passmanager import PassManager

from torq_mlir.pipelines import syntax
from torq_mlir.pipelines.syntax import PassText, PipelineText

_stablehlo.register_stablehlo_passes()

_UNKNOWN = "does not refer to a registered pass or pass pipeline"
_OPTIONS_PARSER = "<Pass-Options-Parser>: "
_RESTRICTED = re.compile(r"Can't add pass '.*' restricted to '(.*)' on a PassManager intended to run on")


class PassParseError(ValueError):
    """The wheel does not take a pass at an anchor; the text is the reason, in one line."""

    def __init__(self, reason: str, required_anchor: str | None = None):
        super().__init__(reason)
        self.required_anchor = required_anchor


def is_known(name: str, context: ir.Context) -> bool:
    """Whether the wheel has a pass or pipeline of that name, on any op."""
    try:
        PassManager.parse(f"any({name})", context)
    except ValueError as error:
        return _UNKNOWN not in str(error)
    return True


def required_anchor(element: PassText, context: ir.Context) -> str:
    """The name of the op that the pass runs on; `builtin.module` if it is one of those it can run on.

    Raises:
      PassParseError: there is no such pass, or its options are wrong.
    """
    try:
        _parse(element, "builtin.module", context)
    except PassParseError as error:
        if error.required_anchor is None:
            raise
        return error.required_anchor
    return "builtin.module"


def expand(element: PassText, anchor: str, context: ir.Context) -> PipelineText:
    """The passes that `element` stands for, with the values of all their options.

    A pass stands for itself, a pipeline of the wheel for its passes. A pipeline whose text does not say all about it
    stays one element.

    Raises:
      PassParseError: there is no such pass, it does not run on `anchor`, or its options are wrong.
    """
    text = str(_parse(element, anchor, context))
    pipeline = syntax.parse(text)
    try:
        faithful = str(PassManager.parse(text, context)) == text
    except ValueError:
        faithful = False
    return pipeline if faithful else PipelineText(anchor, (element,))


def _parse(element: PassText, anchor: str, context: ir.Context) -> PassManager:
    """Parses at an anchor. The wheel aborts the process for a pipeline that does not fit there: its passes go first."""
    parsed = syntax.parse(str(_parse_unchecked(element, "any", context)))
    if [str(each).partition("{")[0] for each in parsed.elements] != [element.name]:
        for each in parsed.elements:
            if isinstance(each, PassText):
                _parse_unchecked(each, anchor, context)
    return _parse_unchecked(element, anchor, context)


def _parse_unchecked(element: PassText, anchor: str, context: ir.Context) -> PassManager:
    try:
        return PassManager.parse(f"{anchor}({element})", context)
    except ValueError as error:
        message = str(error)
    if _UNKNOWN in message:
        raise PassParseError(f"'{element.name}' {_UNKNOWN}")
    reason = next(line for line in message.splitlines() if line.strip())
    restricted = _RESTRICTED.match(reason)
    if reason.startswith(_OPTIONS_PARSER):
        reason = (
            f"failed to add `{element.name}` with options `{element.options}`: {reason.removeprefix(_OPTIONS_PARSER)}"
        )
    raise PassParseError(reason, restricted and restricted[1])
