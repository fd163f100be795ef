# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source distribution, the wheel that is built from it, and that wheel in an environment of its own.

Nothing of this environment is used but its Python, and the build backend for the source distribution.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import torq_mlir

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
ORACLE = ROOT / "test" / "data" / "oracle"
MODEL = ORACLE / "cnn_residual.onnx"
# No build tools, and no other environment.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))} | {
    "PATH": "/usr/bin:/bin"
}


def run(*command: object, cwd: Path) -> str:
    """What a command prints."""
    process = subprocess.run([*map(str, command)], cwd=cwd, env=CLEAN, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def environment(path: Path) -> Path:
    """The folder with the programs of a new environment."""
    run(Path(sys.base_prefix) / "bin" / "python3", "-m", "venv", path, cwd=path.parent)
    return path / "bin"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    backend = "import sys, scikit_build_core.build as backend; backend.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", backend, folder, cwd=ROOT)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    """Built in isolation: pip brings what [build-system] requires."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = environment(folder / "venv") / "pip"
    run(pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", sdist, cwd=folder)
    (built,) = (folder / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The programs of an environment with the wheel and what it requires, all of it from wheels."""
    folder = tmp_path_factory.mktemp("installed")
    programs = environment(folder / "venv")
    run(programs / "pip", "install", "--quiet", "--only-binary=:all:", wheel, cwd=folder)
    return programs


def test_the_source_distribution_has_the_sources(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "CMakeLists.txt", "passes/Passes.td", "docs/api.md"} <= names
    assert {"test/unit/package/test_wheel.py", "python/torq_mlir/compiler.py", "dialects/TorqHL/TorqHL.td"} <= names
    assert not [name for name in names if name.startswith((".venv", "build/", ".git/")) or "__pycache__" in name]


def test_the_wheel_is_for_all_systems(wheel):
    version = torq_mlir.__version__
    assert wheel.name == f"torq_mlir-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {"torq_mlir", f"torq_mlir-{version}.dist-info"}
    data = (
        *("_generated/torq_hl.py", "_generated/passes.json", "gen_config/page/report.html.jinja"),
        *("backends/cpu/library/torq_model.h", "include/torq_mlir/Dialect/TorqHL/TorqHLOps.td"),
        *("gen_config/files/report.schema.json", "cmake/TorqMLIRConfig.cmake"),
    )
    assert {f"torq_mlir/{name}" for name in data} <= set(names)


def test_installing_it_brings_no_build_tools(installed, tmp_path):
    packages = {line.partition("==")[0].lower() for line in run(installed / "pip", "freeze", cwd=tmp_path).splitlines()}
    assert {"torch-mlir", "onnx", "onnxruntime"} <= packages
    assert packages.isdisjoint({"cmake", "ninja", "scikit-build-core", "torch", "torchao", "setuptools"})
    assert not [name for name in packages if name.startswith("xtc")]
    run(installed / "pip", "check", cwd=tmp_path)


def test_the_installed_package_compiles_and_runs_a_model(installed, tmp_path):
    with np.load(ORACLE / "oracle.npz") as oracle:
        image, expected = oracle[f"{MODEL.stem}/x0"], oracle[f"{MODEL.stem}/npu"]
    np.savez(tmp_path / "inputs.npz", x0=image)
    command = (MODEL, "-o", "model.mlir", "--run", "inputs.npz", "--output", "results.npz")
    run(installed / "torq-compile", *command, cwd=tmp_path)
    with np.load(tmp_path / "results.npz") as results:
        (actual,) = results.values()
    np.testing.assert_array_equal(actual, expected)
    assert "linalg" in run(installed / "torq-opt", "--torq-hl-to-linalg", "model.mlir", cwd=tmp_path)
    lines = run(installed / "python", "-m", "torq_mlir", cwd=tmp_path).splitlines()
    assert {f"torq-mlir {torq_mlir.__version__}", "torch not installed"} <= set(lines)
    missing = subprocess.run(
        [installed / "torq-compile", "model.pt2"], cwd=tmp_path, env=CLEAN, capture_output=True, text=True
    )
    assert (missing.returncode, missing.stderr) == (
        1,
        "torq-compile: error: torch and torchao are not installed; pip install 'torq-mlir[torch]'\n",
    )


def test_the_definitions_are_installed(installed, tmp_path):
    code = "import torq_mlir; print(torq_mlir.get_include()); print(torq_mlir.get_cmake_dir())"
    include, cmake = map(Path, run(installed / "python", "-c", code, cwd=tmp_path).splitlines())
    assert include.is_relative_to(installed.parent)
    assert (include / "torq_mlir" / "Dialect" / "TorqHL" / "TorqHLOps.td").exists()
    assert (cmake / "TorqMLIRConfig.cmake").exists()
