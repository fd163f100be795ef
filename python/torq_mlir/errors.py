# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that are the user's to mend. Their text is one line that names the node or file and the reason."""

from collections.abc import Sequence


class TorqError(Exception):
    """Base of the errors of this package."""


class ModelError(TorqError):
    """The model is malformed or uses something that is not supported."""


class CompileError(TorqError):
    """The model is well-formed but could not be compiled."""


class InputError(TorqError, ValueError):
    """An array passed to a compiled model does not fit the input it is for."""


class MissingPackageError(TorqError, ImportError):
    """An optional package is not installed; the message says which `pip install` brings it."""


class UntestedVersionWarning(UserWarning):
    """A package is installed in a version that is outside of the tested range."""


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Names for a message: all of them, or "a, b and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
