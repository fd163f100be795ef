# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of the public API that are going to be removed.

    @deprecated(since="1.2", removed_in="2.0", instead="torq_mlir.compile")
    def compile_model(path): ...

What is public and how long a deprecated name stays is in docs/api.md.
"""

import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from packaging.version import Version

T = TypeVar("T", bound=Callable)


@dataclass(frozen=True)
class Deprecation:
    """Something that is deprecated.

    Attributes:
      name: of it, with the module; for an argument with the function.
      since: the version that warned first.
      removed_in: the version that does not have it any more.
      instead: what to use; empty where there is nothing.
    """

    name: str
    since: str
    removed_in: str
    instead: str

    def __str__(self) -> str:
        instead = f"; use {self.instead} instead" if self.instead else ""
        return f"{self.name} is deprecated since {self.since} and removed in {self.removed_in}{instead}"

    def is_overdue(self, version: str) -> bool:
        """Whether a version of the package should not have it any more."""
        return Version(version) >= Version(self.removed_in)


_registered: dict[str, Deprecation] = {}
_warned: set[str] = set()


def deprecated(*, since: str, removed_in: str, instead: str = "") -> Callable[[T], T]:
    """Decorate a function or class that is deprecated: its first call in a process gives a DeprecationWarning.

    Args:
      since: the version that warns first.
      removed_in: the version that does not have it any more, which is later.
      instead: what to use.

    Raises:
      ValueError: it would be removed before it warns.
    """

    def decorate(decorated: T) -> T:
        deprecation = register(f"{decorated.__module__}.{decorated.__qualname__}", since, removed_in, instead)
        documentation = f"{inspect.getdoc(decorated) or ''}\n\nDeprecated: {deprecation}.".strip()
        if isinstance(decorated, type):
            # A NamedTuple gets its arguments in `__new__` alone, and `object.__init__` takes none.
            by_new = decorated.__init__ is object.__init__ and decorated.__new__ is not object.__new__
            constructor = "__new__" if by_new else "__init__"
            setattr(decorated, constructor, _warning(getattr(decorated, constructor), deprecation))
            decorated.__doc__ = documentation
            return decorated
        warning = _warning(decorated, deprecation)
        warning.__doc__ = documentation
        return warning

    return decorate


def register(name: str, since: str, removed_in: str, instead: str = "") -> Deprecation:
    """Record that something else than a function or class is deprecated, such as an argument; `warn` says it.

    Raises:
      ValueError: it would be removed before it warns.
    """
    if Version(removed_in) <= Version(since):
        raise ValueError(f"{name}: deprecated since {since}, it cannot be removed in {removed_in}")
    _registered[name] = Deprecation(name, since, removed_in, instead)
    return _registered[name]


def registered() -> tuple[Deprecation, ...]:
    """What is deprecated in the modules that have been imported."""
    return tuple(_registered.values())


def warn(deprecation: Deprecation, stacklevel: int = 2) -> None:
    """Give a DeprecationWarning, once in a process.

    Args:
      stacklevel: as of `warnings.warn`, of the function that calls this one: 2 is what has called that.
    """
    if deprecation.name not in _warned:
        warnings.warn(str(deprecation), DeprecationWarning, stacklevel=stacklevel + 1)
        _warned.add(deprecation.name)  # not where the warning is raised as an error


def _warning(function: Callable, deprecation: Deprecation) -> Callable:
    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> object:
        warn(deprecation)
        return function(*args, **kwargs)

    return wrapper
