# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages that are optional, and versions of packages that are not tested.

Both are declared in pyproject.toml alone, as requirements of the package and of its extras, and read from the metadata
of the installed package.
"""

import functools
import importlib
import warnings
from collections.abc import Sequence
from importlib import metadata
from types import ModuleType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from torq_mlir.errors import MissingPackageError, UntestedVersionWarning

DISTRIBUTION = "torq-mlir"
# Stands for what is required without any extra.
_CORE = ""


def require(modules: str | Sequence[str], extra: str) -> ModuleType | tuple[ModuleType, ...]:
    """Import what an extra brings, and warn of versions of it that are not tested.

        torch = require("torch", "torch")
        compiler, runtime = require(("iree.compiler", "iree.runtime"), "iree")

    Args:
      modules: a full name, or several.
      extra: of pyproject.toml.

    Returns:
      The module, or a tuple of them.

    Raises:
      MissingPackageError: one cannot be imported. The message names the package and the `pip install` that brings it.
    """
    names = [modules] if isinstance(modules, str) else modules
    try:
        imported = tuple(importlib.import_module(name) for name in names)
    except ImportError as error:
        hint = f"pip install '{DISTRIBUTION}[{extra}]'"
        missing = [each.name for each in requirements(extra) if installed_version(each.name) is None]
        if not missing and not isinstance(error, ModuleNotFoundError):  # of a library, or of another version
            raise MissingPackageError(f"{error}; {hint}", name=error.name) from error
        what = " and ".join(missing or [error.name])
        raise MissingPackageError(
            f"{what} {'are' if len(missing) > 1 else 'is'} not installed; {hint}", name=error.name
        ) from None
    for requirement in requirements(extra):
        warn_untested(requirement.name)
    return imported[0] if isinstance(modules, str) else imported


@functools.cache
def warn_untested(distribution: str) -> None:
    """Warn, once in a process, where the installed version of a distribution is outside of the declared range."""
    installed = installed_version(distribution)
    if installed is None:
        return
    ranges = [each.specifier for extra in extras() for each in requirements(extra) if _is_of(each, distribution)]
    try:
        untested = [each for each in ranges if not each.contains(installed, prereleases=True)]
    except InvalidVersion:
        untested = ranges
    if untested:
        message = f"{distribution} {installed} is not tested with {DISTRIBUTION} {installed_version(DISTRIBUTION)}"
        warnings.warn(f"{message}; {distribution}{untested[0]} is", UntestedVersionWarning, stacklevel=2)


def extras() -> tuple[str, ...]:
    """The names of all extras, and "" for what is always required."""
    try:
        declared = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or ()
    except metadata.PackageNotFoundError:  # a directory on PYTHONPATH, which says nothing about what it needs
        declared = ()
    return (_CORE, *declared)


@functools.cache
def requirements(extra: str = _CORE) -> tuple[Requirement, ...]:
    """What an extra requires besides what is always required; the latter without an extra."""
    try:
        declared = [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:
        declared = []
    is_core = [each.marker is None or each.marker.evaluate({"extra": _CORE}) for each in declared]
    if extra == _CORE:
        return tuple(each for each, core in zip(declared, is_core, strict=True) if core)
    others = (each for each, core in zip(declared, is_core, strict=True) if not core)
    return tuple(each for each in others if each.marker.evaluate({"extra": extra}))


def installed_version(distribution: str) -> str | None:
    """The version of an installed distribution; None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _is_of(requirement: Requirement, distribution: str) -> bool:
    return canonicalize_name(requirement.name) == canonicalize_name(distribution)
