# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

import torq_mlir
from torq_mlir import deprecation
from torq_mlir.deprecation import deprecated

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _registry(monkeypatch):
    monkeypatch.setattr(deprecation, "_registered", dict(deprecation._registered))


def test_a_function_warns_once_where_it_is_called():
    @deprecated(since="1.2", removed_in="2.0", instead="compile")
    def old(x: int) -> int:
        """Adds one."""
        return x + 1

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert (old(1), old(2)) == (2, 3)
    (warning,) = caught
    assert (warning.category, warning.filename) == (DeprecationWarning, __file__)
    text = f"{__name__}.test_a_function_warns_once_where_it_is_called.<locals>.old is deprecated since 1.2"
    assert str(warning.message) == f"{text} and removed in 2.0; use compile instead"
    assert old.__doc__ == f"Adds one.\n\nDeprecated: {text} and removed in 2.0; use compile instead."
    assert old.__name__ == "old"


def test_a_class_stays_a_class():
    @deprecated(since="1.2", removed_in="2.0")
    class Old:
        def __init__(self, value: int) -> None:
            self.value = value

    with pytest.warns(DeprecationWarning, match=r"Old is deprecated since 1\.2 and removed in 2\.0$") as caught:
        made = Old(3)
    assert (isinstance(made, Old), made.value, caught[0].filename) == (True, 3, __file__)


def test_a_named_tuple_keeps_its_arguments():
    @deprecated(since="1.2", removed_in="2.0")
    class Old(NamedTuple):
        first: int
        second: int = 4

    with pytest.warns(DeprecationWarning, match=r"Old is deprecated since 1\.2") as caught:
        made = Old(3)
    assert (made, made._replace(first=5), caught[0].filename) == ((3, 4), (5, 4), __file__)


def test_a_warning_that_is_an_error_is_one_each_time():
    @deprecated(since="1.2", removed_in="2.0")
    def old() -> None:
        pass

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(DeprecationWarning):
                old()


def test_removal_is_after_the_warning():
    with pytest.raises(ValueError, match=r"deprecated since 2\.0, it cannot be removed in 2\.0"):
        deprecated(since="2.0", removed_in="2.0")(len)


@pytest.mark.parametrize(
    ("version", "overdue"), [("1.9.3", False), ("2.0", True), ("2.0.0.dev1", False), ("10.0", True)]
)
def test_overdue(version, overdue):
    assert deprecation.Deprecation("f", "1.2", "2.0", "").is_overdue(version) is overdue


def test_nothing_is_past_the_version_that_removes_it():
    for folder, package in (
        ("python/torq_mlir", "torq_mlir"),
        ("passes", "torq_mlir.passes"),
        ("tools", "torq_mlir.tools"),
    ):
        for path in (ROOT / folder).rglob("*.py"):
            if "deprecation" in path.read_text(encoding="utf-8"):
                importlib.import_module(".".join((package, *path.relative_to(ROOT / folder).with_suffix("").parts)))
    assert [each.name for each in deprecation.registered() if each.is_overdue(torq_mlir.__version__)] == []
