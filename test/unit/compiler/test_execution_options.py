# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of torq-compile that are about execution on the host."""

import json
import re
import shutil

import numpy as np
import onnx
import pytest
from small_models import quantized_conv

import torq_mlir
from torq_mlir.tools import torq_compile

IMAGE = np.random.default_rng(4).uniform(-4, 4, (1, 3, 6, 6)).astype(np.float32)


@pytest.fixture(autouse=True)
def _models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(quantized_conv(shape=(1, 3, 6, 6)), "model.onnx")
    np.savez("inputs.npz", x=IMAGE)


@pytest.fixture
def run(capfdbinary):
    def run(*arguments):
        assert torq_compile.main(("model.onnx", *arguments)) == 0
        return capfdbinary.readouterr().out.decode()

    return run


def results(run, *options):
    assert run("--run", "inputs.npz", "--output", "results.npz", *options) == ""
    with np.load("results.npz") as arrays:
        return arrays["y"]


def test_processors_and_threads_give_the_same(run):
    (expected,) = torq_mlir.compile("model.onnx", backend="interpreter")(IMAGE)
    np.testing.assert_array_equal(results(run, "--cpu", "generic", "--threads", "3"), expected)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_cache(run, tmp_path):
    first = results(run, "--cache-dir", "cache")
    entries = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert [name.rpartition(".")[2] for name in entries] == ["json", "so"]
    np.testing.assert_array_equal(results(run, "--cache-dir", "cache"), first)
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == entries


def test_profile_and_trace(run):
    printed = run("--run", "inputs.npz", "--profile", "--trace", "trace.json")
    assert re.search(r"^ *\d+\.\d .* convolution +conv, relu", printed, re.MULTILINE), printed
    assert "us in all" in printed
    with open("trace.json") as file:
        events = json.load(file)["traceEvents"]
    assert any("conv" in event["args"]["sources"] for event in events)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("file", ["net.so", "net.o"])
def test_libraries(run, file, tmp_path):
    assert run("-o", file, "--prefix", "net") == ""
    assert "int32_t net_run(" in (tmp_path / "net.h").read_text()
    assert (tmp_path / file).read_bytes()[:4] == b"\x7fELF"


def fails(capfd, *arguments):
    assert torq_compile.main(("model.onnx", *arguments)) == 1
    (line,) = capfd.readouterr().err.splitlines()
    return line.removeprefix("torq-compile: error: ")


def test_without_a_compiler(monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    before = sorted(tmp_path.iterdir())
    assert fails(capfd, "-o", "net.so") == "there is no C compiler 'no-such-compiler'; install one, or name it in CC"
    assert sorted(tmp_path.iterdir()) == before


def test_a_prefix_that_is_no_name(capfd):
    assert fails(capfd, "-o", "net.so", "--prefix", "my-net") == "'my-net' is not the beginning of names in C"


@pytest.mark.parametrize("backend", ["jit", "interpreter"])
def test_only_the_cpu_measures_times(backend, capfd):
    line = fails(capfd, "--run", "inputs.npz", "--backend", backend, "--profile")
    assert line == f"the backend {backend!r} measures no times; cpu does"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cpu", "z80"], "argument --cpu: invalid choice: 'z80'"),
        (["--threads", "0"], "argument --threads: '0' is no positive number"),
        (["--profile"], "--profile is for times of --run"),
        (["--trace", "trace.json"], "--trace is for times of --run"),
        (["--output", "results.npz"], "--output is for the results of --run"),
        (["-o", "model.vmfb", "--cpu", "avx2"], "--cpu is for the backend cpu; what IREE compiles is for this machine"),
        (["--backend", "iree", "--cpu", "avx2"], "--cpu is for the backend cpu"),
    ],
)
def test_wrong_command_lines(arguments, message, capfd):
    with pytest.raises(SystemExit) as exit_:
        torq_compile.main(("model.onnx", *arguments))
    assert exit_.value.code == 2
    assert message in capfd.readouterr().err
