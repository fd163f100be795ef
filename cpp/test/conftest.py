# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of what `make cpp` builds. `make test-cpp` runs them; they are not part of `make test`."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def pytest_addoption(parser):
    parser.addoption("--cpp-build", type=Path, default=ROOT / "build" / "cpp", help="build directory of `make cpp`")


@pytest.fixture(scope="session")
def build(request):
    """The build directory."""
    directory = request.config.getoption("--cpp-build").resolve()
    assert (directory / "CMakeCache.txt").is_file(), "run: make cpp"
    return directory


@pytest.fixture(scope="session")
def cache(build):
    """Variables of the build, by name."""
    lines = (build / "CMakeCache.txt").read_text().splitlines()
    named = (line.split("=", 1) for line in lines if "=" in line and not line.startswith(("#", "//")))
    return {name.partition(":")[0]: value for name, value in named}


@pytest.fixture(scope="session")
def prefix(cache):
    """Where it is installed."""
    return Path(cache["CMAKE_INSTALL_PREFIX"])


@pytest.fixture(scope="session")
def tools(prefix):
    """The commands of both torq-opt: "python" and "cpp"."""
    return {
        "python": [Path(sys.executable).with_name("torq-opt")],
        "cpp": [prefix / "bin" / "torq-opt", "--allow-unregistered-dialect"],
    }
