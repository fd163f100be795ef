# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full model with the executors of its report, against ONNX Runtime."""

import dataclasses
import json

import numpy as np
import onnx
import pytest
from discoveries import QUANTIZE, discover, feeds, run
from float_models import attention, cnn
from onnx import numpy_helper

import torq_mlir
from torq_mlir import gen_config, quantization
from torq_mlir.errors import TorqError
from torq_mlir.gen_config import running
from torq_mlir.gen_config.files import Comparison, Metrics, Status, Tolerance, judge, read_report, write_report
from torq_mlir.gen_config.layerwise import LayerwiseRun
from torq_mlir.gen_config.paths import Paths
from torq_mlir.quantization import sessions


@pytest.fixture(scope="module")
def discovered(tmp_path_factory):
    """A folder with the report of `cnn`; tests that change it copy it."""
    folder = tmp_path_factory.mktemp("discovered")
    discover(cnn(), folder, executors=("nss",))
    return folder


def copy(source, target):
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return Paths(target, "model")


def test_outputs_and_layers(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    found = run(cnn(), tmp_path, debug_ir=tmp_path / "ir")
    assert (found.status, found.first_divergence) == (Status.SUCCESS, None)
    assert [(each.tensor, each.layer) for each in found.outputs] == [("y", "gemm")]
    assert [each.layer for each in found.tensors] == ["conv1", "conv2", "pool", "flatten", "gemm"]
    assert read_report(paths.report).run == found
    files = sorted((tmp_path / "ir").iterdir())
    assert files[0].name == "001_raise-onnx-quantization.mlir"
    assert "torq_hl.conv2d" in files[-1].read_text()
    assert not any('dense<"0x' in path.read_text() for path in files)  # how large constants are printed


def test_each_executor_gives_the_same(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    for name, executor in (("conv1", "css"), ("conv2", "host"), ("pool", "css"), ("gemm", "host")):
        gen_config.edit(paths.report, [name], executor=executor)
    found = run(cnn(), tmp_path, debug_ir=tmp_path / "ir")
    assert found.status is Status.SUCCESS
    last = sorted((tmp_path / "ir").iterdir())[-1].read_text()
    assert "linalg.conv_2d_nchw_fchw_q" in last
    assert "linalg.conv_2d_nchw_fchw " in last
    assert "torq_hl.conv2d" not in last
    assert {each.layer for each in found.tensors} >= {"conv1", "conv2", "gemm"}


def test_no_executor_leaves_it_to_the_compiler(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    gen_config.edit(paths.report, ["conv1"], executor=None)
    assert run(cnn(), tmp_path).status is Status.SUCCESS
    content = json.loads(paths.compiler_file.read_text())
    assert "conv1" not in content["op_names"].values()


def test_the_compiler_file_alone(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    paths.report.unlink()
    assert run(cnn(), tmp_path).status is Status.SUCCESS
    other = tmp_path / "other.json"
    paths.compiler_file.rename(other)
    with pytest.raises(TorqError, match="there is no report and no compiler file"):
        run(cnn(), tmp_path)
    assert run(cnn(), tmp_path, compiler_file=other).status is Status.SUCCESS


def test_a_place_without_an_operation_is_refused(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    content = json.loads(paths.compiler_file.read_text())
    paths.compiler_file.write_text(json.dumps({**content, "op_assignments": {"9999:11": "nss"}, "hashes": {}}))
    with pytest.raises(TorqError, match="assigns executors to 9999:11, where the MLIR of the model has no operation"):
        run(cnn(), tmp_path, compiler_file=paths.compiler_file)


def compared(tensor, lsb, layer=None):
    metrics = Metrics(10, int(lsb > 0), lsb, 0.1 * lsb, 1.0, 40.0, 1.0)
    return Comparison(tensor, judge(metrics, Tolerance()), metrics, layer)


@pytest.mark.parametrize(
    ("output", "layer", "missing", "judging_outputs", "status", "reason"),
    [
        (1, 1, ["a"], True, Status.SUCCESS, ""),
        (5, 1, [], False, Status.SUCCESS, "small differences of several layers add up"),
        (5, 1, [], True, Status.DIFFERENCE, "small differences of several layers add up"),
        (5, 1, ["a", "b"], False, Status.DIFFERENCE, "not compared: a, b"),
        (5, 0, [], False, Status.DIFFERENCE, "each tensor that is compared is equal"),
        (0, 2, [], False, Status.DIFFERENCE, "the first tensor outside of its tolerance is t"),
    ],
)
def test_layers_are_judged_and_outputs_reported(output, layer, missing, judging_outputs, status, reason):
    verdict = running._verdict([compared("y", output)], [compared("t", layer)], missing, judging_outputs)
    assert verdict[0] is status
    assert reason in verdict[1]


def test_a_layer_takes_its_quantization_along(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    gen_config.edit(paths.report, ["ALL"], executor="css")
    run(cnn(), tmp_path)
    assignments = json.loads(paths.compiler_file.read_text())["op_assignments"]
    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()), full_integer=True)
    report = torq_mlir.compile(quantized, assignments=assignments).report()
    assert {row.executor for row in report.rows} <= {"css", "-"}
    assert set(report.executors) == {"css"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"per_channel": True}, r"--per-channel given \(there not given\); give the same, or discover again"),
        ({"full_integer": False, "quant_format": "hybrid"}, r"--full-integer not given .*--quant-format hybrid"),
        ({"exclude": ("conv1",)}, r"--exclude conv1 \(there not given\)"),
    ],
)
def test_other_flags_are_refused(discovered, changes, message):
    with pytest.raises(TorqError, match=message):
        run(cnn(), discovered, dataclasses.replace(QUANTIZE, **changes))


def test_other_models_and_data_are_refused(discovered):
    with pytest.raises(TorqError, match="is about another model of this name"):
        run(cnn(size=9), discovered)
    with pytest.raises(TorqError, match="other calibration data"):
        gen_config.run(cnn(), discovered, QUANTIZE, calibration_data_reader=feeds(cnn(), seed=1))


def test_other_mlir_is_refused(discovered, tmp_path):
    paths = copy(discovered, tmp_path)
    report = read_report(paths.report)
    hashes = {**report.hashes, "quantized_mlir": "0" * 64}
    write_report(paths.report, dataclasses.replace(report, hashes=hashes))
    with pytest.raises(TorqError, match="from another quantized model, perhaps by other versions"):
        run(cnn(), tmp_path)


def test_the_first_layer_that_differs_is_found():
    """The reference of a model with one changed weight: the layer that has it differs, and none after it."""
    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()), full_integer=True)
    changed = onnx.ModelProto()
    changed.CopyFrom(quantized)
    weights = next(tensor for tensor in changed.graph.initializer if tensor.name == "w2_quantized")
    array = numpy_helper.to_array(weights).copy()
    array[0] = -array[0]
    weights.CopyFrom(numpy_helper.from_array(array, weights.name))
    feed = {"x": np.random.default_rng(3).integers(-128, 128, (1, 3, 8, 8)).astype(np.int8)}
    expected = sessions.run_all(quantized, feed, [name for node in quantized.graph.node for name in node.output])
    compiled = torq_mlir.compile(changed, backend="interpreter")
    pairs = LayerwiseRun(compiled, changed).run(feed, expected)
    differing = [name for name, (actual, reference) in pairs.items() if not np.array_equal(actual, reference)]
    assert differing == ["d_QuantizeLinear_Output"]
    assert len(pairs) == 5


@pytest.mark.parametrize("quant_format", [pytest.param("qdq", marks=pytest.mark.slow), "hybrid"])
def test_a_model_with_integers_and_run_time_products(tmp_path, quant_format):
    """What is no operation of the NPU goes to the host, and the whole model agrees with ONNX Runtime."""
    options = gen_config.ModelOptions(quantize=True, quant_format=quant_format)
    chosen = gen_config.DiscoverOptions(jobs=0, executors=("nss", "host"), skip_mode=True)
    report = gen_config.discover(attention(), tmp_path, options, chosen)
    executors = {layer.name: layer.recommended_executor for layer in report.layers}
    assert {executors[name] for name in ("product", "transpose", "scores", "context")} == {"nss"}
    assert executors["softmax"] == "host"
    assert report.layer("embed").inputs[0].dtype == "int64"
    assert gen_config.run(attention(), tmp_path, options).status is Status.SUCCESS
