# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A registry of four cases, one for each way to end. A module, because worker processes import it."""

import os

from e2e.backends import Backend
from e2e.cases import Case
from e2e.checks import Report


def _passes(backend: Backend) -> Report:
    return Report(layers=1, elements=2)


def _fails(backend: Backend) -> Report:
    return Report(failures=["wrong"])


def _raises(backend: Backend) -> Report:
    raise KeyError("missing")


def _dies(backend: Backend) -> Report:
    os._exit(3)


def registry() -> dict[str, Case]:
    checks = {"good": _passes, "bad": _fails, "raises": _raises, "dies": _dies}
    return {name: Case(name, check) for name, check in checks.items()}
