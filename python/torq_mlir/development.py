# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the files are that C++ projects use: definitions of the dialects, headers, sources, CMake's package."""

from pathlib import Path


def get_include() -> str:
    """The directory to give to TableGen and C++ compilers with -I, for `torq_mlir/Dialect/TorqHL/TorqHLOps.td`.

    It has definitions and headers. What TableGen makes of them depends on the version of MLIR: the project that uses
    them makes it.
    """
    return str(_installed("include"))


def get_cmake_dir() -> str:
    """The directory with TorqMLIRConfig.cmake, for `cmake -DTorqMLIR_DIR=<directory>`.

    `find_package(TorqMLIR)` then builds the dialects, from sources beside it, with the MLIR of that project.
    """
    return str(_installed("cmake"))


def _installed(name: str) -> Path:
    # What CMake installs is in site-packages, also where the Python modules are in a source tree.
    from torq_mlir import _generated

    return Path(_generated.__file__).parents[1] / name
