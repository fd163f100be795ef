# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from small_models import quantized_conv

import torq_mlir
from torq_mlir.compiler import BACKENDS, LEVELS
from torq_mlir.tools import torq_compile

IMAGE = np.random.default_rng(4).uniform(-4, 4, (1, 3, 6, 6)).astype(np.float32)


@pytest.fixture(autouse=True)
def _models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(quantized_conv(shape=(1, 3, 6, 6)), "model.onnx")
    onnx.save(quantized_conv(shape=("N", "C", 6, 6)), "dynamic.onnx")
    np.savez("inputs.npz", x=IMAGE)
    np.savez("positional.npz", IMAGE)


@pytest.fixture
def run(capfdbinary, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # the width of a terminal that the output does not go to

    def run(*arguments):
        assert torq_compile.main(arguments) == 0
        out, err = capfdbinary.readouterr()
        assert err == b""
        return out.decode()

    return run


def test_prints_torq_hl(run):
    assert run("model.onnx") == torq_mlir.compile("model.onnx").mlir()


@pytest.mark.parametrize("level", LEVELS)
def test_writes_a_level(run, level, tmp_path):
    assert run("model.onnx", f"--emit={level}", "--elide", "-o", "out.mlir") == ""
    assert (tmp_path / "out.mlir").read_text() == torq_mlir.compile("model.onnx").mlir(level, elide=True)


def test_writes_to_what_is_no_file(run):
    assert run("model.onnx", "-o", "/dev/null") == ""


@pytest.mark.parametrize("file", ["out.mlir", "out.mlirbc"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_runs_what_it_wrote(run, file, backend, tmp_path):
    run("model.onnx", "-o", file)
    assert ((tmp_path / file).read_bytes()[:4] == b"ML\xefR") == file.endswith("bc")
    assert run(file, "--run", "inputs.npz", "--backend", backend, "--output", "results.npz") == ""
    (expected,) = torq_mlir.compile("model.onnx")(IMAGE)
    with np.load("results.npz") as results:
        assert list(results) == ["y"]
        np.testing.assert_array_equal(results["y"], expected)


@pytest.mark.parametrize("inputs", ["inputs.npz", "positional.npz"])
def test_summarizes_outputs(run, inputs):
    (expected,) = torq_mlir.compile("model.onnx")(IMAGE)
    line = run("model.onnx", "--run", inputs)
    assert line.startswith(f"y: 1x8x6x6 float32, min {expected.min():.6g}, max {expected.max():.6g}, [")
    assert line.count("\n") == 1


def test_summarizes_integers(run):
    onnx.save(quantized_conv("uint8", (1, 3, 6, 6), full_integer=True), "integer.onnx")
    np.savez("integer.npz", x_quantized=np.full((1, 3, 6, 6), 125, np.uint8))
    (expected,) = torq_mlir.compile("integer.onnx")(np.full((1, 3, 6, 6), 125, np.uint8))
    first = " ".join(map(str, expected.reshape(-1)[:8]))
    line = f"y_quantized: 1x8x6x6 uint8, min {expected.min()}, max {expected.max()}, [{first} ...]\n"
    assert run("integer.onnx", "--run", "integer.npz") == line


def test_report(run):
    expected = torq_mlir.compile("model.onnx").report()
    assert run("model.onnx", "--report") == f"{expected}\n"
    assert run("model.onnx", "--report-json", "report.json") == ""
    with open("report.json") as file:
        assert json.load(file) == expected.to_dict()


def test_report_after_the_ir(run):
    output = run("model.onnx", "--emit=torq-hl", "--report")
    assert output.index("torq_hl.conv2d") < output.index("remark")


def test_open_shapes(run):
    text = run("dynamic.onnx", "--input-shape", "x:2,3,6,6", "--elide")
    assert "tensor<2x3x6x6xf32>" in text
    assert run("dynamic.onnx", "--input-shape", "x:2x3x6x6", "--elide") == text
    assert "tensor<5x3x6x6xf32>" in run("dynamic.onnx", "--batch", "5", "--input-shape", "x:5,3,6,6", "--elide")


def test_help_and_version(capfd):
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as stop:
            torq_compile.main([option])
        assert stop.value.code == 0
    out = capfd.readouterr().out
    assert "torq-compile model.onnx --report" in out
    assert f"torq-mlir {torq_mlir.__version__}\n" in out


def test_stops_when_nobody_reads(tmp_path):
    onnx.save(quantized_conv(shape=(1, 3, 6, 6)), "model.onnx")
    command = f"{sys.executable} -m torq_mlir.tools.torq_compile model.onnx --emit=onnx | true"
    process = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert process.stderr == ""


def test_help_imports_nothing_slow():
    code = "import sys, torq_mlir.tools.torq_compile; print(sorted({'onnx', 'numpy', 'torch_mlir'} & {*sys.modules}))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "[]\n"


@pytest.mark.slow
def test_resnet50_is_compiled_within_its_budget(tmp_path):
    """2 s of wall time on a quiet machine, of which processor time is what a busy one lets us see; 1 GB of memory."""
    catalog = pytest.importorskip("e2e.models.catalog")
    onnx.save(catalog.quantized_model("resnet50", "qdq-per-channel"), tmp_path / "resnet50.onnx")
    command = [sys.executable, "-m", "torq_mlir.tools.torq_compile", "resnet50.onnx", "-o", "resnet50.mlir"]
    _, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.executable, command), 0)
    assert status == 0
    assert (tmp_path / "resnet50.mlir").stat().st_size > 40e6
    assert usage.ru_utime + usage.ru_stime < 3
    assert usage.ru_maxrss < 1e6  # KB
