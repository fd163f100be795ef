# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/iree, from the command line of torq-compile on."""

import runpy
from pathlib import Path

import numpy as np
import onnx

from e2e.models.catalog import model_inputs, quantized_model
from torq_mlir.tools import torq_compile

ROOT = Path(__file__).parents[3]


def test_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = quantized_model("add_inputs", "full-integer-u8")
    onnx.save(model, "model.onnx")
    np.savez("inputs.npz", **model_inputs(model, "add_inputs", 1)[0])
    assert torq_compile.main(["model.onnx", "-o", "model.vmfb"]) == 0
    runpy.run_path(str(ROOT / "examples" / "iree" / "run_model.py"))["main"]("model.vmfb", "inputs.npz", "outputs.npz")
    for backend in ("interpreter", "iree"):
        run = ["model.onnx", "--run", "inputs.npz", "--backend", backend, "--output", f"{backend}.npz"]
        assert torq_compile.main(run) == 0
    with np.load("interpreter.npz") as expected:
        for file in ("outputs.npz", "iree.npz"):
            actual = np.load(file)
            assert actual.keys() == expected.keys()
            for name in expected:
                assert actual[name].dtype == expected[name].dtype
                np.testing.assert_array_equal(actual[name], expected[name])


def test_input_of_iree_as_text_and_bytecode(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    onnx.save(quantized_model("conv_1x1", "qdq-per-channel"), "model.onnx")
    assert torq_compile.main(["model.onnx", "--emit=iree-input", "--elide"]) == 0
    text = capfd.readouterr().out
    assert 'attributes {"torq-executor" = "nss"}' in text
    assert torq_compile.main(["model.onnx", "--emit=iree-input", "-o", "model.mlirbc"]) == 0
    assert Path("model.mlirbc").read_bytes().startswith(b"ML\xefR")


def test_the_optimization_level_is_handed_on(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    onnx.save(quantized_model("conv_1x1", "qdq-per-channel"), "model.onnx")
    tool = tmp_path / "iree-compile"
    tool.write_text('#!/bin/sh\necho "error: $*" >&2\nexit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("IREE_TOOL_PATH", str(tmp_path))
    for rest in (["-o", "model.vmfb"], ["--run", "inputs.npz", "--backend", "iree"]):
        np.savez("inputs.npz", np.zeros(1))
        assert torq_compile.main(["model.onnx", "--opt-level", "3", *rest]) == 1
        assert "--iree-opt-level=O3" in capfd.readouterr().err
    assert not Path("model.vmfb").exists()
