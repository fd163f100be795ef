# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Projects that use the C++ dialects, as examples/cmake does, and a machine without MLIR."""

import subprocess
import sys
from pathlib import Path

import torq_mlir

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cmake"
TOOLS = Path(sys.executable).parent


def cmake(source, build, **variables):
    variables["CMAKE_MAKE_PROGRAM"] = TOOLS / "ninja"
    settings = [f"-D{name}={value}" for name, value in variables.items()]
    command = [TOOLS / "cmake", "-G", "Ninja", "-S", source, "-B", build, *settings]
    return subprocess.run(command, capture_output=True, text=True)


def check_example(build, **variables):
    """Builds the example and runs its pass."""
    configured = cmake(EXAMPLE, build, CMAKE_BUILD_TYPE="Debug", **variables)
    assert configured.returncode == 0, configured.stderr
    built = subprocess.run([TOOLS / "ninja", "-C", build], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout
    command = [build / "npu-work", "--npu-work", EXAMPLE / "model.mlir"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "remark: 2 operations on the NPU, 6912 products in convolutions" in run.stderr
    assert run.stdout.count("torq_hl.identity") == 1


def test_project_on_the_installation(prefix, tmp_path):
    check_example(tmp_path / "build", TorqMLIR_DIR=prefix / "lib" / "cmake" / "TorqMLIR")


def test_project_on_the_python_package(cache, tmp_path):
    """The dialects become part of the project, with its MLIR."""
    where = {name: cache[name] for name in ("MLIR_DIR", "LLVM_DIR")}
    check_example(tmp_path / "build", TorqMLIR_DIR=torq_mlir.get_cmake_dir(), **where)
    assert (tmp_path / "build" / "torq_mlir" / "libTorqMLIRTorqHL.a").is_file()


def test_missing_mlir_is_explained(tmp_path):
    without = {"CMAKE_DISABLE_FIND_PACKAGE_MLIR": "ON", "Python_EXECUTABLE": sys.executable}
    run = cmake(ROOT, tmp_path / "build", TORQ_BUILD_CPP="ON", **without)
    assert run.returncode != 0
    assert "pip install 'xtc-mlir-dev>=22.1' 'xtc-llvm-dev>=22.1'" in run.stderr
    assert "apt-get install libmlir-22-dev" in run.stderr
