# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: what is printed, exit codes, bad input, and a process that is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from discoveries import feeds, with_sine
from float_models import cnn

from torq_mlir.gen_config.files import read_report
from torq_mlir.gen_config.paths import Paths
from torq_mlir.tools import torq_gen_config

FLAGS = ("--quantize", "--full-integer")


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Path of a model, in the current folder, with calibration data next to it."""
    monkeypatch.chdir(tmp_path)
    onnx.save(with_sine(), "sine.onnx")
    samples = feeds(with_sine())
    np.savez("data.npz", x=np.concatenate([sample["x"] for sample in samples]))
    return "sine.onnx"


def call(*arguments):
    return torq_gen_config.main([str(argument) for argument in arguments])


def test_from_a_float_model_to_a_verified_one(model, capsys):
    arguments = ("--model", model, *FLAGS, "--calibration-data", "data.npz", "--output-dir", "results")
    assert call("discover", *arguments, "--jobs", 0, "--log-file", "log.txt") == 0
    out, err = capsys.readouterr()
    assert "3 layers" in out
    assert "compiler file: results/torq_gen_config_sine_compiler.json" in out
    assert "[9/9] " in err
    assert "[9/9] " in Path("log.txt").read_text()
    assert call("run", *arguments, "--log-file", "log.txt", "--debug-ir=ir") == 0
    out, _ = capsys.readouterr()
    assert "output y: success, equal" in out
    assert "0 outside of tolerance" in out
    assert "output y: success" in Path("log.txt").read_text()
    assert len(os.listdir("ir")) > 20
    assert call("run", *arguments, "--per-channel") == 1
    assert "results/torq_gen_config_sine.json was made with other flags: --per-channel" in capsys.readouterr().err


def test_quantize(model, capsys):
    assert call("quantize", "--model", model, "--calibration-data", "data.npz", "--exclude", "last") == 0
    assert capsys.readouterr().out == "wrote sine_quantized.onnx\n"
    weights = {tensor.name for tensor in onnx.load("sine_quantized.onnx").graph.initializer}
    assert "v" in weights
    assert "w" not in weights
    assert call("quantize", "--model", model, "-o", "other.onnx") == 0
    assert "accuracy figures of this model are meaningless" in capsys.readouterr().err
    assert os.path.exists("other.onnx")


def broken_inputs():
    yield ("discover", "--model", "missing.onnx"), "missing.onnx: No such file or directory"
    yield ("discover", "--model", "junk.onnx"), "junk.onnx: not an ONNX model, or a truncated one"
    yield ("discover", "--model", "sine.onnx", "--output-dir", "data.npz/x"), "data.npz/x: Not a directory"
    yield (
        ("discover", "--model", "sine.onnx", "--quantize", "--quant-dtype", "A4W4"),
        "quant_dtype 'A4W4' is not supported; supported: A8W8",
    )
    yield (
        ("discover", "--model", "sine.onnx", "--quantize", "--calibration-data", "none.npz"),
        "none.npz: No such file or directory",
    )
    yield (
        ("discover", "--model", "sine.onnx", "--quantize", "--calibration-data", "wrong.npz"),
        "sample 0 of the calibration data has 'z', but the inputs of the model are 'x'",
    )
    yield (
        ("discover", "--model", "sine.onnx", "--quantize", "--calibration-data", "empty.npz"),
        "the calibration data reader yields nothing",
    )
    yield ("quantize", "--model", "sine.onnx", "-o", "/dev/full"), "/dev/full: No space left on device"
    yield ("quantize", "--model", "sine.onnx", "--exclude", "none"), "there is no node 'none' to exclude"
    yield ("run", "--model", "sine.onnx", "--quantize"), "there is no report and no compiler file"
    yield ("run", "--model", "sine.onnx", "--compiler-file", "none.json"), "none.json: No such file or directory"
    yield ("run", "--model", "sine.onnx", "--compiler-file", "data.npz"), "data.npz: not JSON"
    yield ("discover", "--model", "sine.onnx", "--input-shape", "x"), "'x' is no shape of an input"


@pytest.mark.parametrize(("arguments", "message"), list(broken_inputs()), ids=lambda value: value[:40] if value else "")
def test_what_cannot_be_used_is_one_line(model, capsys, arguments, message):
    with open("junk.onnx", "wb") as file:
        file.write(b"\x08\x09\xff\xff")
    np.savez("wrong.npz", z=np.zeros((1, 8), np.float32))
    np.savez("empty.npz", x=np.zeros((0, 8), np.float32))
    assert call(*arguments, *(["--jobs", "0"] if arguments[0] == "discover" else [])) == 1
    lines = capsys.readouterr().err.splitlines()
    assert message in lines[-1]
    assert lines[-1].startswith("torq-gen-config: error: ")
    assert not any(line.startswith(("Traceback", "  File", "torq-gen-config: error")) for line in lines[:-1])


@pytest.mark.parametrize(
    "arguments",
    [
        ("discover",),
        ("discover", "--model", "m.onnx", "--skip-executors", "gpu"),
        ("discover", "--model", "m.onnx", "--skip-executors", "nss,css,host"),
        ("discover", "--model", "m.onnx", "--jobs", "-1"),
        ("discover", "--model", "m.onnx", "--layer-timeout", "0"),
        ("unknown",),
        (),
    ],
)
def test_a_wrong_command_line(arguments):
    with pytest.raises(SystemExit) as exit_:
        call(*arguments)
    assert exit_.value.code == 2


@pytest.mark.parametrize("command", [(), ("quantize",), ("discover",), ("run",), ("view",), ("edit",)])
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as exit_:
        call(*command, "--help")
    assert exit_.value.code == 0
    assert f"torq-gen-config {command[0] if command else 'discover'} " in capsys.readouterr().out.partition("usage:")[2]


def test_a_layer_that_no_executor_takes_makes_the_exit_code_three(model, capsys):
    arguments = ("--model", model, *FLAGS, "--jobs", 1, "--layer-timeout", 0.001, "--skip-executors", "css,host")
    assert call("discover", *arguments) == 3
    assert "took longer than 0.001 s" in capsys.readouterr().out


def start(*arguments):
    command = [sys.executable, "-m", "torq_mlir.tools.torq_gen_config", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def results(process):
    """The lines of results, as they come."""
    return (line for line in process.stderr if line.startswith("["))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_discovery_that_is_stopped_goes_on_with_the_same_report(tmp_path, number, code):
    onnx.save(cnn(), tmp_path / "cnn.onnx")
    arguments = ("discover", "--model", tmp_path / "cnn.onnx", *FLAGS, "--jobs", 1, "--skip-executors", "host")
    process = start(*arguments, "--output-dir", tmp_path / "stopped")
    lines = results(process)
    for _ in range(2):  # of 14: it must not be done before the signal comes
        next(lines)
    process.send_signal(number)
    rest = process.stderr.read()
    assert process.wait() == code
    if number == signal.SIGINT:
        assert "Traceback" not in rest
        assert "the same command goes on" in rest
    assert Paths(tmp_path / "stopped", "cnn").journal.exists()
    reports = []
    for folder in ("stopped", "anew"):
        assert call(*arguments[:-4], "--skip-executors", "host", "--jobs", 0, "--output-dir", tmp_path / folder) == 0
        reports.append(read_report(Paths(tmp_path / folder, "cnn").report))
    assert reports[0] == reports[1]
    assert reports[0].complete
