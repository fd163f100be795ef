# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What may be computed other than in the source model, and the error that the report gives for it."""

import json

import ml_dtypes
import numpy as np
import onnx
import pytest
from approximated import exact_softmax, quantized, rows, softmax
from onnx import TensorProto, helper, numpy_helper
from small_models import ORACLE

import torq_mlir
from torq_mlir.deviation import sample_inputs
from torq_mlir.report import Report
from torq_mlir.tools import torq_compile


def float_model() -> onnx.ModelProto:
    """A convolution with a ReLU, a softmax over its channels, and a product with the first input."""
    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array(rng.normal(0, 0.3, (4, 3, 3, 3)).astype(np.float32), "w")
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"], "relu"),
            helper.make_node("Softmax", ["r"], ["s"], "softmax", axis=1),
            helper.make_node("Mul", ["s", "s"], ["y"], "square"),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 6, 6))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4, 6, 6))],
        [weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def sqnr(expected, actual) -> float:
    return 10 * np.log10(np.square(expected).sum() / np.square(expected - actual).sum())


def test_islands_are_measured_one_by_one():
    model = float_model()
    x = np.random.default_rng(1).standard_normal((1, 3, 6, 6)).astype(np.float32)
    exact, bf16 = torq_mlir.compile(model), torq_mlir.compile(model, float="bf16")
    before, after = bf16.deviations([{"x": x}])
    assert (before.kind, before.names, before.max_steps) == ("bf16", ("conv", "relu"), None)
    assert (after.kind, after.names) == ("bf16", ("square",))
    assert 45 < before.sqnr < 60
    assert 45 < after.sqnr < 60
    assert 40 < sqnr(exact(x)[0].astype(float), bf16(x)[0]) < 60
    executors = {row.name: row.executor for row in bf16.report().rows}
    assert executors == {"conv": "nss", "relu": "nss", "softmax": "host", "square": "nss"}


def test_an_island_has_the_values_of_the_host_before_it():
    """The product of equal values: its own error is that of rounding its inputs and itself."""
    x = np.random.default_rng(1).standard_normal((1, 3, 6, 6)).astype(np.float32)
    model = float_model()
    (_, after) = torq_mlir.compile(model, float="bf16").deviations([{"x": x}])
    model.graph.output[0].name = "s"
    del model.graph.node[-1]
    (probabilities,) = torq_mlir.compile(model)(x)
    rounded = probabilities.astype(ml_dtypes.bfloat16).astype(np.float32)
    product = (rounded * rounded).astype(ml_dtypes.bfloat16).astype(np.float64)
    assert after.sqnr == pytest.approx(sqnr(np.square(probabilities).astype(np.float64), product), abs=1e-6)


def test_approximations_are_measured_in_steps():
    x = rows(65, "normal")
    model = softmax(x.shape, 0.1)
    compiled = torq_mlir.compile(model, approximate=["softmax"])
    (found,) = compiled.deviations([{"x": x}])
    assert (found.kind, found.names) == ("softmax", ("softmax", "quantize"))
    (exact,) = torq_mlir.compile(model)(x)
    difference = np.abs(compiled(x)[0].astype(int) - exact)
    assert found.max_steps == difference.max() == 1
    np.testing.assert_allclose(exact, quantized(exact_softmax(x, 0.1), 1 / 256, -128), atol=1)
    values = exact.astype(float) + 128
    assert found.sqnr == pytest.approx(sqnr(values, compiled(x)[0].astype(float) + 128))


def test_nothing_deviates_without_an_option():
    compiled = torq_mlir.compile(softmax((2, 8), 0.1))
    assert compiled.deviations() == ()
    assert compiled.report().deviations == ()
    (row,) = [row for row in compiled.report().rows if row.name == "softmax"]
    assert (row.executor, row.pattern) == ("host", "convert softmax")
    assert "approximate=softmax" in row.reason


def test_the_report_keeps_the_errors(tmp_path):
    compiled = torq_mlir.compile(softmax((256, 65), 0.1), approximate=["softmax"])
    report = compiled.report()
    (found,) = report.deviations
    assert f"softmax (softmax, quantize): {found.sqnr:.1f} dB, at most 1 step" in str(report)
    assert Report.from_dict(json.loads(report.to_json())) == report
    compiled.save(tmp_path / "model.mlirbc")
    loaded = torq_mlir.CompiledModel.load(tmp_path / "model.mlirbc")
    assert loaded.report().deviations == report.deviations
    assert loaded.deviations() == ()


def test_samples():
    infos = torq_mlir.compile(softmax((4, 65), 0.1)).inputs
    first, second = sample_inputs(infos)
    assert first["x"].dtype == np.int8
    assert (first["x"].min(), first["x"].max()) == (-128, 127)
    assert (first["x"] != second["x"]).any()
    np.testing.assert_array_equal(first["x"], sample_inputs(infos)[0]["x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"float": "f16"}, "float is one of host, bf16, not 'f16'"),
        ({"approximate": ["gelu"]}, r"approximate is a sequence of softmax, normalization, not \['gelu'\]"),
        ({"approximate": "softmax"}, "approximate is a sequence of softmax, normalization, not 'softmax'"),
    ],
)
def test_unknown_options(options, message):
    with pytest.raises(ValueError, match=message):
        torq_mlir.compile(softmax((2, 8), 0.1), **options)


def test_command_line(tmp_path, capsys):
    onnx.save(softmax((4, 65), 0.1), tmp_path / "softmax.onnx")
    onnx.save(float_model(), tmp_path / "float.onnx")
    assert torq_compile.main([str(tmp_path / "softmax.onnx"), "--report", "--approximate=softmax,normalization"]) == 0
    assert "softmax (softmax, quantize): " in capsys.readouterr().out
    assert torq_compile.main([str(tmp_path / "float.onnx"), "--report", "--float=bf16"]) == 0
    assert "bf16 (conv, relu): " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        torq_compile.main([str(tmp_path / "softmax.onnx"), "--approximate=gelu"])
    assert "'gelu' is not a list of softmax, normalization" in capsys.readouterr().err


def test_every_layer_against_the_float_computation():
    """One step where half a step was rounded to the even neighbour in float."""
    compiled = torq_mlir.compile(ORACLE / "add_diff_scales.onnx")
    (layer,) = compiled.deviations(every_layer=True)
    assert (layer.kind, layer.names) == ("torq_hl.add", ("add_7_node", "quantizelinear_10_node"))
    noise = signal = steps = 0
    for sample in sample_inputs(compiled.inputs):
        x0, x1 = (sample[name].astype(np.float32) for name in ("x0", "x1"))
        total = (x0 - 3) * np.float32(0.05) + (x1 + 5) * np.float32(0.04)
        expected = np.clip(np.rint(total / np.float32(0.06)) + 2, -128, 127)
        difference = compiled(**sample)[0] - expected
        noise, signal = noise + np.square(difference).sum(), signal + np.square(expected - 2).sum()
        steps = max(steps, np.abs(difference).max())
    assert layer.max_steps == steps == 1
    assert layer.sqnr == pytest.approx(10 * np.log10(signal / noise))
    assert compiled.deviations() == ()
