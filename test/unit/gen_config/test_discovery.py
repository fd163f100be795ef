# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discovery on small models: what is found, what is written, and what is done again."""

import dataclasses
import json
from pathlib import Path

import pytest
from discoveries import QUANTIZE, Events, discover, feeds, with_sine
from float_models import cnn, make_model, normal, residual
from onnx import helper

from torq_mlir import gen_config
from torq_mlir.errors import TorqError
from torq_mlir.gen_config import discovery
from torq_mlir.gen_config.executors import Settings
from torq_mlir.gen_config.files import (
    EXECUTORS,
    ExecutorResult,
    Status,
    Tolerance,
    judge,
    read_compiler_file,
    read_report,
)
from torq_mlir.gen_config.journal import Journal
from torq_mlir.gen_config.paths import Paths
from torq_mlir.gen_config.tasks import TaskResult
from torq_mlir.quantization.preparation import QUANTIZING


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cnn")
    events = Events()
    return discover(cnn(), folder, show=events), Paths(folder, "model"), events


def test_each_layer_on_each_executor(found):
    report, paths, events = found
    assert [layer.name for layer in report.layers] == ["conv1", "relu1", "conv2", "relu2", "pool", "flatten", "gemm"]
    for layer in report.layers:
        assert {name: result.status for name, result in layer.executors.items()} == dict.fromkeys(
            EXECUTORS, Status.SUCCESS
        )
        assert layer.recommended_executor == "nss"
        assert all(result.metrics.max_lsb <= 1 for result in layer.executors.values())
    assert events.total == len(events.finished_pairs) == 21
    assert read_report(paths.report) == report
    assert not paths.journal.exists()


def test_what_runs_where(found):
    """The layer is torq_hl on the NPU, an integer contraction on css, a float one on the host."""
    texts = {name: result.ir.text for name, result in found[0].layer("conv2").executors.items()}
    assert "torq_hl.conv2d" in texts["nss"]
    assert "linalg.conv_2d_nchw_fchw_q" in texts["css"]
    assert "torq_hl.conv" not in texts["css"] + texts["host"]
    assert "linalg.conv_2d_nchw_fchw " in texts["host"]
    assert "onnx.Conv" in found[0].layer("conv2").ir.text


def test_compiler_file_names_lines_of_the_mlir(found):
    report, paths, _ = found
    lines = paths.mlir.read_text().splitlines()
    content = read_compiler_file(paths.compiler_file)
    assert content.op_assignments == dict.fromkeys(content.op_names, "nss")
    for position, name in content.op_names.items():
        line, column = (int(number) for number in position.split(":"))
        operation = lines[line - 1][column - 1 :]
        kinds = [report.layer(name).op_type] if report.layer(name).mlir_location == position else QUANTIZING
        assert any(operation.startswith(f'torch.operator "onnx.{kind}"') for kind in kinds)


def test_a_fused_layer_has_no_line_and_says_where_it_is(found):
    relu = found[0].layer("relu1")
    assert (relu.mlir_location, relu.fused_into) == (None, "conv1")
    assert found[0].layer("conv1").fused_into is None


@pytest.mark.parametrize("quant_format", ["qoperator", "hybrid"])
def test_other_formats(tmp_path, quant_format):
    options = dataclasses.replace(QUANTIZE, quant_format=quant_format)
    report = discover(cnn(), tmp_path, options, executors=("nss",))
    assert {layer.recommended_executor for layer in report.layers} == {"nss"}
    assert report.layer("conv1").mlir_location is not None
    assert "onnx.QLinearConv" in report.layer("conv1").ir.text
    kind = "onnx.QGemm" if quant_format == "qoperator" else "onnx.Gemm"
    assert kind in report.layer("gemm").ir.text
    assert "onnx.QuantizeLinear" not in report.layer("relu1").ir.text.split("onnx.Relu")[0]


def test_float_inputs_and_outputs_stay_on_the_host(tmp_path):
    report = discover(cnn(), tmp_path, gen_config.ModelOptions(quantize=True), executors=("nss",))
    assert {layer.executors["nss"].status for layer in report.layers} == {Status.SUCCESS}


def test_a_layer_that_the_npu_does_not_have(tmp_path):
    report = discover(with_sine(), tmp_path)
    sine = report.layer("sine")
    assert sine.executors["nss"].status is Status.ERROR
    assert sine.executors["nss"].reason.startswith("computed in float")
    assert (sine.executors["css"].status, sine.recommended_executor) == (Status.SUCCESS, "css")


def test_a_model_that_is_quantized_already(tmp_path):
    from torq_mlir import quantization

    quantized = quantization.quantize_static(cnn(), None, feeds(cnn()), per_channel=True)
    report = discover(quantized, tmp_path, gen_config.ModelOptions(), executors=("nss", "css"))
    assert [layer.name for layer in report.layers] == ["conv1", "conv2", "pool", "flatten", "gemm"]
    assert {layer.recommended_executor for layer in report.layers} == {"nss"}


def test_skip_mode_stops_at_the_first_success_and_keeps_what_is_settled(tmp_path):
    report = discover(with_sine(), tmp_path, skip_mode=True)
    statuses = {layer.name: [layer.executors[name].status for name in EXECUTORS] for layer in report.layers}
    skipped = [Status.SUCCESS, Status.SKIPPED, Status.SKIPPED]
    assert statuses == {"first": skipped, "sine": [Status.ERROR, Status.SUCCESS, Status.SKIPPED], "last": skipped}
    again = Events()
    assert discover(with_sine(), tmp_path, show=again, skip_mode=True) == report
    assert again.started_pairs == []
    anew = Events()
    discover(with_sine(), tmp_path, show=anew)
    assert len(anew.started_pairs) == 9


def test_what_is_left_out(tmp_path):
    report = discover(with_sine(), tmp_path, executors=("css",), skip_ops=("Sin",))
    reasons = {name: result.reason for name, result in report.layer("first").executors.items()}
    assert reasons == {
        "nss": "nss is not tried (--skip-executors)",
        "css": "",
        "host": "host is not tried (--skip-executors)",
    }
    assert {result.status for result in report.layer("sine").executors.values()} == {Status.SKIPPED}
    assert report.layer("sine").recommended_executor is None
    assert report.layer("first").recommended_executor == "css"


def test_a_part_that_reads_the_inputs_alone(tmp_path):
    report = discover(with_sine(), tmp_path, executors=("nss",), subgraph_to=("first",))
    assert {layer.name: layer.executors["nss"].status for layer in report.layers} == {"first": Status.SUCCESS}


def test_identical_layers_are_tested_once(tmp_path):
    events = Events()
    report = discover(residual(), tmp_path, show=events, dedup_layers=True, executors=("nss",))
    assert events.total == 2
    assert [layer.duplicate_of for layer in report.layers] == [None, None, "conv0", "add0", "conv0", "add0"]
    assert {layer.executors["nss"].status for layer in report.layers} == {Status.SUCCESS}
    assert len({layer.mlir_location for layer in report.layers}) == 6


def test_timing(tmp_path):
    report = discover(
        with_sine(), tmp_path, settings=Settings(timing_runs=3), recommend_by_timing=True, executors=("nss", "css")
    )
    timing = {name: report.layer("first").executors[name].timing for name in ("nss", "css")}
    assert all(each.runs == 3 and 0 < each.min_s <= each.median_s for each in timing.values())
    fastest = min(timing, key=lambda name: timing[name].median_s)
    assert report.layer("first").recommended_executor == fastest


def test_an_interrupted_discovery_goes_on(tmp_path, found):
    with pytest.raises(discovery.Interrupted, match="4 of 21 results are kept"):
        discover(cnn(), tmp_path, show=Events(interrupt_after=4))
    paths = Paths(tmp_path, "model")
    partial = read_report(paths.report)
    assert not partial.complete
    assert sum(len(layer.executors) for layer in partial.layers) == 4
    events = Events()
    report = discover(cnn(), tmp_path, show=events)
    assert len(events.finished_pairs) == 21
    assert len(events.started_pairs) == 17
    assert report == found[0]
    assert not paths.journal.exists()


def test_a_journal_of_other_flags_is_not_used(tmp_path):
    with pytest.raises(discovery.Interrupted):
        discover(with_sine(), tmp_path, show=Events(interrupt_after=4))
    events = Events()
    other = dataclasses.replace(QUANTIZE, per_channel=True)
    discover(with_sine(), tmp_path, other, show=events, executors=("nss",))
    assert len(events.started_pairs) == 3


def test_a_journal_that_ends_in_the_middle_of_a_line(tmp_path):
    with pytest.raises(discovery.Interrupted):
        discover(with_sine(), tmp_path, show=Events(interrupt_after=4))
    journal = Paths(tmp_path, "model").journal
    journal.write_bytes(journal.read_bytes()[:-30])
    events = Events()
    report = discover(with_sine(), tmp_path, show=events)
    assert len(events.started_pairs) == 6
    assert report.complete


def test_executors_set_by_hand_are_kept(tmp_path):
    report = discover(with_sine(), tmp_path, executors=("nss", "css"))
    gen_config.edit(Paths(tmp_path, "model").report, ["last"], executor="css")
    report = discover(with_sine(), tmp_path, executors=("nss", "css"))
    assert (report.layer("last").recommended_executor, report.layer("last").edited) == ("css", True)
    assert report.layer("first").recommended_executor == "nss"
    events = Events()
    report = discover(
        with_sine(), tmp_path, dataclasses.replace(QUANTIZE, per_channel=True), events, executors=("nss",)
    )
    assert not report.layer("last").edited
    assert any("is about another model or other flags; it is replaced" in note for note in events.notes)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_names_the_file(tmp_path):
    journal = Journal(tmp_path / "file.journal", {})
    journal._file = open("/dev/full", "wb")  # noqa: SIM115 (the journal closes it)
    with pytest.raises(OSError, match="No space left") as adding:
        journal.add(TaskResult("first", "nss", ExecutorResult(Status.SUCCESS)))
    with pytest.raises(OSError, match="No space left") as closing:
        journal.close()
    assert adding.value.filename == closing.value.filename == str(tmp_path / "file.journal")


def test_tolerances_set_by_hand_are_kept(tmp_path):
    path = Paths(tmp_path, "model").report
    discover(with_sine(), tmp_path, executors=("css",))
    measured = read_report(path).layer("sine").executors["css"].metrics
    gen_config.edit(path, ["first"], max_lsb=0)
    gen_config.edit(path, ["sine"], mismatch_rate=0)
    events = Events()
    settings = Settings(Tolerance(max_lsb=2))
    report = discover(with_sine(), tmp_path, show=events, executors=("css",), settings=settings)
    assert {layer.name: layer.tolerance for layer in report.layers} == {
        "first": Tolerance(max_lsb=0),
        "sine": Tolerance(mismatch_rate=0),
        "last": Tolerance(max_lsb=2),
    }
    assert report.layer("sine").executors["css"].status is judge(measured, Tolerance(mismatch_rate=0))
    assert "tolerances that were set with `edit` are kept: first, sine" in events.notes


def test_a_concatenation_of_integers_is_data_movement(tmp_path):
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "conv", kernel_shape=[1, 1]),
        helper.make_node("Concat", ["a", "x"], ["y"], "concat", axis=1),
    ]
    model = make_model(nodes, {"w": normal(4, 4, 1, 1)}, {"x": [1, 4, 5, 5]}, {"y": [1, 8, 5, 5]})
    report = discover(model, tmp_path, executors=("nss",))
    assert report.layer("concat").executors["nss"].status is Status.SUCCESS


def test_a_layer_that_takes_too_long_is_an_error(tmp_path):
    report = discover(with_sine(), tmp_path, jobs=1, layer_timeout=0.001, executors=("nss", "host"))
    reasons = {result.reason for layer in report.layers for name, result in layer.executors.items() if name != "css"}
    assert reasons == {"took longer than 0.001 s"}
    assert {layer.recommended_executor for layer in report.layers} == {None}


def test_what_cannot_be_used(tmp_path):
    with pytest.raises(TorqError, match="'npu' is no executor; they are nss, css, host"):
        discover(cnn(), tmp_path, executors=("npu",))
    with pytest.raises(TorqError, match="--sensitivity needs a float model and --quantize"):
        discover(with_sine(), tmp_path, gen_config.ModelOptions(), executors=("host",), sensitivity=True)
    Paths(tmp_path, "model").report.write_text(json.dumps({"kind": "something"}))
    with pytest.raises(TorqError, match="not a torq-gen-config report"):
        discover(with_sine(), tmp_path, executors=("host",))
