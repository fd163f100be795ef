# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `edit` changes, says and refuses."""

import dataclasses
import os

import pytest
from sample_reports import cnn_report

from torq_mlir.errors import TorqError
from torq_mlir.gen_config import files
from torq_mlir.gen_config.editing import edit


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "torq_gen_config_cnn.json"
    files.write_report(file, dataclasses.replace(cnn_report(), run=None))
    return file


def chosen(path):
    return [layer.recommended_executor for layer in files.read_report(path).layers]


@pytest.mark.parametrize(
    ("names", "changed"),
    [
        ("Conv_0", [0]),
        ("Conv", [0, 2]),
        ("*_[12]", [1, 2]),
        (["Conv_0", "Flat"], [0, 5]),
        ("ALL", [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_names(path, names, changed):
    edit(path, names, executor="host")
    layers = files.read_report(path).layers
    assert [place for place, layer in enumerate(layers) if layer.edited] == sorted({*changed, 6})
    assert {layers[place].recommended_executor for place in changed} == {"host"}


def test_an_exact_name_is_not_a_part_of_others(path):
    report = cnn_report()
    first = dataclasses.replace(report.layers[0], name="Conv")
    files.write_report(path, dataclasses.replace(report, layers=(first, *report.layers[1:])))
    edit(path, "Conv", executor="host")
    assert [layer.edited for layer in files.read_report(path).layers][:3] == [True, False, False]


@pytest.mark.parametrize("change", [{"executor": "host"}, {"max_lsb": 7}])
def test_what_the_full_model_did_is_dropped(path, change):
    files.write_report(path, cnn_report())
    last = [edit(path, "Conv_0", **change, dry_run=dry_run)[-1] for dry_run in (True, False)]
    assert list(map(str, last)) == ["full model: outcome difference -> not run"] * 2
    assert files.read_report(path).run is None


def test_what_the_full_model_did_stays_if_nothing_changes(path):
    files.write_report(path, cnn_report())
    assert edit(path, "Conv_0", max_lsb=cnn_report().layers[0].tolerance.max_lsb) == []
    assert files.read_report(path).run == cnn_report().run


def test_null_leaves_it_to_the_compiler(path):
    assert [str(change) for change in edit(path, "Conv_0", executor=None)] == ["Conv_0: executor nss -> null"]
    assert chosen(path)[0] is None


def test_auto_is_what_discovery_recommends(path):
    assert [str(change) for change in edit(path, "Gemm_6", executor="auto")] == ["Gemm_6: executor host -> nss"]
    assert not files.read_report(path).layer("Gemm_6").edited


def test_what_discovery_recommends_can_be_set_by_hand(path):
    (change,) = edit(path, "Conv_0", executor="nss")
    assert str(change) == "Conv_0: executor nss, set by discovery -> by hand"
    assert files.read_report(path).layer("Conv_0").edited


def test_says_what_to_know(path):
    changes = edit(path, ["Relu_1", "Conv_2", "Flatten_5"], executor="host", dry_run=True)
    assert [str(change) for change in changes] == [
        "Relu_1: executor nss -> host (without effect: fused into Conv_0 in the full model)",
        "Conv_2: executor css -> host (host: error, linalg.generic: does not compile)",
        "Flatten_5: executor nss -> host (not tried on host)",
    ]


def test_another_tolerance_judges_anew(path):
    assert [str(change) for change in edit(path, "Conv_2", max_lsb=5)] == [
        "Conv_2: max_lsb 1 -> 5",
        "Conv_2: nss difference -> success",
        "Conv_2: executor css -> nss",
    ]
    layer = files.read_report(path).layer("Conv_2")
    assert (layer.tolerance.max_lsb, layer.executors["nss"].status) == (5, files.Status.SUCCESS)
    assert layer.executors["host"].status is files.Status.ERROR


def test_another_tolerance_keeps_what_was_set_by_hand(path):
    edit(path, "Gemm_6", mismatch_rate=0)
    layer = files.read_report(path).layer("Gemm_6")
    assert (layer.recommended_executor, layer.executors["host"].status) == ("host", files.Status.DIFFERENCE)


def test_dry_run_writes_nothing(path):
    before = path.read_bytes()
    assert edit(path, "ALL", executor="css", rtol=0.5, dry_run=True)
    assert path.read_bytes() == before


def test_no_change_writes_nothing(path):
    before = os.stat(path)
    assert edit(path, "Conv_0", max_lsb=1) == []
    assert os.stat(path) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": "Pool_9", "executor": "nss"}, "no layer of cnn is called 'Pool_9', contains or matches it"),
        ({"names": "", "executor": "nss"}, "no layer of cnn is called ''"),
        ({"names": "ALL", "executor": "gpu"}, "'gpu' is no executor: nss, css, host, null or auto"),
        ({"names": "ALL", "max_lsb": -1}, "max_lsb is -1, but cannot be below 0"),
        ({"names": "ALL", "atol": float("nan")}, "atol is nan"),
        ({"names": "ALL", "mismatch_rate": 2}, "mismatch_rate is 2, but cannot be above 1"),
    ],
)
def test_refuses(path, arguments, message):
    before = path.read_bytes()
    with pytest.raises(TorqError, match=message):
        edit(path, **arguments)
    assert path.read_bytes() == before


def test_refuses_the_compiler_file(tmp_path):
    path = tmp_path / "torq_gen_config_cnn_compiler.json"
    report = cnn_report()
    files.write_compiler_file(path, files.CompilerFile(report.model, report.flags, {"12:5": "nss"}))
    with pytest.raises(
        files.ConfigFileError, match=r"this is the compiler file, which .run. writes anew; give the report"
    ):
        edit(path, "ALL", executor="nss")
